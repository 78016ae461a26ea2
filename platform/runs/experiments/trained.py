"""Experiments with trained agents: networks are trained into a folder, then measured as ordinary rows.

Annotations are evaluated at once here, since they name things of the script.
"""

import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Optional

from ...agents.learning.plan import LearningPlan
from ...agents.ntuple.evaluator import NTuple
from ...agents.ntuple.plans.moved import moved_text
from ...agents.ntuple.td import td_of
from ...agents.ntuple.training import Plan, train_and_keep
from ...agents.ntuple.weights import read_config
from ...agents.registry import EVALUATORS
from ...core.errors import UserError
from ...core.text_form import parse
from ...games.registry import GAMES
from ..bar import game_bar
from ..learning.ways import learning_plan
from .experiment import Experiment
from .row import Row

GREEDY = "greedy(evaluator={network})"


@dataclass(frozen=True)
class Learner:
    """A network to train, with one thread: the same learner always gets the same weights."""

    game: str
    network: str  # such as ntuple(tuples=20), or an agent with a network of its own; empty with a source
    learning: str  # such as td(alpha=0.2)
    games: int
    points: int = 1  # number of networks kept at equal distances, the last one at the end
    seed: int = 1
    source: Optional["Learner"] = None  # its weights, moved to this game's board, are the first ones

    @property
    def places(self) -> list[int]:
        """Numbers of games after which weights are kept."""
        step = self.games // self.points
        return [step * i for i in range(1, self.points)] + [self.games]

    def plan(self, begins: tuple[Path, ...] = ()) -> LearningPlan:
        game, every = GAMES.make(self.game), max(1, self.games // 100)
        if not self._plays_greedily:
            return learning_plan(game, self.network, self.learning, self.seed, every, out=Path())
        return self._td_plan(begins)

    @property
    def _plays_greedily(self) -> bool:
        """Whether its network is an evaluator, with which `greedy` plays."""
        return parse(self._network).name in EVALUATORS.places

    def _td_plan(self, begins: tuple[Path, ...] = ()) -> Plan:
        evaluator = EVALUATORS.make(self._network)
        if not isinstance(evaluator, NTuple):
            raise UserError(f"training needs an n-tuple network, got {evaluator}; name one, such as ntuple.")
        game, method = GAMES.make(self.game), td_of(self.learning)
        return Plan(game, evaluator, method, self.seed, max(1, self.games // 100), begins)

    @property
    def _network(self) -> str:
        if self.source is None:
            return self.network
        source = self.source._td_plan()
        return moved_text(source.evaluator.network_for(source.game), GAMES.make(self.game))

    def _described(self) -> list[Any]:
        """Returns everything that decides the weights."""
        own = [self.plan().described(), self.games, self.points]
        return own if self.source is None else [*own, self.source._described()]

    def out(self, folder: Path) -> Path:
        """Returns the checkpoint's file; its name depends on everything that decides the weights."""
        text = json.dumps(self._described(), sort_keys=True)
        name = GAMES.make(self.game).name
        return folder / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.npz"

    def kept(self, folder: Path, place: int) -> Path:
        """Returns the file with the weights after `place` games."""
        out = self.out(folder)
        return out.with_name(f"{out.stem}-{place}.npz")

    def agent(self, folder: Path, place: int = 0, template: str = GREEDY) -> str:
        """Returns the agent with the network after `place` games, 0 = at the end; it must have been trained."""
        path = self.kept(folder, place or self.games)
        if not self._plays_greedily:
            return str(self.plan().agent(path))
        return template.format(network=f"ntuple(file={path},digest={read_config(path)['digest']})")

    def is_trained(self, folder: Path) -> bool:
        return all(self.kept(folder, place).exists() for place in self.places)

    def train(self, folder: Path, report: Callable[[int], None], seconds: float = 0.0) -> None:
        """Finishes the training; after a stop or a kill it resumes from the last checkpoint.

        Nothing is done before its source is trained.

        Args:
            folder: folder of the networks.
            report: called with the number of games done before, then with those just finished.
            seconds: stop after this many; 0 = never.
        """
        if self.is_trained(folder):
            report(self.games)
            return
        if self.source is not None and not self.source.is_trained(folder):
            return
        kept = {place: self.kept(folder, place) for place in self.places}
        begins = () if self.source is None else (self.source.kept(folder, self.source.games),)
        train_and_keep(self.plan(begins), self.out(folder), self.games, kept, report, report, seconds)


@dataclass(frozen=True)
class LearnedRow:
    """A row of an experiment whose first agent has learned for `place` games, 0 = all of them."""

    row: Row  # its agents are the others
    learner: Learner
    place: int = 0
    further: tuple[Learner, ...] = ()  # the same with other seeds: the figure is a mean over trainings
    agent: str = GREEDY  # what plays with the network

    @property
    def learners(self) -> tuple[Learner, ...]:
        return self.learner, *self.further


@dataclass(frozen=True)
class TrainingStudy:
    """An experiment whose rows may have trained agents; otherwise like Experiment."""

    document: str
    name: str
    title: str
    text: str
    rows: Sequence[LearnedRow | Row]
    axis: str = ""

    @property
    def run_id(self) -> str:
        return f"{self.document}:{self.name}"

    @property
    def learners(self) -> list[Learner]:
        learned = [learner for row in self.rows if isinstance(row, LearnedRow) for learner in row.learners]
        sources = [learner.source for learner in learned if learner.source]
        return list(dict.fromkeys([*sources, *learned]))

    def experiment(self, folder: Path) -> Experiment:
        """Returns the experiment, once everything is trained."""
        rows = tuple(_row(row, folder) for row in self.rows)
        return Experiment(self.document, self.name, self.title, self.text, rows, axis=self.axis)


def _row(row: LearnedRow | Row, folder: Path) -> Row:
    if isinstance(row, Row):
        return row
    first, *further = (learner.agent(folder, row.place, row.agent) for learner in row.learners)
    return replace(row.row, agents=(first, *row.row.agents), trainings=tuple(further))


def train_all(learners: Iterable[Learner], folder: Path, workers: int) -> None:
    """Trains learners in parallel, one thread each, the longest training first; all sources before the others."""
    chosen = sorted(dict.fromkeys(learners), key=lambda learner: -learner.games)
    waves = [[one for one in chosen if (one.source is not None) == later] for later in (False, True)]
    folder.mkdir(parents=True, exist_ok=True)
    lock = threading.Lock()
    with game_bar("training", sum(learner.games for learner in chosen)) as bar:

        def report(count: int) -> None:
            with lock:
                bar.advance(count)

        with ThreadPoolExecutor(workers, "training") as pool:
            try:
                for wave in waves:
                    for future in [pool.submit(learner.train, folder, report) for learner in wave]:
                        future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
