"""Games of agents that fail in all of theirs: they wait, are named, and are not stored by a run that stops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from turnier.arena.workers.where import Where
from turnier.core.errors import UserError
from turnier.results.store.store import Store
from turnier.runs.failing import FEW, MANY, Recorder, class_of
from turnier.runs.tournament import Tournament

CHEATS = Path(__file__).parents[1] / "validity" / "cheats"


@dataclass
class Played:
    """A game as a recorder sees it."""

    played: list[tuple[str, bool]]
    error: str = ""
    moved_before_failing: bool = False
    spec: Any = field(init=False)

    def __post_init__(self) -> None:
        self.spec = SimpleNamespace(names=("game", *(agent for agent, _ in self.played)))


def failed(agent: str, moved: bool = False) -> Played:
    return Played([(agent, True), ("other", False)], f"{agent} failed", moved)


def won(agent: str) -> Played:
    return Played([(agent, False), ("other", False)])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path}/s.db") as opened:
        yield opened


def test_failed_games_wait_for_a_valid_one() -> None:
    stored: list[Played] = []
    recorder = Recorder(stored.extend)
    recorder.append([failed("a")] * 3)
    assert not stored
    recorder.append([won("a")])
    assert len(stored) == 4
    recorder.append([failed("a")] * 40)
    assert len(stored) == 44


@pytest.mark.parametrize(("moved", "limit"), [(False, FEW), (True, MANY)])
def test_who_fails_in_the_first_few_ends_the_run(moved: bool, limit: int) -> None:
    stored: list[Played] = []
    recorder = Recorder(stored.extend)
    recorder.append([failed("a", moved)] * (limit - 1))
    with pytest.raises(UserError, match=f"a must play to be rated, but it failed in all of its first {limit} games"):
        recorder.append([failed("a", moved)])
    assert not stored


def test_only_who_has_failed_so_often_is_named() -> None:
    """Another agent that has failed once may still play."""
    recorder = Recorder(lambda _: None, before=lambda agent: agent == "b")
    recorder.append([failed("a")])
    recorder.append([failed("b")] * FEW)  # which has valid games from before
    with pytest.raises(UserError, match=r"^c must play"):
        recorder.append([failed("c")] * FEW)


def test_few_failed_games_at_the_end_are_stored() -> None:
    stored: list[Played] = []
    recorder = Recorder(stored.extend)
    recorder.append([failed("a"), won("b")])
    recorder.end()
    assert len(stored) == 2


def test_the_class_of_others_is_found_within_what_holds_them() -> None:
    bots = ["bot.py:A@0123456789ab(x=1)", "limited(agent=bot.py:A@0123456789ab(x=2),milliseconds=50,margin=200)"]
    assert {class_of(text) for text in bots} == {"bot.py:A@0123456789ab"}
    assert class_of("mcts(iterations=5)") == "mcts" != class_of("mctse(iterations=5)")


@pytest.mark.parametrize("form", ["swiss", "adaptive", "round_robin", "gauntlet"])
def test_every_format_ends_with_an_agent_that_always_fails(form: str, store: Store) -> None:
    agents = [f"{CHEATS}/crasher.py:Bot", "random", "greedy", "mc(iterations=2)"]
    games = {"adaptive": 200}.get(form, 20)
    with pytest.raises(UserError, match="must play to be rated"):
        Tournament("tictactoe", agents, games=games, format=form).run(store, where=Where("serial"), progress=False)
    assert not any("crasher" in seat for run in store.runs() for seat in agents_of(store, run.id))


def agents_of(store: Store, run: str) -> list[str]:
    from turnier.results.frames.matches import matches_frame

    return [str(agent) for agent in matches_frame(store, run)["agent"].unique()]
