"""The plan of a training, as loops, trainings and stores see it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ...core.parameters import Declared
from ...games.game import Game
from ..agent import Agent

if TYPE_CHECKING:
    from .loop import TrainingLoop


class LearningPlan(ABC):
    """The learner and its method; trainings with equal plans learn the same. A subclass for each way to learn."""

    name: ClassVar[str]  # of the way to learn, in sentences
    key: ClassVar[str]  # the learner's name in stored plans
    foreign: ClassVar[tuple[str, ...]]  # options of trainings for other ways
    rated: ClassVar[bool] = False  # whether evaluated checkpoints are kept and rated by games against the best so far

    game: Game
    learning: Declared
    seed: int
    every: int  # games per point of the curve

    @property
    @abstractmethod
    def learner(self) -> Declared:
        """The learner: an evaluator or an agent."""

    def described(self) -> dict[str, Any]:
        """Returns the plan as texts and numbers."""
        return {
            "game": self.game.full_text(),
            self.key: self.learner.full_text(),
            "learning": self.learning.full_text(),
            "seed": self.seed,
            "every": self.every,
        }

    @abstractmethod
    def check(self) -> None:
        """Raises UserError if this cannot be learned, at all or here."""

    @abstractmethod
    def loop(self, out: Path, games: int, *, threads: int = 1, pool: Any = None) -> TrainingLoop[Any]:
        """Returns the training into a file, resumed from it if it exists.

        Args:
            out: the file of checkpoints.
            games: in all.
            threads: that learn at once.
            pool: the executor that plays, if the learning threads do not.
        """

    @abstractmethod
    def stored(self, out: Path) -> Mapping[str, Any]:
        """Returns a file's record of its training: `done`, the games, and `seconds` if it is limited by time."""

    @abstractmethod
    def agent(self, *files: Path) -> Agent:
        """Returns the agent that plays with those files."""

    def learned(self, out: Path) -> tuple[Path, ...]:
        """Returns the files to play with: the checkpoint itself, or files beside it."""
        return (out,)

    def folder(self, out: Path) -> Path:
        """Returns the folder of checkpoints to be evaluated."""
        return out.with_name(f"{out.name}.evaluating")

    def snapshot(self, out: Path, games: int) -> tuple[Path, ...]:
        """Returns the files to play with of the checkpoint after that many games."""
        return (self.folder(out) / f"{games}.npz",)

    def save(self, loop: Any, weights: Any, files: Sequence[Path]) -> None:
        """Writes a checkpoint's files to play with."""
        weights.to_play().save(files[0])
