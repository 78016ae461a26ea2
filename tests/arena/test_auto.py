"""The executor `auto`: threads, Ray where it is asked for or pays, and the same records in either."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from turnier.agents.registry import make_agent
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_match
from turnier.arena.schedules.round_robin import round_robin
from turnier.arena.workers import make
from turnier.arena.workers.cluster import executor as ray_executor
from turnier.arena.workers.executor import Executor
from turnier.arena.workers.local import ThreadExecutor
from turnier.arena.workers.make import AutoExecutor, make_executor
from turnier.arena.workers.where import Where
from turnier.core.errors import UserError
from turnier.core.outside import trust
from turnier.games.registry import make_game

BOT = """
from turnier.agents.agent import Agent, Decision
import numpy as np

class First(Agent):
    name = "first"
    def start(self, game, seat=0, seed=0):
        return self
    def act(self, position):
        empty = np.zeros(position.game.num_actions)
        return Decision(int(position.legal_actions()[0]), empty, empty, 0, 0.0)
"""


class StandIn(ThreadExecutor):
    """Is what `auto` takes for Ray."""

    made = 0

    def __init__(self, workers: int | None = None, address: str | None = None, **claims: object) -> None:
        super().__init__(workers)
        StandIn.made += 1


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StandIn, "made", 0)
    monkeypatch.setattr(ray_executor, "RayExecutor", StandIn)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


def slow_specs(folder: Path, games: int = 8) -> list[MatchSpec]:
    (folder / "bot.py").write_text(BOT)
    return list(round_robin(make_game("2048(size=2)"), [make_agent(f"{folder}/bot.py:First")], games, seed=3))


def played(executor: Executor, specs: list[MatchSpec]) -> dict[str, Any]:
    with executor:
        records = [record for batch in executor.play(specs) for record in batch]
    assert len(records) == len(specs)
    return {record.spec.id: record.plies for record in records}


def test_compiled_agents_stay_in_threads(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(make, "RAY_SECONDS", 0.0)
    specs = list(round_robin(make_game("2048(size=2)"), [make_agent("random")], 20, seed=3))
    assert played(make_executor(Where("auto", 2)), specs) == {spec.id: play_match(spec).plies for spec in specs}
    assert not StandIn.made and capsys.readouterr().err == "Playing on 2 threads: nothing is decided in Python.\n"


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "_trusted", True)


def test_agents_with_a_process_of_their_own_stay_in_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make, "RAY_SECONDS", 0.0)
    specs = slow_specs(tmp_path)
    assert played(make_executor(Where("auto", 2)), specs) == {spec.id: play_match(spec).plies for spec in specs}
    assert not StandIn.made


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize(("seconds", "workers", "rays"), [(0.0, 2, 1), (1e9, 2, 0), (0.0, 1, 0)])
def test_long_work_in_python_moves_to_ray_and_stays_the_same(
    seconds: float, workers: int, rays: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make, "RAY_SECONDS", seconds)
    specs = slow_specs(tmp_path)
    assert played(make_executor(Where("auto", workers)), specs) == {spec.id: play_match(spec).plies for spec in specs}
    assert StandIn.made == rays


@pytest.mark.usefixtures("inside")
def test_work_stays_in_threads_where_ray_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise UserError("no room.")

    monkeypatch.setattr(make, "RAY_SECONDS", 0.0)
    monkeypatch.setattr(ray_executor, "RayExecutor", fail)
    assert len(played(make_executor(Where("auto", 2)), slow_specs(tmp_path))) == 8
    assert capsys.readouterr().err.splitlines()[1] == "Still on threads, because Ray did not start: no room."


def test_a_cluster_that_is_named_is_joined(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(make_executor(Where("auto", 2, "auto")), StandIn)
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    assert isinstance(make_executor(Where("auto", 2)), StandIn)
    named = [f"Playing on Ray: {name} names a cluster." for name in ("--address", "RAY_ADDRESS")]
    assert capsys.readouterr().err.splitlines() == named
    monkeypatch.delenv("RAY_ADDRESS")
    assert isinstance(make_executor(Where("auto", 2)), AutoExecutor)


@pytest.mark.parametrize(
    ("agent", "in_python"),
    [
        ("random", False),
        ("mcts(milliseconds=5)", False),
        ("majority(agent=random)", False),
        ("uci(command=engine,depth=1)", False),
    ],
)
def test_agents_say_whether_they_decide_in_python(agent: str, in_python: bool) -> None:
    assert make_agent(agent).in_python == in_python
