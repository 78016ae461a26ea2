"""The part of a game in Python that its author writes: sizes, and methods on states of any kind."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...core.errors import UserError
from ..game import Game

# The author of a game must declare these.
SIZES = ("num_seats", "num_actions", "max_legal", "max_length")
METHODS = ("begin", "to_move", "legal", "step")
WORD = 8  # bytes


@dataclass(frozen=True)
class PythonRules(Game):
    """The rules of a game as plain methods, which never change their state."""

    in_python: ClassVar[bool] = True
    phase_name: ClassVar[str] = "plies"
    max_length: ClassVar[int]  # most plies of a game, including outcomes
    max_view: ClassVar[int] = 1000  # most characters of the repr of a view

    def __post_init__(self) -> None:
        cls = type(self)
        missing = [name for name in SIZES if not hasattr(cls, name)]
        missing += [f"{name}()" for name in METHODS if getattr(cls, name) is getattr(PythonRules, name)]
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
        """Returns the legal actions, ascending, if a seat is to move."""

    @abstractmethod
    def step(self, state: Any, ply: int) -> tuple[Any, Sequence[float]]:
        """Returns the state after an action or outcome, and the reward of every seat."""

    def outcomes(self, state: Any) -> Iterable[tuple[int, float]]:
        """Returns the outcomes, ascending, with their probabilities, if chance is to move."""
        return []

    def observe(self, state: Any, seat: int) -> Any:
        """Returns the state as far as the seat to move may know it, with the same legal actions.

        A game that hides something overrides this; its states consist of numbers, text, tuples, lists and dictionaries.
        """
        return state

    def information(self, state: Any, seat: int) -> str:
        """Returns all that a seat has learned so far, its own actions included; equal in states it cannot tell apart.

        A game that is `hidden` may declare it; agents that search information sets then play the game. Raises UserError
        if it does not: see `has_information`.
        """
        raise UserError(f"{self} must declare information(state, seat) to be searched by what a seat knows.")

    def resample(self, state: Any, seat: int, draw: Callable[[], float]) -> tuple[Any, Sequence[int]] | None:
        """Returns a random state with the same information for the seat to move, and its plies; None: not in this game.

        Only the information and `draw`, random numbers in [0, 1), may decide it.
        """
        return None

    def show(self, state: Any) -> str:
        """Returns the state as text for people."""
        return str(state)

    @property
    def has_views(self) -> bool:
        return type(self).observe is not PythonRules.observe

    @property
    def has_information(self) -> bool:
        """Whether `information` answers."""
        return type(self).information is not PythonRules.information

    @property
    def view_words(self) -> int:
        return -(-self.max_view // WORD)
