"""The results of trainings: the curve, the evaluations during training, and the learned agent."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from ...agents.agent import Agent
from ...agents.learning.plan import LearningPlan
from ...agents.ntuple.td import Td
from ...arena.schedules.repeats import without_repeats
from ...core.number_text import estimate, number
from ...games.game import Game
from ...games.registry import game_of
from ...results.frames.measures import MATCH_MEASURES
from ...results.store.curves import CurvePoint
from ...results.store.store import Store
from ..learning.ways import plan_of_definition
from ..results import RunResults
from ..self_play.ratings import best_checkpoint, rated_checkpoints

ALIKE_GAMES = 1000  # games that should not all have the same score


@dataclass(frozen=True)
class Evaluation:
    """The value of the network after `games` games: mean score or games won, %, with the 95 % interval."""

    games: int
    value: float
    low: float
    high: float
    matches: int

    def __str__(self) -> str:
        return estimate(self.value, self.low, self.high)


def stored_evaluations(store: Store, run_id: str, game: Game) -> list[Evaluation]:
    """Returns all stored evaluations of a run, by games."""
    evaluated = store.curves.evaluated(run_id)
    return [stored_evaluation(store, run_id, game, *item) for item in evaluated.items()]


def stored_evaluation(store: Store, run_id: str, game: Game, games: int, agent: str) -> Evaluation:
    """Returns one evaluation: the figures of the agent's games against the run's opponents in evaluations."""
    against = store.run(run_id).definition.get("against", "")
    records = store.records(store.curves.match_ids(run_id, agent))
    records = [record for record in records if set(record.spec.agents) <= {agent, against}]
    return Evaluation(games, *MATCH_MEASURES[_measure(game)].estimate(without_repeats(records), agent))


def evaluation_unit(game: Game) -> str:
    """Returns the unit of a game's evaluations."""
    return MATCH_MEASURES[_measure(game)].unit


def _measure(game: Game) -> str:
    return "score" if game.num_seats == 1 else "win_rate"


@dataclass(frozen=True, repr=False)
class TrainingResults(RunResults):
    """The results of a training, finished or not; the files of weights are needed only to play with them."""

    @cached_property
    def game(self) -> Game:
        return game_of(str(self.store.run(self.id).definition["game"]))

    @cached_property
    def plan(self) -> LearningPlan:
        """The plan of learning."""
        return plan_of_definition(self.store.run(self.id).definition)

    @property
    def out(self) -> Path:
        """The file of checkpoints."""
        return Path(self.store.run(self.id).definition["out"])

    @property
    def against(self) -> str:
        """The opponent in evaluations, empty if there is none."""
        return str(self.store.run(self.id).definition.get("against", ""))

    @property
    def agent(self) -> Agent:
        """The agent with the learned weights; raises UserError if its files are not here."""
        return self.plan.agent(*self.plan.learned(self.out))

    @property
    def unit(self) -> str:
        """The unit of the evaluations' values."""
        return evaluation_unit(self.game)

    @property
    def best(self) -> int | None:
        """The number of games of the best checkpoint by the games between checkpoints; None if unknown."""
        return best_checkpoint(self.store, self.id)

    def curve(self) -> pd.DataFrame:
        """Returns one row per point: games played up to it, games of the point, their mean score and its deviation."""
        points = self.store.curves.points(self.id)
        return pd.DataFrame([asdict(point) for point in points], columns=[each.name for each in fields(CurvePoint)])

    def evaluations(self) -> pd.DataFrame:
        """Returns one row per evaluation: games trained, value with its 95 % interval, number of matches.

        Checkpoints of self-play also have the minutes of learning, and Elo with its 95 % interval.
        """
        found = stored_evaluations(self.store, self.id, self.game)
        values = pd.DataFrame([asdict(each) for each in found], columns=[each.name for each in fields(Evaluation)])
        return rated_checkpoints(self.store, self.id).merge(values, on="games") if self.plan.rated else values

    def table(self) -> pd.DataFrame:
        evaluations = self.evaluations()
        return self.curve() if evaluations.empty else evaluations

    def newest(self, games: int = ALIKE_GAMES) -> pd.DataFrame:
        """Returns the last points of the curve, with at least so many games if there are enough."""
        curve = self.curve()
        after = curve["count"][::-1].cumsum()[::-1] - curve["count"]  # games of later points
        return curve[after < games]

    def hints(self) -> list[str]:
        """Returns advice on the learning, a sentence each, if its games did not differ."""
        newest, method = self.newest(), self.plan.learning
        count, mean = newest["count"].sum(), newest["mean"].mean()
        alike = np.isclose(newest["mean"], mean).all() and np.isclose(newest["deviation"], 0, atol=1e-6).all()
        if not isinstance(method, Td) or count < ALIKE_GAMES or not alike:
            return []
        return [
            f"All of the last {count:,} games scored {number(mean)}: self-play repeats itself and learns nothing new;"
            f" explore with an epsilon above {method.epsilon:g}, into another file."
        ]
