"""What is learned by self-play: networks of one kind, as the loop, its checkpoints and its files see them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from ...agents.puct.agent import Puct
from ...agents.puct.self_play import SelfPlay
from ...core.array_files import not_finite
from ...games.game import Game
from .games import Networks
from .window import Arrays, Lessons


class Savable(Protocol):
    """A network to play with."""

    @property
    def digest(self) -> str: ...

    def save(self, path: Path) -> None: ...


class Model(ABC):
    """Networks that learn; two that were given the same lessons are equal, bit for bit."""

    files: ClassVar[tuple[str, ...]]  # what each network to play with is called
    names: ClassVar[tuple[str, ...]]  # of the arrays that a checkpoint keeps
    foreign: ClassVar[tuple[str, ...]]  # parameters of SelfPlay that are for other kinds
    outputs: int  # of the targets, see `targets_of`

    @abstractmethod
    def __init__(self, game: Game, agent: Puct, learning: SelfPlay, seed: int) -> None:
        """Begins with networks that know nothing."""

    @classmethod
    @abstractmethod
    def check(cls, game: Game, agent: Puct) -> None:
        """Raises UserError if such networks cannot learn the game."""

    @classmethod
    @abstractmethod
    def agent(cls, agent: Puct, learning: SelfPlay, files: Sequence[Path]) -> Puct:
        """Returns the search with networks of those files."""

    @abstractmethod
    def described(self) -> dict[str, Any]:
        """Says what the networks are."""

    @abstractmethod
    def networks(self) -> Networks:
        """Returns what the games of the next generation are played with."""

    @abstractmethod
    def learn(self, lessons: Lessons, order: npt.NDArray[np.int64], done: int) -> None:
        """Learns from positions in that order; `done` games had been learned from before."""

    @abstractmethod
    def arrays(self) -> Arrays:
        """Returns all that later learning depends on."""

    def not_finite(self) -> str:
        """Returns the name of what has NaN or infinity, since learning has diverged; empty if there is nothing."""
        return not_finite(self.arrays())

    @abstractmethod
    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Takes over what `arrays` returned; raises ValueError if these are none of such networks."""

    @abstractmethod
    def learned(self, training: Mapping[str, Any], curve: npt.NDArray[np.float64]) -> tuple[Savable | None, ...]:
        """Returns what was learned, one for each of `files`, None if that is not learned.

        Args:
            training: how it was learned.
            curve: see `Points`.
        """
