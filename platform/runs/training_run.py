"""Training in a store: its curve, and evaluations of the network at intervals.

An evaluation's matches are ordinary ones of the run. They are played from a snapshot of the weights in the folder
`OUT.evaluating`, which is removed once they are stored; the next command finishes what is left there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from turnier.agents.agent import Agent
from turnier.agents.ntuple.training import Points
from turnier.agents.registry import AGENTS
from turnier.arena.match import derive_seed
from turnier.arena.schedules.repeats import without_repeats
from turnier.arena.schedules.round_robin import round_robin
from turnier.arena.workers.executor import Executor
from turnier.arena.workers.local import ThreadExecutor
from turnier.core.errors import UserError
from turnier.core.number_text import estimate
from turnier.games.game import Game
from turnier.results.frames.measures import MATCH_MEASURES
from turnier.results.store.curves import CurvePoint
from turnier.results.store.store import Store
from turnier.runs.play import play_into

KIND = "training"


class LearningPlan(Protocol):
    """What is learned and how."""

    @property
    def game(self) -> Game: ...

    @property
    def seed(self) -> int: ...

    def described(self) -> dict[str, Any]: ...


class Learner(Protocol):
    """A training as a store knows it."""

    @property
    def plan(self) -> LearningPlan: ...

    out: Path  # the file of what it learns
    done: int  # games
    points: Points


L = TypeVar("L", bound=Learner)


def kept_by(out: Path, kept: int | None, done: int, cure: str) -> str:
    """Returns the end of the sentence about a training whose learning has diverged: what its file has, what to do.

    Args:
        out: the file of checkpoints.
        kept: games of the checkpoint that it has; None = it was not written.
        done: games by which learning had diverged.
        cure: such as "with an alpha below 3".
    """
    if kept is None:
        return f"there is no checkpoint from before, so {out} was not written; train {cure}."
    if kept == done:
        return f"remove {out}, which has just that, and train {cure}."
    return f"{out} keeps the checkpoint of {kept:,} games, from before; train into another file {cure}."


class Learned(Protocol):
    """What a training knows at a checkpoint."""

    def to_play(self) -> Learned:
        """Returns what playing takes."""

    def save(self, path: Path) -> None: ...


@dataclass(frozen=True)
class Evaluating:
    """How a network is evaluated while it learns: every `every` games, by matches in all seat orders."""

    every: int
    games: int  # per evaluation
    against: str = ""  # the full text of the agent in all other seats; empty for games of one seat

    @classmethod
    def of(cls, game: Game, every: int, games: int, against: str) -> Evaluating:
        """Checks the settings; by default MCTS1 of Weitz 2022 takes the other seats."""
        if game.num_seats == 1:
            if against:
                raise UserError(f"{game} has one seat, got --against {against}; leave it out.")
            return cls(every, games)
        other = AGENTS.make(against or "mcts(iterations=10000)")
        other.require(game)
        return cls(every, games, other.full_text())


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


def defined(training: Learner, evaluating: Evaluating | None) -> dict[str, Any]:
    """Returns what a run is defined by."""
    return training.plan.described() | {"out": str(training.out)} | (asdict(evaluating) if evaluating else {})


def run_id_of(definition: Mapping[str, Any]) -> str:
    """Returns the id of the run of a training."""
    return f"{KIND}:{derive_seed(json.dumps(definition, sort_keys=True)):016x}"


class TrainingRun(Generic[L]):
    """A training's run in a store. A training that starts over discards the results of an earlier one of its plan."""

    def __init__(self, store: Store, training: L, evaluating: Evaluating | None) -> None:
        self.store, self.training, self.evaluating = store, training, evaluating
        plan = training.plan
        definition = defined(training, evaluating)
        self.id = run_id_of(definition)
        self.folder = training.out.with_name(f"{training.out.name}.evaluating")
        store.begin_run(self.id, KIND, str(plan.game), definition)
        if training.done == 0:
            store.curves.clear(self.id)
            for _, snapshot in self.snapshots():
                snapshot.unlink()

    @property
    def unit(self) -> str:
        return evaluation_unit(self.training.plan.game)

    def save_points(self) -> None:
        """Stores the curve as far as the training is."""
        points = CurvePoint.of_curve(self.training.points.curve(), self.training.done)
        self.store.curves.replace_points(self.id, points)

    def snapshots(self) -> list[tuple[int, Path]]:
        """Returns the games and the files of evaluations that are not finished."""
        return sorted((int(path.stem), path) for path in self.folder.glob("*.npz") if path.stem.isdigit())

    def snapshot(self, weights: Learned) -> Path | None:
        """Writes the weights if an evaluation is due; None otherwise, or if it is stored or queued."""
        done = self.training.done
        path = self.folder / f"{done}.npz"
        if not self.evaluating or not self.is_due() or done in self.store.curves.evaluated(self.id):
            return None
        if path.exists():
            return None
        self.folder.mkdir(exist_ok=True)
        weights.to_play().save(path)
        return path

    def is_due(self) -> bool:
        """Whether the network of this moment is to be evaluated."""
        return self.evaluating is not None and self.training.done % self.evaluating.every == 0

    def agent_of(self, snapshot: Path) -> Agent:
        """Returns who plays with a snapshot."""
        return AGENTS.make(f"greedy(evaluator=ntuple(file={snapshot}))")

    def evaluate(self, games: int, snapshot: Path, executor: Executor) -> Evaluation | None:
        """Plays the matches of an evaluation, or what is missing of them; None where the executor was closed."""
        assert self.evaluating
        plan, chosen = self.training.plan, self.evaluating
        agent = self.agent_of(snapshot)
        agents: list[Agent] = [agent, *(AGENTS.make(chosen.against) for _ in range(plan.game.num_seats - 1))]
        specs = round_robin(plan.game, agents, chosen.games, derive_seed(KIND, plan.seed, games))
        for _ in play_into(self.store, self.id, specs, executor):
            pass
        if len(self.store.played(spec.id for spec in specs)) < len({spec.id for spec in specs}):
            return None
        self.store.curves.add_evaluation(self.id, games, agent.full_text())
        snapshot.unlink()
        return stored_evaluation(self.store, self.id, plan.game, games, agent.full_text())

    def evaluations(self) -> list[Evaluation]:
        """Returns all that are stored, by games."""
        return stored_evaluations(self.store, self.id, self.training.plan.game)


