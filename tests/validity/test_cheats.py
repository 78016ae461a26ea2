"""Cheats, one per file of `cheats/`, in every format on threads and Ray: none gains a place, a verdict or silence.

Each is the honest bot with one trick, so what it may gain is known: nothing. A cheat that does not change its moves
plays the honest bot's games, ply by ply.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from turnier.arena.match import MatchRecord
from turnier.arena.workers.cluster.executor import RayExecutor
from turnier.arena.workers.executor import Executor
from turnier.arena.workers.local import ThreadExecutor
from turnier.core.errors import UserError
from turnier.results.store.store import Store
from turnier.runs.comparison import Comparison
from turnier.runs.judging.judging import Judging
from turnier.runs.tournament import Tournament
from turnier.search.study import Study
from turnier.statistics.sprt import Verdict

CHEATS = Path(__file__).with_name("cheats")
FAILS_ALWAYS = {
    "crasher": "ValueError: no idea",
    "exiter": "SystemExit: 0",
    "forker": "PermissionError: an agent is one process",
    "flooder": "printed more than 4,000,000 bytes",
    "hanger": "has not answered within",
    "killer": "ended with the exit code 3",
    "nan_finder": "found values that are no numbers",
    "never_legal": "played -1, which is not legal here",
}
NEVER_STARTS = {"missing_data": "weights.json"}
FAILS_AT_TIMES = {
    "quitter": "RuntimeError: I do not want to lose (quitter.py, line ",
    "sleeper": "has not answered within",
    "voider": "GameFailure: the rules are broken",
}
CHANGES_NOTHING = ("daemon", "double_answerer", "patcher", "ponderer", "printer", "reader")
GAMES = 16


@pytest.fixture(scope="module", params=["threads", "ray"])
def started(request: pytest.FixtureRequest) -> Iterator[Executor]:
    with ThreadExecutor(2) if request.param == "threads" else RayExecutor(2) as made:
        yield made


@pytest.fixture(autouse=True)
def executor(started: Executor, monkeypatch: pytest.MonkeyPatch) -> Executor:
    """All runs use one executor: starting Ray takes longer than what they play."""
    for module in ("turnier.arena.workers.make", "turnier.runs.play"):
        monkeypatch.setattr(f"{module}.at_work", lambda *_: contextlib.nullcontext(started))
    return started


def bot(name: str) -> str:
    text = f"{CHEATS / name}.py:Bot"
    return f"limited(agent={text},milliseconds=100,margin=600)" if name in ("hanger", "sleeper") else text


def played(store: Store, name: str) -> list[MatchRecord]:
    """Returns the games of a tournament of one bot against `greedy` and `random`, on the same seeds for every bot."""
    tournament = Tournament("tictactoe", [bot(name), "greedy", "random"], games=GAMES, seed=5)
    tournament._own_seeds = False  # those of a group depend on the names of its agents
    tournament.plan = tournament._plan()
    run = tournament.run(store, progress=False)
    return list(store.records(run.frame()["match"].unique().tolist()))


def of_the_bot(records: list[MatchRecord], name: str) -> dict[tuple[str, ...], tuple[bytes, tuple[float, ...]]]:
    """Returns plies and scores of the games in which the bot has a seat, by seats without its name."""
    return {
        (str(record.spec.seed), *("bot" if "Bot" in agent else agent for agent in record.spec.agents)): (
            record.plies,
            record.scores,
        )
        for record in records
        if any("Bot" in agent for agent in record.spec.agents)
    }


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path}/s.db") as opened:
        yield opened


@pytest.mark.parametrize("name", sorted(FAILS_ALWAYS | NEVER_STARTS))
@pytest.mark.parametrize("kind", ["tournament", "compare", "tune", "judge"])
def test_who_always_fails_is_not_rated(name: str, kind: str, store: Store) -> None:
    with pytest.raises(UserError) as raised:
        begin(kind, name, store)
    sentence = str(raised.value)
    assert (FAILS_ALWAYS | NEVER_STARTS)[name] in sentence
    assert "must play to be rated, but it failed in" in sentence or "cannot start in" in sentence
    assert kind == "tune" or not any(has_bot(store, run.id) for run in store.runs())


def begin(kind: str, name: str, store: Store) -> None:
    """Runs a kind of run with a bot."""
    if kind == "tournament":
        Tournament("tictactoe", [bot(name), "greedy", "random"], games=GAMES).run(store, progress=False)
    elif kind == "compare":
        Comparison(bot(name), "random", game="tictactoe", games=GAMES).run(store, progress=False)
    elif kind == "tune":
        study = Study("tictactoe", bot(name), searched(name), budget=80, against=["random"])
        study.run(store, progress=False)
    else:
        Judging("tictactoe", [bot(name), "random"], positions=40).run(store, progress=False)


def searched(name: str) -> list[str]:
    return ["agent.surprise" if name in ("hanger", "sleeper") else "surprise"]


def has_bot(store: Store, run: str) -> bool:
    """Whether a stored game of a run has a bot that is not ours in it."""
    from turnier.results.frames.matches import matches_frame

    return any("Bot" in agent for agent in matches_frame(store, run)["agent"].unique())


@pytest.mark.parametrize("name", sorted(FAILS_AT_TIMES))
def test_who_fails_loses_that_game(name: str, store: Store) -> None:
    honest, records = played(store, "honest"), played(store, name)
    failed = [record for record in records if record.termination.is_failure]
    assert failed and len({record.spec.id for record in records}) == len(records) == 3 * GAMES
    for record in failed:
        assert record.failed_seat is not None and "Bot" in record.spec.agents[record.failed_seat]
        assert record.error.startswith(f"seat {record.failed_seat}, ") and FAILS_AT_TIMES[name] in record.error
    assert points(records) <= points(honest)


def points(records: list[MatchRecord]) -> float:
    """Returns the points of the bot."""
    seats = ((p, agent) for r in records for p, agent in zip(r.points, r.spec.agents, strict=True))
    return sum(point for point, agent in seats if "Bot" in agent)


@pytest.mark.parametrize("name", sorted(FAILS_AT_TIMES))
def test_who_fails_is_not_found_stronger(name: str, store: Store) -> None:
    comparison = Comparison(bot(name), bot("honest"), game="tictactoe", games=400, seed=2)
    assert comparison.run(store, progress=False).verdict is not Verdict.STRONGER


@pytest.mark.parametrize("name", sorted(FAILS_AT_TIMES))
def test_searches_go_on_when_candidates_fail(name: str, store: Store) -> None:
    study = Study("tictactoe", bot(name), searched(name), budget=80, against=["random"], seed=3)
    results = study.run(store, progress=False)
    assert results.games > 60  # whole generations


@pytest.mark.parametrize("name", sorted(FAILS_AT_TIMES))
def test_failed_searches_are_the_worst(name: str, store: Store) -> None:
    judged = Judging("tictactoe", [bot(name), bot("honest")], positions=60).run(store, progress=False)
    rows = judged.agents().set_index("agent")
    cheat = next(agent for agent in rows.index if name in agent)
    honest = next(agent for agent in rows.index if "honest" in agent)
    assert rows.loc[cheat, "failed"] > 0 and rows.loc[cheat, "loss"] >= rows.loc[honest, "loss"]


@pytest.mark.parametrize("name", CHANGES_NOTHING)
def test_tricks_change_no_game(name: str, store: Store, executor: Executor, capfd: pytest.CaptureFixture[str]) -> None:
    honest = of_the_bot(played(store, "honest"), "honest")
    assert of_the_bot(played(store, name), name) == honest
    assert "I have won" not in capfd.readouterr().out


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which processes a process has started")
def test_nothing_computes_on_when_a_seat_rests(store: Store) -> None:
    played(store, "daemon")
    patience = time.monotonic() + 300  # for those of other tests, which end with these
    while computing := [path for path in Path("/proc").glob("[0-9]*/cmdline") if b"while True: pass" in _read(path)]:
        assert time.monotonic() < patience, computing
        time.sleep(0.1)


def _read(path: Path) -> bytes:
    with contextlib.suppress(OSError):  # the process has ended meanwhile
        return path.read_bytes()
    return b""


@pytest.mark.parametrize("name", CHANGES_NOTHING)
def test_tricks_change_no_judgement(name: str, store: Store) -> None:
    judged = Judging("tictactoe", [bot(name), bot("honest")], positions=30).run(store, progress=False)
    losses = judged.positions().groupby("agent")["loss"].apply(list).tolist()
    assert losses[0] == losses[1]


def test_nobody_foresees_chance(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executor: Executor
) -> None:
    seen = tmp_path / "seen"
    if not isinstance(executor, ThreadExecutor):
        pytest.skip("Ray's workers do not get what this process has put into its environment since")
    from turnier.agents.engines.pool import end_idle_programs
    from turnier.agents.seats.forks import FORKS

    end_idle_programs()
    FORKS.close()
    monkeypatch.setenv("FORESEEN", str(seen))
    Tournament("2048", [bot("seer")], games=3).run(store, progress=False)
    boards = seen.read_text().split()
    assert len(boards) > 100 and boards.count("1") == 0
    end_idle_programs()
    FORKS.close()
