"""A server that is stopped keeps the games that run: a real process, a signal, and what is in the store then."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from websockets.sync.client import connect

from tests.server.spe_ed.served import say, state
from turnier.arena.match import Termination
from turnier.arena.match_json import disagreement
from turnier.games.spe_ed.messages import message_of
from turnier.results.frames.matches import matches_frame, summary
from turnier.results.store.store import Store
from turnier.server.spe_ed.official_log import read_log, rounds_of

TURNIER = [sys.executable, "-c", "from turnier.commands.app import main; main()"]
WORDS = ("spe_ed", "serve", "--port", "0", "--keys", "keys", "--players", "2", "--width", "20", "--height", "20",
         "--timeout", "60", "--bot", "basic", "--seed", "3", "--store", "sqlite:///t.db")  # fmt: skip
ROUNDS = 3


@pytest.mark.parametrize("stopped_by", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_game_that_runs_is_kept_and_is_no_result(stopped_by: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("one Ann\ntwo Bob\n")
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*TURNIER, *WORDS], cwd=tmp_path, text=True, **quiet) as server:  # type: ignore[call-overload]
        try:
            address = server.stdout.readline().split("http://")[1].split("/")[0]
            with (
                connect(f"ws://{address}/spe_ed?key=one", proxy=None) as ann,
                connect(f"ws://{address}/spe_ed?key=two", proxy=None) as bob,
            ):
                for _ in range(ROUNDS):
                    for player in (ann, bob):
                        state(player)
                        say(player, "turn_left" if player is ann else "turn_right")
                last = state(ann)
                say(ann)  # only one of two has answered in the round that is not played
                server.send_signal(stopped_by)
                said, wrong = server.communicate(timeout=30)
        finally:
            server.kill()
    assert server.returncode == 128 + stopped_by and "Traceback" not in wrong
    assert f"game 0, {ROUNDS} rounds, stopped before its end" in said
    with Store.open(f"sqlite:///{tmp_path}/t.db") as store:
        (run,) = store.runs()
        ((record,),) = store.records_of_run(run.id)
        frame = matches_frame(store, run.id)
    assert record.termination == Termination.ERROR and "stopped in round 4" in record.error
    assert disagreement(record) is None and record.decisions == (ROUNDS, ROUNDS)
    assert frame["result"].isna().all()
    assert summary(frame)[["wins", "draws", "losses", "void"]].to_numpy().tolist() == [[0, 0, 0, 1]] * 2
    names, logged = read_log(next((tmp_path / "log").glob("*.json")))
    states = [message_of(one) for one in rounds_of(record)]
    assert names == ["Ann", "Bob"] and [message_of(one) for one in logged] == states and len(states) == 1 + ROUNDS
    assert states[-1]["cells"] == last["cells"] and last["running"]
