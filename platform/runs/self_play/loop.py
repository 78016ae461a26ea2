"""AlphaZero's loop with n-tuple networks: a generation of games, then both networks learn, again and again.

A generation is played with the networks as they were when it began, game by game from streams of their own, and learned
from in the order of its games. So neither the number of workers nor a stop changes what is learned: a checkpoint holds
all that the next generation depends on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from turnier.agents.ntuple.layout import Floats32, new_table
from turnier.agents.ntuple.network_kernels import AT_END
from turnier.agents.ntuple.training import Points
from turnier.agents.ntuple.weights import Room, Weights, evaluator_weights, touched_entries
from turnier.agents.puct.learning_kernels import learn_positions
from turnier.arena.match import derive_seed
from turnier.arena.workers.executor import Executor
from turnier.core.kernel import compile_kernel
from turnier.runs.self_play.checkpoint import Checkpoint, Entries, load, save
from turnier.runs.self_play.games import GAMES_OF_SELF_PLAY, GameSpec, Networks, Played
from turnier.runs.self_play.plan import Plan
from turnier.runs.self_play.window import Window, targets_of

CHECKPOINT_SECONDS = 2.0  # at least, between two checkpoints
CHECKPOINT_SHARE = 0.05  # of the time, at most, that checkpoints take


class SelfPlayLoop:
    """A training that can be stopped at any time; `out` has what the last checkpoint knew."""

    def __init__(self, plan: Plan, out: Path, games: int) -> None:
        plan.check()
        self.plan, self.out, self.games = plan, out, games
        self.network = plan.network()
        self.layout = self.network.layout(plan.learning.coherence)
        self.words = self.network.words(self.layout)
        self.words[AT_END] = 1
        self.values = new_table(self.layout.size)
        self.policy = new_table(self.layout.size if plan.learning.policy else 0)
        self.window = Window(plan.learning.window)
        self.points = Points(plan.every)
        self.done, self.moves = 0, 0
        self.stopping = False  # since `stop` was called
        if out.exists():
            self._restore(load(out, plan, self.network))
        compile_kernel(learn_positions)

    def _restore(self, stored: Checkpoint) -> None:
        self.done, self.moves = stored.done, stored.moves
        self.points.sums = stored.points
        self.window = stored.window
        for table, entries in ((self.values, stored.values), (self.policy, stored.policy)):
            for i, column in enumerate(self.layout.columns(table) if table.size else ()):
                column[entries.places] = entries.entries[:, i]

    def _checkpoint(self) -> Checkpoint:
        values, policy = self._entries(self.values), self._entries(self.policy)
        return Checkpoint(self.done, self.moves, self.points.sums, values, policy, self.window)

    def _entries(self, table: Floats32) -> Entries:
        if not table.size:
            return Entries.none(self.plan.learning.coherence)
        return Entries(*touched_entries(self.layout, table, 0.0, Room.of(self.layout)))

    @property
    def finished(self) -> bool:
        return self.done >= self.games

    def networks(self) -> tuple[Weights, Weights | None]:
        """Returns what was learned as weights to play with: the values, and the policy if there is one."""
        described = self.plan.described()
        training = {
            **described,
            "evaluator": self.plan.agent.evaluator.full_text(),
            "games": self.games,
            "done": self.done,
            "moves": self.moves,
            "points": self.points.sums.tolist(),
        }

        def weights(table: Floats32, **more: bool) -> Weights:
            places, entries = self._entries(table)
            return Weights(self.network, 0.0, places, entries[:, :1].copy(), {**training, **more}, self.points.curve())

        return weights(self.values), weights(self.policy, policy=True) if self.policy.size else None

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
            learned: called after each generation; it may take long.
        """
        saved, took = -1e9, 0.0
        while not self.finished:
            self._learn(list(self._play(executor, report)))
            now = time.monotonic()
            if self.finished or self.stopping or now - saved > max(CHECKPOINT_SECONDS, took / CHECKPOINT_SHARE):
                save(self.out, self.plan, self.network, self._checkpoint())
                saved = time.monotonic()
                took = saved - now
            if self.stopping:
                raise KeyboardInterrupt
            learned(self)

    def stop(self) -> None:
        """Has `run` end by KeyboardInterrupt, after this generation and its checkpoint."""
        self.stopping = True

    def _play(self, executor: Executor, report: Callable[[int], object]) -> Iterator[Played]:
        """Yields the games of the next generation in order."""
        values, policy = self.networks()
        networks = Networks(
            evaluator_weights(self.network, values),
            evaluator_weights(self.network, policy) if policy else np.empty(0),
        )
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
        """Has both networks learn from the window, which the games join."""
        game, learning = self.plan.game, self.plan.learning
        to_move, moves = game.kernels.to_move, 0
        for played in generation:
            movers = np.array([to_move(state) for state in played.states])
            self.window.add(played, targets_of(played, movers, self.network.outputs, learning.found))
            moves += len(played.states)
        lessons = self.window.lessons()
        random = np.random.default_rng([self.plan.seed, self.done])
        order = random.integers(len(lessons.states), size=round(learning.reuse * moves))
        learn_positions(
            game.kernels, self.words, self.values, self.policy, self.plan.rates(), *lessons, order.astype(np.int64)
        )
        scores = np.array([played.returns for played in generation], np.float32)
        self.points.add(self.done, scores[:, 0])
        self.done += len(generation)
        self.moves += moves
