"""Training: a player learns a game, into a file; its curve and evaluations go into a store."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..arena.workers.where import Where
from ..core.errors import MAX_GAMES, UserError
from ..core.number_text import number
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

if TYPE_CHECKING:
    from ..agents.learning.loop import TrainingLoop
    from ..games.game import Game
    from ..results.store.store import Run, Store
    from .bar import Bar
    from .stored.training import TrainingResults

DEFAULT_GAMES = 10_000
MAX_HOURS = 100_000  # eleven years


class Training(Plan["TrainingResults"]):
    """Train a network by games against itself.

    The weights go into a file; the learning curve and the games of evaluations go into the store. In evaluations, the
    agent plays with the current weights, alone or against another agent. Repeat the command to resume a stopped
    training.

    An n-tuple network learns by temporal differences (td), in threads that share its weights; the greedy agent plays
    with it. With dqn (the extra `deep`), a deep network learns from a memory of moves, with table_network one of spe_ed
    from the outcomes of games. The file holds checkpoints and can be played with: dqn(file=FILE).

    With puct, the search plays with the current networks on all workers, and they learn from its results (AlphaZero's
    loop). The file holds checkpoints; FILE.values.npz and FILE.policy.npz, written beside it, are for playing. Each
    evaluated checkpoint also plays the best earlier one, and all are rated. With the evaluator residual (the extra
    `deep`), a deep network learns both values and policy, and FILE.network.npz is for playing.

    \b
    Examples:
      turnier train 2048 "ntuple(network=4x6)" --games 10000 --out weights.npz
      turnier train 2048 "ntuple(network=4x6)" --games 10000 --out w.npz --evaluate-every 2000
      turnier train tictactoe ntuple --games 20000 --out t.npz --evaluate-every 5000 --against random
      turnier train yavalath "ntuple(tuples=100,length=7)" --games 25000 --out y.npz --evaluate-every 5000 \\
        --against "mcts(iterations=10000)"
      turnier train 2048 "ntuple(network=4x6)" --games 10000 --out w.npz --evaluate-every 2000 --repeats 5
      turnier train 2048 --hours 2 --threads 2 --out strong.npz
      turnier train 2048 "ntuple(network=4x6)" --begins a.npz --begins b.npz --games 0 --out mean.npz
      turnier train "yavalath(size=7)" --begins y5.npz --games 5000 --out y7.npz
      turnier train tictactoe "puct(iterations=30,selection=gumbel,evaluator=ntuple)" --games 2000 --out z.npz \\
        --evaluate-every 1000 --against random
    """

    kind = "training"
    lasting = "which was evaluated by them; delete it and start again"

    def __init__(
        self,
        game: GameOption,
        network: NetworkOption = "",
        *,
        out: Annotated[str | Path, Option("file for the weights; an existing one is trained further")],
        games: TrainGamesOption = None,
        hours: Annotated[
            float,
            Option(
                "hours of learning in total, including earlier runs; 0 = no limit",
                low=0,
                high=MAX_HOURS,
                more=True,
            ),
        ] = 0.0,
        begins: Annotated[
            Sequence[str | Path],
            Option("begin with the weights of this network, of this or another board; repeat for the mean of several"),
        ] = (),
        learning: LearningOption = "",
        seed: Annotated[
            int, Option("same seed, same weights, with one thread; in self-play with any workers", low=0)
        ] = 1,
        threads: LearningThreadsOption = 1,
        every: EveryOption = 1000,
        evaluate_every: EvaluateEveryOption = 0,
        against: AgainstOption = "",
        evaluation_games: EvaluationGamesOption = 100,
        evaluation_workers: EvaluationWorkersOption = 1,
    ) -> None:
        from ..core.outputs import require_file
        from ..games.registry import GAMES
        from .learning.evaluations import Evaluating
        from .learning.ways import learning_plan

        self.game: Game = GAMES.make(game)
        self.out, self.hours, self.threads, self.evaluation_workers = Path(out), hours, threads, evaluation_workers
        self.games = (MAX_GAMES if hours else DEFAULT_GAMES) if games is None else games
        if self.games < 1 and not begins:
            raise UserError(f"games of a training must be at least 1, got {games}.")
        if against and not evaluate_every:
            raise UserError(f"the opponent {against} plays in evaluations only; give their interval, evaluate_every.")
        require_file(self.out, "the file of weights")
        files = [Path(file) for file in begins]
        self.plan = learning_plan(
            self.game, network, learning, seed, every, out=self.out, begins=files, hours=hours, threads=threads
        )
        for name in self.plan.foreign:
            if self.options[name] != self.declared[name].default:
                raise UserError(f"{self.plan.name} takes no {name}; leave it out.")
        self.plan.check()
        self.evaluating: Evaluating | None = None
        if evaluate_every:
            self.evaluating = Evaluating.of(self.game, evaluate_every, evaluation_games, str(against))
        self._loop: TrainingLoop[Any] | None = None  # once it has begun

    @property
    def settings(self) -> dict[str, Any]:
        """All options, including values that were left open."""
        chosen = {
            "network": self.plan.learner.full_text(),
            "learning": self.plan.learning.full_text(),
            "out": str(self.out),
            "begins": [str(file) for file in self.options["begins"]],
        }
        return {name: chosen.get(name, value) for name, value in super().settings.items()}

    @property
    def definition(self) -> dict[str, Any]:
        """The game, the learner, the method, the file, and the evaluations."""
        return self.plan.described() | {"out": str(self.out)} | (asdict(self.evaluating) if self.evaluating else {})

    @property
    def run_id(self) -> str:
        return id_of(self.definition)

    @classmethod
    def options_of(cls, run: Run) -> dict[str, Any]:
        """Returns the options given by a stored definition, which does not always have the points of the curve."""
        from .learning.ways import learner_of

        stored = run.definition
        options = {name: stored[name] for name in ("game", "out", "learning", "seed")}
        options["network"] = learner_of(stored)
        if "against" not in stored:
            return options | {"every": stored["every"]}
        evaluating = {"evaluate_every": stored["every"], "evaluation_games": stored["games"]}
        return options | evaluating | {"against": stored["against"]}

    @property
    def total(self) -> int:
        """Games, or seconds of a training that is limited by time."""
        return math.ceil(3600 * self.hours) if self.hours else self.games

    @property
    def unit(self) -> str:
        return "seconds" if self.hours else "games"

    @property
    def done(self) -> int:
        """The number of games that the last checkpoint has learned from."""
        return int(self.plan.stored(self.out)["done"]) if self.out.exists() else 0

    @property
    def finished(self) -> bool:
        """Whether the file has the requested games or hours."""
        if not self.out.exists():
            return False
        stored = self.plan.stored(self.out)
        return bool(stored["done"] >= self.games or 0 < 3600 * self.hours <= stored.get("seconds", 0.0))

    @property
    def kept(self) -> str:
        """Describes the current content of the file."""
        return f"{self.out} has {self.done:,} games" if self.out.exists() else f"{self.out} is not written yet"

    def notices(self, store: Store) -> list[str]:
        """Returns a sentence on the option that resumes a finished training."""
        more = "--hours" if self.hours else "--games"
        return [f"{self.kept} already; resume with more {more}."] if self.finished else []

    def stop(self) -> bool:
        """Makes `run` end soon with KeyboardInterrupt after a checkpoint; returns False if nothing learns."""
        return self._loop is not None and self._loop.stop()

    def placed(self, where: Where) -> Where:
        """Returns the place where self-play with search plays; other methods play in threads of their own."""
        if self.plan.rated:
            return where
        if where not in (Where(), Where("serial")):
            raise UserError(
                f"{self.plan.name} takes no executor and no workers, as it plays in threads of its own; leave them out."
            )
        return Where("serial")

    def play(self, run: Playing) -> None:
        """Continues the training of the file, with its evaluations.

        Raises UserError if another process trains this file or this run, or if learning has diverged.
        """
        from ..core.outputs import only_writer
        from .learning.evaluations import Evaluations

        every = self.evaluating.every if self.evaluating else 0
        with only_writer(self.out, f"has trained {self.plan.learner} on {self.game}"), run.store.lock(run.id) as lock:
            loop = self._loop = self.plan.loop(self.out, self.games, threads=self.threads, pool=run.pool)
            self._show_before(loop, run.bar)
            with Evaluations(run, loop, self.evaluating, self.evaluation_workers) as evaluations:

                def saved(weights: Any) -> None:
                    lock.heartbeat()  # raises if another driver has taken over
                    evaluations.saved(weights)

                if self.plan.rated and not loop.done:  # others are rated by the untrained one
                    saved(loop.weights())
                loop.run(self._reporting(loop, run.bar), saved, every=every, limit=3600 * self.hours)
                self._show_hours(loop, run.bar)  # which may have ended between two reports
                evaluations.finish()
            if (files := self.plan.learned(self.out)) != (self.out,):
                self.plan.save(loop, loop.weights(), files)
            if loop.learning_seconds:
                run.bar.print(f"{loop.moves:,} moves, {loop.moves_per_second:,.0f} moves/s")

    def _show_before(self, loop: TrainingLoop[Any], bar: Bar) -> None:
        """Starts the bar with the progress of earlier commands."""
        self._show_hours(loop, bar)
        if loop.done and not self.hours:
            bar.skip(min(loop.done, bar.total))

    def _show_hours(self, loop: TrainingLoop[Any], bar: Bar) -> None:
        if self.hours:
            bar.reached(min(int(loop.seconds), bar.total), bar.total)

    def _reporting(self, loop: TrainingLoop[Any], bar: Bar) -> Callable[[int], None]:
        def report(games: int) -> None:
            score = f"score {number(loop.points.newest(max(1, self.plan.every // 2))[1])}"
            self._show_hours(loop, bar)
            if self.hours:
                bar.note(f"{loop.done:,} games, {score}")
            else:
                bar.advance(min(games, bar.total - bar.done))
                bar.note(score)

        return report

    @classmethod
    def reopened(cls, store: Store, run: Run) -> TrainingResults:
        """Returns the results of a stored training, from the store alone."""
        from .stored.training import TrainingResults

        return TrainingResults(store, run.id)


def id_of(definition: Mapping[str, Any]) -> str:
    """Returns the id of the training with a definition."""
    from ..arena.match import derive_seed

    return f"{Training.kind}:{derive_seed(json.dumps(definition, sort_keys=True)):016x}"


def numbered(out: Path, seed: int) -> Path:
    """Returns the file of one of several trainings, by its seed."""
    return out.with_name(f"{out.stem}-{seed}{out.suffix}")
