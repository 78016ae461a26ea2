"""AlphaZero's loop: a generation of games, then the networks learn from them, again and again.

A generation is played with the networks as they were when it began, game by game from streams of their own, and learned
from in the order of its games. So neither the number of workers nor a stop changes what is learned: a checkpoint holds
all that the next generation depends on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from turnier.agents.ntuple.training import Points
from turnier.arena.match import derive_seed
from turnier.arena.workers.executor import Executor
from turnier.core.array_files import NotFinite
from turnier.runs.self_play.checkpoint import Checkpoint, load, save
from turnier.runs.self_play.games import GAMES_OF_SELF_PLAY, GameSpec, Played
from turnier.runs.self_play.model import Savable
from turnier.runs.self_play.plan import Plan
from turnier.runs.self_play.window import Window, targets_of
from turnier.runs.training_run import kept_by

CHECKPOINT_SECONDS = 2.0  # at least, between two checkpoints
CHECKPOINT_SHARE = 0.05  # of the time, at most, that checkpoints take


class SelfPlayLoop:
    """A training that can be stopped at any time; `out` has what the last checkpoint knew."""

    def __init__(self, plan: Plan, out: Path, games: int) -> None:
        plan.check()
        self.plan, self.out, self.games = plan, out, games
        self.model = plan.new_model()
        self.window = Window(plan.learning.window)
        self.points = Points(plan.every)
        self.done, self.moves = 0, 0
        self.stopping = False  # since `stop` was called
        self.kept: int | None = None  # games of the checkpoint in `out`; None = there is none
        if out.exists():
            stored = load(out, plan, self.model)
            self.done, self.moves, self.points.sums, self.window = (
                stored.done, stored.moves, stored.points, stored.window,
            )  # fmt: skip
            self.kept = self.done

    @property
    def finished(self) -> bool:
        return self.done >= self.games

    def networks(self) -> tuple[Savable | None, ...]:
        """Returns what was learned to play with, one for each of the model's `files`."""
        training = {
            **self.plan.described(),
            "evaluator": self.plan.agent.evaluator.full_text(),
            "games": self.games,
            "done": self.done,
            "moves": self.moves,
            "points": self.points.sums.tolist(),
        }
        return self.model.learned(training, self.points.curve())

    def run(
        self,
        executor: Executor,
        report: Callable[[int], object] = lambda games: None,
        learned: Callable[[SelfPlayLoop], object] = lambda loop: None,
    ) -> None:
        """Plays and learns until all games are done, with checkpoints on the way and one at the end.

        Args:
            executor: what plays.
            report: called with the number of games just played.
            learned: called after each generation, also after the last one before a stop; it may take long.
        """
        saved, took = -1e9, 0.0
        while not self.finished:
            self._learn(list(self._play(executor, report)))
            self._require_convergence()
            now, stops = time.monotonic(), self.stopping
            if self.finished or stops or now - saved > max(CHECKPOINT_SECONDS, took / CHECKPOINT_SHARE):
                checkpoint = Checkpoint(self.done, self.moves, self.points.sums, self.window)
                save(self.out, self.plan, self.model, checkpoint)
                self.kept, saved = self.done, time.monotonic()
                took = saved - now
            learned(self)
            if stops:
                raise KeyboardInterrupt

    def _require_convergence(self) -> None:
        """Raises NotFinite if learning has diverged."""
        if name := self.model.not_finite():
            raise NotFinite(
                f"what self-play learns must stay finite, got NaN or infinity in {name} after {self.done:,} games;"
                f" {kept_by(self.out, self.kept, self.done, 'with a smaller alpha, policy_alpha or rate')}"
            )

    def stop(self) -> None:
        """Has `run` end by KeyboardInterrupt, after this generation and its checkpoint."""
        self.stopping = True

    def _play(self, executor: Executor, report: Callable[[int], object]) -> Iterator[Played]:
        """Yields the games of the next generation in order."""
        networks = self.model.networks()
        game, agent, choices = self.plan.game.full_text(), self.plan.agent.full_text(), self.plan.choices()
        last = min(self.done + self.plan.learning.generation, self.games)
        seeds = {number: derive_seed("self-play", self.plan.seed, number) for number in range(self.done, last)}
        specs = [GameSpec(game, agent, choices, networks, number, seed) for number, seed in seeds.items()]
        played: dict[int, Played] = {}
        for records in executor.run(GAMES_OF_SELF_PLAY, specs):
            played |= {record.spec.number: record for record in records}
            report(len(records))
        for spec in specs:
            yield played[spec.number]

    def _learn(self, generation: list[Played]) -> None:
        """Has the networks learn from the window, which the games join."""
        learning, to_move, moves = self.plan.learning, self.plan.game.kernels.to_move, 0
        for played in generation:
            movers = np.array([to_move(state) for state in played.states])
            self.window.add(played, targets_of(played, movers, self.model.outputs, learning.found))
            moves += len(played.states)
        lessons = self.window.lessons()
        random = np.random.default_rng([self.plan.seed, self.done])
        order = random.integers(len(lessons.states), size=round(learning.reuse * moves))
        self.model.learn(lessons, order.astype(np.int64), self.done)
        scores = np.array([played.returns for played in generation], np.float32)
        self.points.add(self.done, scores[:, 0])
        self.done += len(generation)
        self.moves += moves
