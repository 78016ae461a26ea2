"""Models for self-play: networks of one kind, as seen by the loop, its checkpoints and its files."""

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
    """Networks that learn; the same lessons give the same networks, bit for bit."""

    files: ClassVar[tuple[str, ...]]  # names of the networks to play with
    names: ClassVar[tuple[str, ...]]  # names of the arrays in a checkpoint
    foreign: ClassVar[tuple[str, ...]]  # parameters of SelfPlay that are for other kinds
    outputs: int  # width of the targets, see `targets_of`

    @abstractmethod
    def __init__(self, game: Game, agent: Puct, learning: SelfPlay, seed: int) -> None:
        """Begins with untrained networks."""

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
        """Returns a description of the networks."""

    @abstractmethod
    def networks(self) -> Networks:
        """Returns the networks for the games of the next generation."""

    @abstractmethod
    def learn(self, lessons: Lessons, order: npt.NDArray[np.int64], done: int) -> None:
        """Learns from positions in that order, after `done` games learned from before."""

    @abstractmethod
    def arrays(self) -> Arrays:
        """Returns everything that later learning depends on."""

    def not_finite(self) -> str:
        """Returns the name of an array with NaN or infinity, as learning has diverged; empty if there is none."""
        return not_finite(self.arrays())

    @abstractmethod
    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restores the result of `arrays`; raises ValueError if it does not fit such networks."""

    @abstractmethod
    def learned(self, training: Mapping[str, Any], curve: npt.NDArray[np.float64]) -> tuple[Savable | None, ...]:
        """Returns the learned networks, one for each of `files`; None for one that is not learned.

        Args:
            training: settings of the training.
            curve: see `Points`.
        """
