"""A field of compiled agents, Python, JSON and UCI with faults at random: one record a game, whoever plays it where."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from turnier.arena.match import MatchRecord, Termination
from turnier.arena.workers.cluster.executor import RayExecutor
from turnier.arena.workers.executor import Executor
from turnier.arena.workers.local import SerialExecutor, ThreadExecutor
from turnier.results.store.store import Store
from turnier.runs.tournament import Tournament

FAULTY = Path(__file__).with_name("faulty")
FIELD = [
    "mc(iterations=5)",
    f"{FAULTY}/python_bot.py:Bot",
    f'json(command="{sys.executable} {FAULTY}/json_bot.py")',
    f'uci(command="{sys.executable} {FAULTY}/uci_bot.py",nodes=1)',
]
CAUSES = {
    "Bot": {Termination.CRASHED, Termination.ILLEGAL_MOVE},
    "json": {Termination.CRASHED, Termination.ILLEGAL_MOVE},
    "uci": {Termination.CRASHED, Termination.ILLEGAL_MOVE},
}


def played(
    folder: Path, executor: Executor, form: str, games: int, monkeypatch: pytest.MonkeyPatch
) -> dict[str, MatchRecord]:
    with Store.open(f"sqlite:///{folder}/{type(executor).__name__}-{form}.db") as store, executor:
        tournament = Tournament("tictactoe", FIELD, games=games, format=form, seed=11)
        run = tournament.run(store, where=executor, progress=False)
        ids = run.frame()["match"].unique().tolist()
        records = list(store.records(ids))
        assert len(records) == len(ids) == len({record.spec.id for record in records}) == tournament.total
        return {record.spec.id: record for record in records}


@pytest.mark.parametrize("form", ["round_robin", "swiss", "gauntlet"])
def test_every_game_has_one_record_that_blames_who_failed(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = {"round_robin": 24, "swiss": 8, "gauntlet": 16}[form]
    serial = played(tmp_path, SerialExecutor(), form, games, monkeypatch)
    failed = [record for record in serial.values() if record.termination.is_failure]
    assert 0 < len(failed) < len(serial)  # how many depends on the paths in the agents' texts, which decide the seeds
    for record in failed:
        assert record.failed_seat is not None
        agent = record.spec.agents[record.failed_seat]
        assert not agent.startswith("mc(") and record.error.startswith(f"seat {record.failed_seat}, ")
        assert record.termination in next(causes for name, causes in CAUSES.items() if name in agent)
        assert record.points[record.failed_seat] == 0
    threads = played(tmp_path, ThreadExecutor(4), form, games, monkeypatch)
    assert_same(serial, threads)


def test_ray_plays_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serial = played(tmp_path, SerialExecutor(), "round_robin", 24, monkeypatch)
    assert_same(serial, played(tmp_path, RayExecutor(2), "round_robin", 24, monkeypatch))


def assert_same(one: dict[str, MatchRecord], other: dict[str, MatchRecord]) -> None:
    def of(record: MatchRecord) -> tuple[object, ...]:
        return record.termination, record.scores, record.plies

    assert {key: of(record) for key, record in one.items()} == {key: of(record) for key, record in other.items()}
