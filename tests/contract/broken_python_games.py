"""Games in plain Python whose methods are not pure, or tell too little or too much, for the laws to catch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from tests.contract.broken_games import Broken
from turnier.contract.games.hidden_information import law_information
from turnier.contract.games.python_methods import law_methods_change_nothing
from turnier.games.abi import TERMINAL
from turnier.games.python.python_game import PythonGame


@dataclass(frozen=True)
class Race(PythonGame):
    """The sound game: two seats in turn take 1 or 2 steps; who arrives at 5 wins."""

    name: ClassVar[str] = "race"
    num_seats: ClassVar[int] = 2
    num_actions: ClassVar[int] = 2
    max_legal: ClassVar[int] = 2
    max_length: ClassVar[int] = 5

    def begin(self) -> Any:
        return [0, 0]  # steps made, the seat to move

    def to_move(self, state: Any) -> int:
        return TERMINAL if state[0] >= 5 else state[1]

    def legal(self, state: Any) -> list[int]:
        return [0, 1]

    def step(self, state: Any, ply: int) -> tuple[Any, list[float]]:
        steps = state[0] + 1 + ply
        won = 1.0 if steps >= 5 else 0.0
        return [steps, 1 - state[1]], [won, -won] if state[1] == 0 else [-won, won]


@dataclass(frozen=True)
class StepsInPlace(Race):
    """Moves the state that it was given."""

    def step(self, state: Any, ply: int) -> tuple[Any, list[float]]:
        after, rewards = super().step(state, ply)
        state[:] = after
        return state, rewards


@dataclass(frozen=True)
class CountsCalls(Race):
    """Pays the third call of `step` and every one after it double."""

    calls: ClassVar[list[int]] = []

    def step(self, state: Any, ply: int) -> tuple[Any, list[float]]:
        self.calls.append(ply)
        after, rewards = super().step(state, ply)
        return after, [reward + (len(self.calls) > 3) for reward in rewards]


@dataclass(frozen=True)
class TellsNothing(Race):
    """Gives one text for states with different legal actions."""

    def legal(self, state: Any) -> list[int]:
        return [0, 1] if state[0] < 3 else [0]

    def information(self, state: Any, seat: int) -> str:
        return "nothing"


@dataclass(frozen=True)
class RedrawsByTheState(Race):
    """Draws another state by what the seat does not know, the steps made."""

    def information(self, state: Any, seat: int) -> str:
        return "my turn"

    def resample(self, state: Any, seat: int, draw: Callable[[], float]) -> tuple[Any, list[int]]:
        if seat == 1:
            return ([1, 1], [0]) if state[0] == 2 else ([2, 1], [1])
        return [0, 0], []


BROKEN_PYTHON_GAMES = [
    Broken(law_information, "tells nothing", "decides a seat's legal actions", TellsNothing()),
    Broken(law_information, "redraws by the state", "must draw the same", RedrawsByTheState()),
    Broken(law_methods_change_nothing, "steps in place", "must not change the state", StepsInPlace()),
    Broken(law_methods_change_nothing, "counts calls", "must always answer the same", CountsCalls()),
]
