"""Training: an n-tuple network learns by self-play into a file; its curve and evaluations go into a store."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pandas as pd

from turnier.agents.agent import Agent
from turnier.agents.evaluator import Evaluator
from turnier.agents.ntuple.evaluator import NTuple
from turnier.agents.ntuple.plans.presets import preset_for
from turnier.agents.ntuple.td import Td, learning_for, td_of
from turnier.agents.ntuple.training import Plan, TrainingLoop
from turnier.agents.ntuple.weights import Weights, read_config
from turnier.agents.registry import AGENTS, EVALUATORS
from turnier.core.array_files import NotFinite
from turnier.core.errors import MAX_GAMES, MAX_IN_MEMORY, MAX_WORKERS, UserError, require_at_most
from turnier.core.number_text import number
from turnier.core.outputs import only_writer, require_file
from turnier.games.game import Game
from turnier.games.registry import GAMES
from turnier.results.store.locks import Lock
from turnier.results.store.store import Store
from turnier.runs.bar import QUIET, Bar, run_bar
from turnier.runs.results import RunResults
from turnier.runs.training_run import Evaluating, Evaluation, Evaluations, TrainingRun, defined, kept_by, run_id_of

EVALUATION_GAMES, FORMER_EVALUATION_GAMES = 100, 10  # per evaluation by default, today and up to version 0.1
DEFAULT_GAMES = 10_000
MAX_HOURS = 100_000  # eleven years
ALIKE_GAMES = 1000  # that should not all score the same
LARGEST_WEIGHT = 1000.0  # in multiples of the largest return: weights beyond have diverged; entries may cancel out


class Training:
    """A network that learns a game by playing against itself."""

    def __init__(
        self,
        game: str | Game,
        network: str | Evaluator = "",
        *,
        out: Path | str,
        games: int | None = None,
        hours: float = 0.0,
        begins: Sequence[Path | str] = (),
        learning: str = "",
        seed: int = 1,
        threads: int = 1,
        every: int = 1000,
        evaluate_every: int = 0,
        evaluation_games: int = 0,
        evaluation_workers: int = 1,
        against: str | Agent = "",
    ) -> None:
        """Plans a training; raises UserError where it cannot be done.

        Args:
            game: such as "2048".
            network: such as "ntuple(network=4x6)"; may be empty with `hours` for 2048, see preset_for, or with a file
                that is trained further.
            out: the file of weights; an existing one is trained further.
            games: in all, including those of earlier runs; None = 10,000, or with `hours` as many as there is time for;
                0 only with `begins`, to write their mean.
            hours: of learning in all, including those of earlier runs by hours; 0 = as long as the games take.
            begins: files of weights of the same network, with whose mean learning begins.
            learning: the method, such as "td(alpha=0.1,coherence=false)"; empty = td, or what goes with the network;
                see `learning_for` for what the text leaves open.
            seed: the same seed gives the same weights, with one thread.
            threads: that learn at once and share the weights.
            every: games per point of the learning curve.
            evaluate_every: games between two evaluations; 0 = none.
            evaluation_games: per evaluation, in all seat orders; 0 = 100, or as many as the training began with.
            evaluation_workers: threads that evaluate during training.
            against: the opponent of evaluations in games of several seats; empty = MCTS.
        """
        if not 0 <= hours <= MAX_HOURS:
            raise UserError(f"hours of learning must be from 0 to {MAX_HOURS:,}, got {hours:g}.")
        self.hours, self.out = hours, Path(out)
        if games is None:
            games = MAX_GAMES if hours else DEFAULT_GAMES
        if games < 1 and not begins:
            raise UserError(f"games of a training must be at least 1, got {games}.")
        require_at_most(MAX_GAMES, max(games, every, evaluate_every), "games of a training")
        require_at_most(MAX_IN_MEMORY, evaluation_games, "games of an evaluation")
        require_at_most(MAX_WORKERS, max(threads, evaluation_workers), "threads")
        made = GAMES.make(game)
        network, learning = self._chosen(made, network, learning, threads)
        evaluator = EVALUATORS.make(network)
        if not isinstance(evaluator, NTuple):
            raise UserError(f'training needs an n-tuple network, got {evaluator}; write "ntuple(network=4x6)".')
        if against and not evaluate_every:
            raise UserError(
                f"the opponent {against} needs evaluations to play in; name their interval with --evaluate-every."
            )
        self.evaluating: Evaluating | None = None
        self._usual = False  # whether the games of an evaluation were left open
        if evaluate_every:
            evaluation_games, self._usual = evaluation_games or EVALUATION_GAMES, not evaluation_games
            self.evaluating = Evaluating.of(made, evaluate_every, evaluation_games, str(against))
        self.threads, self.evaluation_workers = threads, evaluation_workers
        self.games = games
        require_file(self.out, "the file of weights")
        files = tuple(Path(file) for file in begins)
        self.plan = Plan(made, evaluator, self._learning(made, learning), seed, every, files)
        self.plan.check()

    def _chosen(self, game: Game, network: str | Evaluator, learning: str, threads: int) -> tuple[str | Evaluator, str]:
        """Returns the network and the way to learn, where they were left open those of the file or of the hours."""
        if network:
            return network, learning or "td"
        if self.out.exists():
            stored = read_config(self.out)["training"]
            return stored["evaluator"], learning or stored["learning"]
        if not self.hours:
            raise UserError('training needs a network, or hours of learning for 2048; write "ntuple(network=4x6)".')
        preset = preset_for(game, self.hours, threads)
        return preset.network, learning or preset.learning

    def _learning(self, game: Game, text: str) -> Td:
        """Returns how to learn; a file that has learned what the text says to the letter is trained further so."""
        plain = td_of(text)
        if self.out.exists() and read_config(self.out)["training"]["learning"] == plain.full_text():
            return plain
        return learning_for(game, text)

    @property
    def done(self) -> int:
        """The games that the file of weights has learned from."""
        return int(read_config(self.out)["training"]["done"]) if self.out.exists() else 0

    @property
    def finished(self) -> bool:
        """Whether the file has the games, or the hours, that are asked for."""
        if not self.out.exists():
            return False
        stored = read_config(self.out)["training"]
        return bool(stored["done"] >= self.games or 0 < 3600 * self.hours <= stored.get("seconds", 0.0))

    def run(self, store: Store, *, progress: bool = True) -> TrainingResults:
        """Learns until all games are played; after a stop or a kill, the same call resumes it.

        Raises UserError where another process trains this file, or in this store.
        """
        with only_writer(self.out, f"has trained {self.plan.evaluator} on {self.plan.game}"):
            loop = TrainingLoop(self.plan, self.out, self.games)
            evaluating, before = self._evaluating(store, loop), loop.done
            with store.lock(run_id_of(defined(loop, evaluating))) as lock:
                run = TrainingRun(store, loop, evaluating)
                console = None if progress else QUIET
                total, completed, unit = self.games, before, "games"
                if self.hours:
                    total, completed, unit = math.ceil(3600 * self.hours), int(loop.seconds), "seconds"
                with run_bar(store, run.id, str(self.plan.game), total, console, unit, completed) as bar:
                    if before:
                        bar.print(f"Resuming after {before:,} games of earlier runs.")
                    self._learn(run, bar, lock)
            return TrainingResults(store, run.id, run, before)

    def _evaluating(self, store: Store, loop: TrainingLoop) -> Evaluating | None:
        """Returns how to evaluate: a training that began when few games were usual is continued so."""
        if not self.evaluating or not self._usual:
            return self.evaluating
        former = replace(self.evaluating, games=FORMER_EVALUATION_GAMES)
        began = run_id_of(defined(loop, former)) in {run.id for run in store.runs()}
        return former if began else self.evaluating

    def _learn(self, run: TrainingRun[TrainingLoop], bar: Bar, lock: Lock) -> None:
        def advance(loop: TrainingLoop, count: int) -> None:
            if self.hours:
                bar.reached(min(int(loop.seconds), bar.total), bar.total)
                bar.note(f"{loop.done:,} games, score {number(_recent_score(loop))}")
                return
            bar.advance(count)
            bar.note(f"score {number(_recent_score(loop))}")

        def show(evaluation: Evaluation) -> None:
            bar.print(f"after {evaluation.games:,} games: {evaluation} ({run.unit})")

        def save(loop: TrainingLoop, weights: Weights) -> None:
            lock.heartbeat()  # raises where another driver has taken over
            evaluations.saved(loop, weights)

        with Evaluations(run, self.evaluation_workers, show) as evaluations:
            loop = run.training
            if loop.done:  # a kill may have come between the checkpoint and what follows it
                weights = loop.weights()
                require_convergence(loop, weights)
                save(loop, weights)
            stop_every = run.evaluating.every if run.evaluating else 0
            loop.run(self.threads, advance, stop_every, save, require_convergence, limit=3600 * self.hours)
            if evaluations.waiting:
                bar.note(f"{evaluations.waiting} evaluations to finish")
            evaluations.finish()


def require_convergence(loop: TrainingLoop, weights: Weights) -> None:
    """Raises UserError if learning has diverged: steps so large that errors grow instead of shrinking."""
    game, alpha = loop.plan.game, loop.plan.learning.alpha
    if not weights.largest <= LARGEST_WEIGHT * game.max_return:
        raise NotFinite(
            f"learned values must stay within what {game} can return, got {weights.largest:.3g} after"
            f" {loop.done:,} games; {kept_by(loop.out, loop.kept, loop.done, f'with an alpha below {alpha:g}')}"
        )


def _recent_score(loop: TrainingLoop) -> float:
    """Returns the mean score of the newest games, at least half a point of the curve."""
    counts, sums, _ = loop.points.sums[-2:].sum(axis=0)
    return float(sums / max(counts, 1.0))


@dataclass(frozen=True, repr=False)
class TrainingResults(RunResults):
    """The results of a training."""

    run: TrainingRun[TrainingLoop]
    games_before: int  # that earlier runs had played

    @property
    def loop(self) -> TrainingLoop:
        return self.run.training

    @property
    def agent(self) -> Agent:
        """The greedy agent on the learned network."""
        return AGENTS.make(f"greedy(evaluator=ntuple(file={self.loop.out}))")

    def hints(self) -> list[str]:
        """Returns what to change in the learning, a sentence each: its games did not differ."""
        games, mean, variance = self.loop.points.newest(ALIKE_GAMES)
        if games < ALIKE_GAMES or variance > 0:
            return []
        return [
            f"All of the last {games:,} games scored {number(mean)}: self-play repeats itself and learns nothing new;"
            f" let it explore by an epsilon above {self.loop.plan.learning.epsilon:g}, into another file."
        ]

    def curve(self) -> pd.DataFrame:
        """Returns one row per point: games played up to it, games of the point, their mean score and its deviation."""
        return pd.DataFrame([asdict(point) for point in self.store.curves.points(self.id)])

    def evaluations(self) -> pd.DataFrame:
        """Returns one row per evaluation: games trained, value with its 95 % interval, games played."""
        return pd.DataFrame([asdict(evaluation) for evaluation in self.run.evaluations()])

    def table(self) -> pd.DataFrame:
        return self.evaluations() if self.run.evaluating else self.curve()
