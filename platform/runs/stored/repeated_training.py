"""The results of repeated trainings: means over them, and the best and the median one."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from ...games.game import Game
from ...games.registry import game_of
from ...results.frames.measures import score_bounds
from ...statistics.intervals import PERCENT, Bounds, Interval, mean_of_estimates
from ..results import RunResults
from ..training import id_of, numbered
from .training import TrainingResults, evaluation_unit, stored_evaluations

EVALUATED = ["seed", "file", "games", "value", "low", "high", "matches"]
MEANS = ["games", "mean", "low", "high", "trainings", "least", "most"]


@dataclass(frozen=True, repr=False)
class RepeatedTrainingResults(RunResults):
    """The trainings that have begun, by seed; their evaluation games are those of this run, too."""

    @cached_property
    def game(self) -> Game:
        return game_of(str(self.store.run(self.id).definition["game"]))

    @property
    def unit(self) -> str:
        """The unit of the evaluations' values."""
        return evaluation_unit(self.game)

    @cached_property
    def trainings(self) -> dict[int, TrainingResults]:
        """The results of each training, by its seed."""
        definition, known = self.store.run(self.id).definition, {run.id for run in self.store.runs()}
        found: dict[int, TrainingResults] = {}
        for seed in itertools.count(int(definition["seed"])):
            run = id_of({**definition, "seed": seed, "out": str(numbered(Path(definition["out"]), seed))})
            if run not in known:
                return found
            found[seed] = TrainingResults(self.store, run)
        raise AssertionError

    def evaluations(self) -> pd.DataFrame:
        """Returns a row per evaluation: seed, file, games trained, value with its 95 % interval, number of matches."""
        rows = [
            {"seed": seed, "file": results.out.name} | asdict(each)
            for seed, results in self.trainings.items()
            for each in stored_evaluations(self.store, results.id, self.game)
        ]
        return pd.DataFrame(rows, columns=EVALUATED)

    def means(self) -> pd.DataFrame:
        """Returns a row per number of games trained, if at least two trainings were evaluated there.

        Columns: games, mean over the trainings with its 95 % interval over them, trainings, least and most of them.
        """
        rows = []
        for games, part in self.evaluations().groupby("games"):
            if len(part) > 1:
                each = [Interval(row.value, row.low, row.high) for row in part.itertuples()]
                mean = mean_of_estimates(each, self._bounds)
                rows.append((games, *mean, len(part), part["value"].min(), part["value"].max()))
        return pd.DataFrame(rows, columns=MEANS)

    def table(self) -> pd.DataFrame:
        return self.means()

    def ends(self) -> pd.DataFrame:
        """Returns the evaluations at the largest number of games that all trainings have, the best first."""
        evaluations = self.evaluations()
        counts = evaluations.groupby("games")["seed"].nunique()
        common = counts.index[counts == len(self.trainings)]
        last = evaluations[evaluations["games"] == (common.max() if len(common) else -1)]
        return last.sort_values("value", ascending=False, kind="stable").reset_index(drop=True)

    @property
    def best(self) -> TrainingResults | None:
        """The training with the largest value at the end; None without evaluations."""
        return self._at_end(0)

    @property
    def median(self) -> TrainingResults | None:
        """The median training at the end, of two the better one: what to expect of another."""
        return self._at_end((len(self.ends()) - 1) // 2)

    def _at_end(self, place: int) -> TrainingResults | None:
        ends = self.ends()
        return self.trainings[int(ends["seed"][place])] if len(ends) else None

    @property
    def _bounds(self) -> Bounds:
        return score_bounds(self.game) if self.game.num_seats == 1 else PERCENT
