"""Repeated trainings: the same training on several seeds, to see how much of a network's strength is luck."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..arena.workers.where import Where
from .declared.options import GameOption, Option
from .learning.options import (
    AgainstOption,
    EvaluateEveryOption,
    EvaluationGamesOption,
    EvaluationWorkersOption,
    EveryOption,
    LearningOption,
    LearningThreadsOption,
    NetworkOption,
    TrainGamesOption,
)
from .plan import Plan, Playing
from .training import Training, numbered

if TYPE_CHECKING:
    from ..games.game import Game
    from ..results.store.store import Run, Store
    from .stored.repeated_training import RepeatedTrainingResults


class RepeatedTraining(Plan["RepeatedTrainingResults"]):
    """Train a network several times, on consecutive seeds, one training after another.

    Each is an ordinary training, in a run and a file of its own: w.npz becomes w-1.npz, w-2.npz and so on, by seed. The
    results are means over the trainings, with intervals over them, and the files of the best and the median one.
    """

    kind = "repeated_training"

    def __init__(
        self,
        game: GameOption,
        network: NetworkOption = "",
        *,
        out: Annotated[str | Path, Option("file for the weights; each training puts its seed before the ending")],
        repeats: Annotated[
            int,
            Option("train so many times on consecutive seeds, and show means over them", low=2, high=1000, more=True),
        ],
        games: TrainGamesOption = None,
        learning: LearningOption = "",
        seed: Annotated[int, Option("of the first training", low=0)] = 1,
        threads: LearningThreadsOption = 1,
        every: EveryOption = 1000,
        evaluate_every: EvaluateEveryOption = 0,
        against: AgainstOption = "",
        evaluation_games: EvaluationGamesOption = 100,
        evaluation_workers: EvaluationWorkersOption = 1,
    ) -> None:
        shared = {name: value for name, value in self.options.items() if name not in ("out", "seed", "repeats")}
        self.out = Path(out)
        self.trainings = [
            Training(**shared, seed=each, out=numbered(self.out, each)) for each in range(seed, seed + repeats)
        ]
        self.game: Game = self.trainings[0].game

    @property
    def settings(self) -> dict[str, Any]:
        """All options, including values that were left open."""
        first = self.trainings[0].settings
        return {name: first.get(name, value) for name, value in super().settings.items()} | {
            "out": str(self.out),
            "seed": self.options["seed"],
        }

    @property
    def definition(self) -> dict[str, Any]:
        """The definition of the first training, with the file before its number."""
        return self.trainings[0].definition | {"out": str(self.out)}

    @classmethod
    def options_of(cls, run: Run) -> dict[str, Any]:
        """Returns the options given by a stored definition; the number of trainings is a setting."""
        return Training.options_of(run)

    @property
    def total(self) -> int:
        """The games of all trainings."""
        return sum(training.total for training in self.trainings)

    @property
    def kept(self) -> str:
        """Describes the files."""
        return ", ".join(training.kept for training in self.trainings if training.out.exists()) or "nothing is trained"

    def notices(self, store: Store) -> list[str]:
        """Returns a sentence if all trainings are finished."""
        done = all(training.finished for training in self.trainings)
        return ["All trainings are finished; resume with more --games or --repeats."] if done else []

    def stop(self) -> bool:
        """Ends the training under way after a checkpoint."""
        return any(training.stop() for training in self.trainings)

    def placed(self, where: Where) -> Where:
        """Returns the place where each training plays."""
        return self.trainings[0].placed(where)

    def play(self, run: Playing) -> None:
        """Finishes one training after another; their evaluation games belong to this run, too."""
        for training in self.trainings:
            training.begin(run.store, run.pool.workers)
            self._play(training, run)
            curves = run.store.curves
            for agent in curves.evaluated(training.run_id).values():
                run.store.link(run.id, curves.match_ids(training.run_id, agent))

    def _play(self, training: Training, run: Playing) -> None:
        from .bar import part_bar

        with part_bar(run.store, training.run_id, run.bar, training.total) as bar:
            training.play(Playing(run.store, training.run_id, run.pool, lambda: bar))

    @classmethod
    def reopened(cls, store: Store, run: Run) -> RepeatedTrainingResults:
        """Returns the results of the trainings that have begun, from the store alone."""
        from .stored.repeated_training import RepeatedTrainingResults

        return RepeatedTrainingResults(store, run.id)
