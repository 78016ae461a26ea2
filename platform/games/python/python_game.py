"""Games written in plain Python: every agent plays them, compiled searches through callbacks."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from turnier.core.errors import UserError
from turnier.games import abi
from turnier.games.game import Game, Ints
from turnier.games.python.callback import PendingFailures
from turnier.games.python.history_kernels import HistoryKernels
from turnier.games.python.live_states import PLIES, VIEW, VIEW_BYTES, WORD, LiveStates

# What the author of a game must declare.
SIZES = ("num_seats", "num_actions", "max_legal", "max_length")
METHODS = ("begin", "to_move", "legal", "step")


@dataclass(frozen=True)
class PythonGame(Game):
    """Base of games whose rules are plain methods, which never change the state they get.

    A state is any Python object. What agents get as a state is the plies that led to it, so that it fits an array and
    travels to other processes; the objects of the states used last are kept.
    """

    in_python: ClassVar[bool] = True
    phase_name: ClassVar[str] = "plies"
    max_length: ClassVar[int]  # most plies of a game, outcomes included
    max_view: ClassVar[int] = 1000  # most characters of what `observe` returns, as repr prints it

    def __post_init__(self) -> None:
        cls = type(self)
        missing = [name for name in SIZES if not hasattr(cls, name)]
        missing += [f"{name}()" for name in METHODS if getattr(cls, name) is getattr(PythonGame, name)]
        if missing:
            raise UserError(f"a game in Python must declare {', '.join(missing)}, got {cls.__name__} without; add it.")
        super().__post_init__()

    @abstractmethod
    def begin(self) -> Any:
        """Returns the state before the first ply."""

    @abstractmethod
    def to_move(self, state: Any) -> int:
        """Returns the seat to move, CHANCE or TERMINAL."""

    @abstractmethod
    def legal(self, state: Any) -> Sequence[int]:
        """Returns the legal actions where a seat is to move, ascending."""

    @abstractmethod
    def step(self, state: Any, ply: int) -> tuple[Any, Sequence[float]]:
        """Returns the state after an action or outcome, and what every seat gains by it."""

    def outcomes(self, state: Any) -> Iterable[tuple[int, float]]:
        """Returns the outcomes where chance is to move, ascending, with their probabilities."""
        return []

    def observe(self, state: Any, seat: int) -> Any:
        """Returns the state as far as the seat to move may know it, with the same legal actions.

        A game that hides something overrides it; its states are made of numbers, text, tuples, lists and dictionaries.
        """
        return state

    def show(self, state: Any) -> str:
        """Returns the state as text for people."""
        return str(state)

    @property
    def has_views(self) -> bool:
        return type(self).observe is not PythonGame.observe

    @property
    def view_words(self) -> int:
        return -(-self.max_view // WORD)

    @property
    def state_words(self) -> int:  # type: ignore[override]
        return (VIEW + self.view_words if self.has_views else VIEW_BYTES) + self.max_length

    @functools.cached_property
    def live_states(self) -> LiveStates:
        return LiveStates(self)

    @functools.cached_property
    def failures(self) -> PendingFailures:
        return PendingFailures()

    def build_kernels(self) -> abi.GameKernels:
        return HistoryKernels(self, self.live_states, self.failures).build()

    def raise_failure(self) -> None:
        self.failures.raise_first()

    def live_state(self, state: Ints) -> Any:
        """Returns the object that an agent's state stands for."""
        return self.live_states.of(state).state

    def plies(self, state: Ints) -> list[int]:
        """Returns the plies that an agent's state stands for, outcomes included; of a view those since."""
        first = self.live_states.first
        return [int(ply) for ply in state[first : first + state[PLIES]]]

    def draw(self, state: Ints) -> str:
        return str(self.live_states.ask("show", self.show, self.live_state(state)))

    def phase(self, state: Ints) -> int:
        """Returns how many plies were played."""
        return int(state[PLIES])
