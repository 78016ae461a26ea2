"""A server whose store fails for a while: no game is lost, and nobody who plays notices."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.postgres import stopped
from tests.results.made import made
from turnier.core.errors import UserError
from turnier.results.store.store import Store
from turnier.server.spe_ed.lobby import Keeper

TURNIER = [sys.executable, "-c", "from turnier.commands.app import main; main()"]
WORDS = ("spe_ed", "serve", "--port", "0", "--players", "2", "--width", "20", "--height", "20", "--timeout", "1",
         "--agent", "basic", "--agent", "basic", "--seed", "3", "--logs", "logs")  # fmt: skip


def serve(folder: Path, url: str, games: int) -> subprocess.Popen[str]:
    words = [*TURNIER, *WORDS, "--games", str(games), "--store", url]
    return subprocess.Popen(words, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def played(url: str) -> dict[str, Any]:
    with Store.open(url, read_only=True) as store:
        (run,) = store.runs()
        return {r.spec.id: (r.scores, r.plies) for records in store.records_of_run(run.id) for r in records}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The first twelve games of the seed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    server = serve(folder, f"sqlite:///{folder}/a.db", 12)
    assert server.wait(120) == 0, server.communicate()
    return played(f"sqlite:///{folder}/a.db")


def test_a_restart_of_postgresql_is_waited_for(
    postgres_url: str,
    undisturbed: dict[str, Any],
    tmp_path: Path,
) -> None:
    server = serve(tmp_path, postgres_url, 12)
    assert server.stdout is not None
    for _ in range(4):
        server.stdout.readline()
    with stopped(postgres_url):
        time.sleep(2.0)
    _, told = server.communicate(timeout=120)
    assert server.returncode == 0 and "answers again, after" in told, told
    assert played(postgres_url) == undisturbed


def test_a_killed_server_plays_on_where_it_was(undisturbed: dict[str, Any], tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    server = serve(tmp_path, url, 12)
    assert server.stdout is not None
    for _ in range(5):
        server.stdout.readline()
    server.send_signal(signal.SIGKILL)
    server.communicate()
    left = len(undisturbed) - len(played(url))
    again = serve(tmp_path, url, left)
    assert 0 < left < 9 and again.wait(120) == 0
    assert played(url) == undisturbed


def test_games_wait_for_a_store_that_has_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        store.begin_run("server", "server", "spe_ed", {})
        keeper = Keeper(store, "server", tmp_path)
        with monkeypatch.context() as full:
            full.setattr(store, "append", no_room)
            keeper.keep(made(1), [], "began")
            keeper.keep(made(2), [], "began")
        assert "2 games wait to be stored until another one ends: the disk is full" in capsys.readouterr().err
        with pytest.raises(UserError, match=f"2 games could not be stored; their logs are in {tmp_path}: the disk is"):
            keeper.require_all_stored()
        keeper.keep(made(3), [], "began")
        keeper.require_all_stored()
        assert store.match_counts() == {"server": 3} and capsys.readouterr().err == ""


def no_room(run: str, records: object) -> None:
    raise UserError("the disk is full; make room.")
