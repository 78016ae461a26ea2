"""No password in any output, whatever a command does and however it ends."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from sqlalchemy import make_url

from tests.cli.running import STUDIES, TURNIER, Ended, end_of_command, end_of_script
from tests.cli.test_signals import PLAY, STORING, ends
from turnier.commands import command_line
from turnier.results.store import STORE_VARIABLE
from turnier.results.store.store import Store

SECRET = "hemlich"
GONE = f"postgresql://turnier:{SECRET}@127.0.0.1:1/none"  # nobody listens there
PLAYING = ("tictactoe", "random", "mc(iterations=5)")
COMMANDS = {
    "status": ("runs",),
    "results": ("show",),
    "versions": ("show", "bot.py:Bot"),
    "note": ("runs", "note", "last", "text"),
    "rename": ("runs", "rename", "last", "name", "--yes"),
    "delete": ("runs", "delete", "last", "--yes"),
    "export": ("show", "last", "--out", "games.csv"),
    "replay": ("show", "abcdef"),
    "report": ("show", "last", "--html", "--out", "."),
    "doctor": ("doctor", "--repair"),
    "board": ("board",),
    "tournament": ("tournament", *PLAYING, "--games", "4", "--executor", "serial"),
    "resume": ("tournament", "--resume", "last"),
    "compare": ("compare", "--game", *PLAYING, "--executor", "serial"),
    "tune": ("tune", "tictactoe", "mc(iterations=10)", "--params", "iterations=5..40", "--against", "random"),
    "certainty": ("certainty", "tictactoe", "mc(iterations=10)", "--executor", "serial"),
    "train": ("train", "tictactoe", "ntuple(tuples=4,length=3)", "--games", "10", "--out", "w.npz"),
}
SCRIPT = STUDIES / "cmaes_heuristics.py"


def checked(ended: Ended, secret: str = SECRET) -> Ended:
    assert secret not in ended.printed + ended.errors, ended
    assert "Traceback" not in ended.errors, ended
    return ended


@pytest.mark.parametrize("name", COMMANDS)
def test_a_server_that_is_gone(name: str, tmp_path: Path) -> None:
    ended = checked(end_of_command(*COMMANDS[name], "--store", GONE, folder=tmp_path))
    assert ended.code == 2 or name == "doctor", ended
    assert "turnier:***@127.0.0.1:1/none" in ended.errors + ended.printed, ended
    assert ended.errors.count("Warning: the password of a URL on the command line is visible") == 1


def test_a_script_and_a_wrong_use(tmp_path: Path) -> None:
    assert checked(end_of_script(SCRIPT, "--preset", "tests", "--store", GONE, folder=tmp_path)).code == 2
    wrong = checked(end_of_command("doctor", GONE, folder=tmp_path))
    assert wrong.code == 2 and "Got unexpected extra argument" in wrong.errors and "turnier:***@" in wrong.errors


def test_a_wrong_password_and_a_store_that_the_environment_names(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = str(make_url(postgres_url).password)
    wrong = postgres_url.replace(secret, SECRET)
    assert "must accept the user" in checked(end_of_command("runs", "--store", wrong, folder=tmp_path)).errors
    monkeypatch.setenv(STORE_VARIABLE, postgres_url)
    for name in ("tournament", "status", "note", "results", "export", "delete"):
        ended = checked(end_of_command(*COMMANDS[name], folder=tmp_path), secret)
        assert ended.code == 0, ended
        assert "Warning" not in ended.errors
        assert "--store" not in ended.printed  # commands to type use the same store
    assert not list(tmp_path.glob("*.db"))
    without = postgres_url.replace(f":{secret}@", "@")
    monkeypatch.setenv("PGPASSWORD", secret)
    assert checked(end_of_command("runs", "--store", without, folder=tmp_path), secret) == Ended(
        0, checked(end_of_command("runs", folder=tmp_path), secret).printed, ""
    )


@pytest.mark.parametrize("words", [(*STORING["tournament"], *PLAY[:-2]), STORING["study"]])
@pytest.mark.parametrize("form", ["--store {}", "--store={}"])
def test_the_command_that_resumes(words: tuple[str, ...], form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[bytes] = []
    monkeypatch.setattr(command_line, "_words", ["turnier", *words, *form.format(GONE).split()])
    monkeypatch.setattr(command_line, "_end_stores", lambda: None)
    monkeypatch.setattr(os, "write", lambda _, text: told.append(text))
    monkeypatch.setattr(os, "_exit", lambda code: told.append(str(code).encode()))
    command_line._end(signal.SIGTERM)
    text = b"".join(told).decode()
    assert SECRET not in text and "To resume, type: turnier" in text and "turnier:***@127.0.0.1" in text


@pytest.mark.long
@pytest.mark.parametrize("stopped_by", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("kind", STORING)
def test_a_signal(kind: str, stopped_by: signal.Signals, postgres_url: str, tmp_path: Path) -> None:
    def plays(_: object) -> bool:
        with Store.open(postgres_url) as store:
            return bool(store.stored_counts())

    words = (*STORING[kind], *PLAY[:-1], postgres_url)
    told = ends([*TURNIER, *words], tmp_path, stopped_by, plays)
    assert str(make_url(postgres_url).password) not in told and "turnier:***@" in told
