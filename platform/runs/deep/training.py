"""Training of a deep network in a store: its curve, and evaluations at intervals, as of any other network."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd

from turnier.agents.agent import Agent
from turnier.agents.deep.agent import Dqn
from turnier.agents.deep.learning import deep_q_for
from turnier.agents.deep.weights import Weights, read_config
from turnier.agents.registry import AGENTS
from turnier.core.array_files import NotFinite
from turnier.core.errors import MAX_GAMES, MAX_IN_MEMORY, MAX_WORKERS, UserError, require_at_most
from turnier.core.number_text import number
from turnier.core.outputs import only_writer, require_file
from turnier.games.game import Game
from turnier.games.registry import GAMES
from turnier.results.store.locks import Lock
from turnier.results.store.store import Store
from turnier.runs.bar import QUIET, Bar, run_bar
from turnier.runs.deep.loop import DeepLoop
from turnier.runs.deep.plan import Plan
from turnier.runs.results import RunResults
from turnier.runs.training_run import Evaluating, Evaluation, Evaluations, TrainingRun, defined, kept_by, run_id_of

LARGEST_VALUE = 1e6  # rewards: values beyond have diverged


class DeepTraining:
    """A deep network that learns a game by playing it, in games of two seats against itself."""

    def __init__(
        self,
        game: str | Game,
        network: str | Agent = "dqn",
        *,
        out: Path | str,
        games: int = 10_000,
        learning: str = "",
        seed: int = 1,
        every: int = 1000,
        evaluate_every: int = 0,
        evaluation_games: int = 100,
        evaluation_workers: int = 1,
        against: str | Agent = "",
    ) -> None:
        """Plans a training; raises UserError where it cannot be done.

        Args:
            game: such as "2048".
            network: such as "dqn(layers=128.64)".
            out: the file of checkpoints, which also plays; an existing one is trained further.
            games: in total, including those of earlier runs; training ends with the turn in which this many have ended.
            learning: the method, such as "deep_q(steps=3)"; empty = what goes with the game.
            seed: the same seed gives the same weights.
            every: games per point of the learning curve.
            evaluate_every: games between two evaluations; 0 = none.
            evaluation_games: per evaluation, in all seat orders.
            evaluation_workers: threads that evaluate during training.
            against: the opponent of evaluations in games of several seats; empty = MCTS.
        """
        if games < 1:
            raise UserError(f"games of a training must be at least 1, got {games}.")
        require_at_most(MAX_GAMES, max(games, every, evaluate_every), "games of a training")
        require_at_most(MAX_IN_MEMORY, evaluation_games, "games of an evaluation")
        require_at_most(MAX_WORKERS, evaluation_workers, "threads")
        made, agent = GAMES.make(game), AGENTS.make(network)
        if not isinstance(agent, Dqn):
            raise UserError(f'deep learning needs the network dqn, got {agent}; write "dqn(layers=128.64)".')
        if against and not evaluate_every:
            raise UserError(
                f"the opponent {against} needs evaluations to play in; name their interval with --evaluate-every."
            )
        self.plan = Plan(made, agent, deep_q_for(made, learning), seed, every)
        self.plan.check()
        self.out, self.games, self.evaluation_workers = Path(out), games, evaluation_workers
        require_file(self.out, "the file of checkpoints")
        self._loop: DeepLoop | None = None  # while it runs
        self.evaluating: Evaluating | None = None
        if evaluate_every:
            self.evaluating = Evaluating.of(made, evaluate_every, evaluation_games, str(against))

    @property
    def done(self) -> int:
        """The games that the last checkpoint has learned from."""
        return int(read_config(self.out)["training"]["done"]) if self.out.exists() else 0

    @property
    def finished(self) -> bool:
        return self.done >= self.games

    def stop(self) -> bool:
        """Has `run` end soon by KeyboardInterrupt, with a checkpoint; returns whether it runs."""
        if self._loop:
            self._loop.stop()
        return self._loop is not None

    def run(self, store: Store, *, progress: bool = True) -> DeepResults:
        """Learns until all games are played; after a stop or a kill, the same call resumes it.

        Raises UserError where another process trains this file, or in this store.
        """
        with only_writer(self.out, f"has trained {self.plan.agent} on {self.plan.game}"):
            loop = self._loop = DeepLoop(self.plan, self.out, self.games)
            before = loop.done
            with store.lock(run_id_of(defined(loop, self.evaluating))) as lock:
                run = DeepRun(store, loop, self.evaluating)
                console = None if progress else QUIET
                completed = min(before, self.games)
                with run_bar(store, run.id, str(self.plan.game), self.games, console, completed=completed) as bar:
                    if before:
                        bar.print(f"Resuming after {before:,} games of earlier runs.")
                    self._learn(run, bar, lock)
            return DeepResults(store, run.id, run, before)

    def _learn(self, run: DeepRun, bar: Bar, lock: Lock) -> None:
        def advance(loop: DeepLoop, count: int) -> None:
            if count:
                bar.reached(min(loop.done, bar.total), bar.total)
                bar.note(f"score {number(loop.points.newest(loop.plan.every // 2)[1])}")

        def show(evaluation: Evaluation) -> None:
            bar.print(f"after {evaluation.games:,} games: {evaluation} ({run.unit})")

        def save(loop: DeepLoop, weights: Weights) -> None:
            lock.heartbeat()  # raises where another driver has taken over
            evaluations.saved(loop, weights)

        with Evaluations(run, self.evaluation_workers, show) as evaluations:
            loop = run.training
            if loop.done:  # a kill may have come between the checkpoint and what follows it
                weights = loop.weights()
                _require_convergence(loop, weights)
                save(loop, weights)
            try:
                loop.run(advance, save, run.evaluating.every if run.evaluating else 0, _require_convergence)
            finally:
                self._loop = None  # a signal now ends the process: the same command repeats the evaluations
            if evaluations.waiting:
                bar.note(f"{evaluations.waiting} evaluations to finish")
            evaluations.finish()


class DeepRun(TrainingRun[DeepLoop]):
    """The run of a deep network's training in a store."""

    def is_due(self) -> bool:
        """Several games may end at once: whether the newest ones completed an interval."""
        assert self.evaluating
        every = self.evaluating.every
        return self.training.done // every > self.training.done_before // every

    def agent_of(self, snapshot: Path) -> Agent:
        return Dqn(file=str(snapshot))


