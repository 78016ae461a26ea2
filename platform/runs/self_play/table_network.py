"""The loop of a network on probability tables: games against itself, from which it learns chunk by chunk.

Every game has its own stream of random numbers, and every chunk its own order of learning: a stop does not change the
result of a training.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...agents.agent import Agent
from ...agents.learning.loop import Stretch, TrainingLoop, require_same
from ...agents.learning.plan import LearningPlan
from ...agents.spe_ed.network.agent import TableNetwork, eyes_of
from ...agents.spe_ed.network.inputs import see_moves
from ...agents.spe_ed.network.learning import Outcomes, targets_of
from ...agents.spe_ed.network.weights import Floats32, Weights, learn_moves, value_moves
from ...agents.spe_ed.player import best_of
from ...agents.spe_ed.search.field import MOVES
from ...agents.spe_ed.search.tables import fill_tables
from ...arena.match import derive_seed
from ...core.errors import UserError
from ...core.kernel import compile_kernel
from ...games.game import Game

LARGEST_WEIGHT = 1e4  # weights beyond have diverged
_PLAYING, _LEARNING = 1, 2  # streams of random numbers of a seed


@dataclass(frozen=True)
class Plan(LearningPlan):
    """A network on probability tables that learns from games against itself; equal plans give the same weights."""

    name = "learning by outcomes"
    key = "network"
    foreign = ("hours", "begins", "threads")

    game: Game
    network: TableNetwork
    learning: Outcomes
    seed: int = 1
    every: int = 1000

    @property
    def learner(self) -> TableNetwork:
        return self.network

    def loop(self, out: Path, games: int, *, threads: int = 1, pool: Any = None) -> TableLoop:
        return TableLoop(self, out, games)

    def stored(self, out: Path) -> Mapping[str, Any]:
        return dict(Weights.read(out)["training"])

    def agent(self, *files: Path) -> Agent:
        return TableNetwork(file=str(files[0]))

    def check(self) -> None:
        if self.network.file:
            raise UserError(f"training needs a network without a file, got {self.network}; name the file as --out.")
        self.network.require(self.game)


@dataclass
class Turns:
    """The turns of one seat in a game."""

    inputs: list[Floats32] = field(default_factory=list)  # of the moves played
    best: list[float] = field(default_factory=list)  # values
    explored: list[bool] = field(default_factory=list)


class TableLoop(TrainingLoop[Weights]):
    """A training of a network on probability tables; see `TrainingLoop`."""

    plan: Plan

    def __init__(self, plan: Plan, out: Path, games: int) -> None:
        super().__init__(plan, out, games)
        self.cure = f"with an alpha below {plan.learning.alpha:g}"
        self.network = plan.network.new_network()
        self.eyes = eyes_of(self.network, plan.game)
        self.learned = self.network.new_weights(plan.seed)
        self.mean, self.square = np.zeros_like(self.learned), np.zeros_like(self.learned)
        self.updates = 0
        self._before = 0  # games finished one chunk earlier
        if out.exists():
            self._restore(Weights.load(out, with_state=True))
        for kernel in (fill_tables, see_moves, value_moves, learn_moves):
            compile_kernel(kernel)

    @property
    def done_before(self) -> int:
        return self._before

    def weights(self) -> Weights:
        state: dict[str, npt.NDArray[Any]] = {
            "points": self.points.sums,
            "mean": self.mean.copy(),
            "square": self.square.copy(),
        }
        counts = {"done": self.done, "done_before": self._before, "moves": self.moves, "updates": self.updates}
        return Weights(self.network, self.learned.copy(), {**self.plan.described(), **counts}, state)

    def _restore(self, stored: Weights) -> None:
        training, state = stored.training, stored.state
        require_same(self.out, training, self.plan.described())
        try:
            self.done, self._before = int(training["done"]), int(training["done_before"])
            self.moves, self.updates, self.kept = int(training["moves"]), int(training["updates"]), self.done
            self.learned, self.mean, self.square = stored.weights.copy(), state["mean"], state["square"]
            self.points.sums = np.array(state["points"], np.float64).reshape(-1, 3)
            if any(array.shape != self.learned.shape for array in (self.mean, self.square)):
                raise ValueError("its optimiser belongs to another network")
        except (KeyError, TypeError, ValueError) as failure:
            raise UserError(
                f"a checkpoint of a table_network must be complete, got {self.out}: {failure}; restore it from a copy,"
                " or train into another file."
            ) from None

    def divergence(self, weights: Weights) -> str:
        largest = float(abs(weights.weights).max())
        if largest <= LARGEST_WEIGHT:
            return ""
        return f"learned weights must stay below {LARGEST_WEIGHT:g}, got {largest:.3g}"

    def learn(self, stretch: Stretch) -> None:
        while not stretch.is_over(self):
            before = self.done
            self.chunk()
            stretch.report(self.done - before)

    def chunk(self) -> None:
        """Plays the games of a chunk, and learns from all their moves."""
        plan = self.plan
        count = min(plan.learning.chunk, self.games - self.done)
        share = self.done / max(self.games, 1)
        inputs: list[Floats32] = []
        targets: list[Floats32] = []
        scores = np.zeros(count, np.float32)
        for number in range(count):
            seats, returns = self.play(self.done + number, plan.learning.exploration(share))
            scores[number] = returns[0]
            for turns, points in zip(seats, returns, strict=True):
                best, explored = np.array(turns.best, np.float32), np.array(turns.explored)
                inputs += turns.inputs
                targets.append(targets_of(best, explored, (float(points) + 1) / 2, plan.learning.trace))
        self._learn(np.array(inputs), np.concatenate(targets), np.float32(plan.learning.rate(share)))
        self.points.add(self.done, scores)
        self._before, self.done = self.done, self.done + count
        self.moves += len(inputs)

    def play(self, number: int, epsilon: float) -> tuple[list[Turns], npt.NDArray[np.float64]]:
        """Plays a game, and returns the turns of each seat and the returns."""
        plan, values = self.plan, np.zeros(MOVES)
        random = np.random.default_rng([plan.seed, _PLAYING, number])
        position = plan.game.start(derive_seed("table_network", plan.seed, number))
        seats = [Turns() for _ in range(plan.game.num_seats)]
        while not position.over:
            seat = position.to_move
            sight = self.eyes.look(position.view(seat), seat)
            value_moves(self.learned, self.network.hidden, sight.inputs, sight.possible, values)
            action, explores = best_of(values, sight.possible), random.random() < epsilon
            best = values[action]
            if explores and sight.possible.any():
                action = int(random.choice(np.flatnonzero(sight.possible)))
            if sight.possible.any():  # nothing is learned from a seat that is out whatever it does
                seats[seat].inputs.append(sight.inputs[action].copy())
                seats[seat].best.append(float(best))
                seats[seat].explored.append(bool(explores))
            position = position.stepped(action)
        return seats, position.returns

    def _learn(self, inputs: Floats32, targets: Floats32, rate: np.float32) -> None:
        learning = self.plan.learning
        random = np.random.default_rng([self.plan.seed, _LEARNING, self.done])
        order = np.concatenate([random.permutation(len(targets)) for _ in range(learning.passes)])
        arrays = (self.learned, self.mean, self.square, self.network.hidden, self.updates, inputs, targets)
        learn_moves(*arrays, order, learning.batch, rate)
        self.updates += -(-len(order) // learning.batch)