def stored_evaluations(store: Store, run_id: str, game: Game) -> list[Evaluation]:
    """Returns all evaluations of a run that are stored, by games."""
    evaluated = store.curves.evaluated(run_id)
    return [stored_evaluation(store, run_id, game, *item) for item in evaluated.items()]


def stored_evaluation(store: Store, run_id: str, game: Game, games: int, agent: str) -> Evaluation:
    """Returns the figures of one: of the agent's games with those that the run is evaluated against."""
    against = store.run(run_id).definition.get("against", "")
    records = store.records(store.curves.match_ids(run_id, agent))
    records = [record for record in records if set(record.spec.agents) <= {agent, against}]
    return Evaluation(games, *MATCH_MEASURES[_measure(game)].estimate(without_repeats(records), agent))


def evaluation_unit(game: Game) -> str:
    """Returns the unit of a game's evaluations."""
    return MATCH_MEASURES[_measure(game)].unit


def _measure(game: Game) -> str:
    return "score" if game.num_seats == 1 else "win_rate"


class Evaluations:
    """Evaluates snapshots one after another on threads of its own, while training continues; a context manager."""

    def __init__(self, run: TrainingRun[Any], workers: int, report: Callable[[Evaluation], object]) -> None:
        self.run, self._report = run, report
        self._executor = ThreadExecutor(workers)
        self._queue = ThreadPoolExecutor(1, "evaluation")
        self._futures: list[Future[None]] = []
        for games, snapshot in run.snapshots():
            self._add(games, snapshot)

    def __enter__(self) -> Evaluations:
        return self

    def __exit__(self, *_: object) -> None:
        self._queue.shutdown(wait=False, cancel_futures=True)
        self._executor.close()
        self._queue.shutdown()

    def saved(self, training: Learner, weights: Learned) -> None:
        """Takes a checkpoint: stores the curve, and starts an evaluation if one is due."""
        self.run.save_points()
        snapshot = self.run.snapshot(weights)
        if snapshot:
            self._add(training.done, snapshot)
        self._raise_failures()

    @property
    def waiting(self) -> int:
        return sum(not future.done() for future in self._futures)

    def finish(self) -> None:
        """Waits for all evaluations; raises what went wrong in them."""
        for future in self._futures:
            future.result()
        if self.run.folder.is_dir() and not any(self.run.folder.iterdir()):
            self.run.folder.rmdir()

    def _add(self, games: int, snapshot: Path) -> None:
        self._futures.append(self._queue.submit(self._evaluate, games, snapshot))

    def _evaluate(self, games: int, snapshot: Path) -> None:
        evaluation = self.run.evaluate(games, snapshot, self._executor)
        if evaluation:
            self._report(evaluation)

    def _raise_failures(self) -> None:
        for future in self._futures:
            if future.done():
                future.result()