def _require_convergence(loop: DeepLoop, weights: Weights) -> None:
    """Raises UserError if learning has diverged."""
    largest = float(abs(weights.weights).max())
    if not largest <= LARGEST_VALUE:
        raise NotFinite(
            f"learned weights must stay below {LARGEST_VALUE:g}, got {largest:.3g} after {loop.done:,} games;"
            f" {kept_by(loop.out, loop.kept, loop.done, f'with an alpha below {loop.plan.learning.alpha:g}')}"
        )


@dataclass(frozen=True, repr=False)
class DeepResults(RunResults):
    """The results of a deep network's training."""

    run: DeepRun
    games_before: int  # that earlier runs had played

    @property
    def loop(self) -> DeepLoop:
        return self.run.training

    @property
    def agent(self) -> Agent:
        """The agent on the learned network."""
        return Dqn(file=str(self.loop.out))

    def curve(self) -> pd.DataFrame:
        """Returns one row per point: games played up to it, games of the point, their mean score and its deviation."""
        return pd.DataFrame([asdict(point) for point in self.store.curves.points(self.id)])

    def evaluations(self) -> pd.DataFrame:
        """Returns one row per evaluation: games trained, value with its 95 % interval, games played."""
        return pd.DataFrame([asdict(evaluation) for evaluation in self.run.evaluations()])

    def table(self) -> pd.DataFrame:
        return self.evaluations() if self.run.evaluating else self.curve()
