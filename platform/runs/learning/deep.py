"""The loop of deep Q-learning: a move on every board, then updates from the memory, again and again.

Random numbers come from streams numbered by turns and updates, and a checkpoint holds everything else: a stop does not
change the result of a training.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...agents.agent import Agent
from ...agents.deep.agent import Dqn
from ...agents.deep.kernels import see_many, value_many
from ...agents.deep.learning import LOG, DeepQ
from ...agents.deep.network import Network, Weights
from ...agents.deep.replay import Replay, Turn
from ...agents.learning.loop import Stretch, TrainingLoop, require_same
from ...agents.learning.plan import LearningPlan
from ...arena.match import derive_seed
from ...core.errors import UserError, require_extra
from ...core.kernel import compile_kernel
from ...core.packing import pack
from ...core.rng import streams_of
from ...games.game import Game
from ...games.in_step.boards import BEGIN, KEEP, STEP, advance, new_boards, pack_boards

_KEPT = ("states", "rngs", "movers", "returns", "steps", "masks")  # the other arrays describe the latest step


class Step(NamedTuple):
    """The outcome of one move on every board."""

    rewards: npt.NDArray[np.float64]  # [boards, seats]
    ended: npt.NDArray[np.bool_]  # [boards]
    scores: npt.NDArray[np.float64]  # [ended games, seats], in the order of the boards


class BoardSet:
    """n boards on which games are in play, each with its own stream of chance; when one ends, the next begins."""

    def __init__(self, game: Game, n: int, seed: int) -> None:
        self.game = game
        self.boards = new_boards(game, n, cells=False)
        self._packed = pack(pack_boards, game.kernels, self.boards)
        self._idle = np.zeros(n, np.int64)
        self.boards.rngs[:] = streams_of([derive_seed("deep", seed, board) for board in range(n)], 1)[:, 0]
        advance(self._packed, self._idle, np.full(n, BEGIN, np.int8))

    @property
    def states(self) -> npt.NDArray[np.int64]:
        """The states, [boards, words]; a step changes them in place."""
        states: npt.NDArray[np.int64] = self.boards.states
        return states

    @property
    def movers(self) -> npt.NDArray[np.int64]:
        movers: npt.NDArray[np.int64] = self.boards.movers
        return movers

    def step(self, actions: npt.NDArray[np.int64]) -> Step:
        """Plays a legal action on every board, and begins a new game on boards whose game has ended."""
        boards = self.boards
        advance(self._packed, actions, np.full(len(actions), STEP, np.int8))
        ended = boards.terminated.copy()
        step = Step(boards.rewards.copy(), ended, boards.returns[ended])
        if ended.any():
            advance(self._packed, self._idle, np.where(ended, BEGIN, KEEP).astype(np.int8))
        return step

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Returns the arrays for `restore`."""
        return {name: getattr(self.boards, name) for name in _KEPT}

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restores the boards; raises ValueError if the arrays do not fit them."""
        for name in _KEPT:
            own, stored = getattr(self.boards, name), arrays[name]
            if stored.dtype != own.dtype or stored.shape != own.shape:
                raise ValueError(f"its boards have other {name}")
            own[:] = stored


LARGEST_VALUE = 1e6  # rewards: values beyond have diverged
_ACTING, _LEARNING = 1, 2  # streams of random numbers of a seed


@dataclass(frozen=True)
class Plan(LearningPlan):
    """A deep network that learns from a memory of moves; equal plans give the same weights on the same machine."""

    name = "learning by deep_q"
    key = "network"
    foreign = ("hours", "begins", "threads")

    game: Game
    layers: Dqn
    learning: DeepQ
    seed: int = 1
    every: int = 1000

    @property
    def learner(self) -> Dqn:
        return self.layers

    def loop(self, out: Path, games: int, *, threads: int = 1, pool: Any = None) -> DeepLoop:
        return DeepLoop(self, out, games)

    def stored(self, out: Path) -> Mapping[str, Any]:
        return dict(Weights.read(out)["training"])

    def agent(self, *files: Path) -> Agent:
        return Dqn(file=str(files[0]))

    def check(self) -> None:
        if self.layers.file:
            raise UserError(f"training needs a network without a file, got {self.layers}; name the file as --out.")
        self.network().check()
        require_extra("training a deep network", "deep", "jax", "optax")

    def network(self) -> Network:
        return self.layers.network_for(self.game, self.learning.unit, self.learning.reward == LOG)


class DeepLoop(TrainingLoop[Weights]):
    """A training of a deep network; see `TrainingLoop`."""

    plan: Plan

    def __init__(self, plan: Plan, out: Path, games: int) -> None:
        super().__init__(plan, out, games)
        from ...agents.deep.gradient import Learned, update_of

        game, learning = plan.game, plan.learning
        self.cure = f"with an alpha below {learning.alpha:g}"
        self.network = plan.network()
        self.header = self.network.header()
        self._before = 0  # games finished one turn earlier
        self.updates = 0
        self.boards = BoardSet(game, learning.boards, plan.seed)
        self.replay = Replay.empty(
            learning.replay // learning.boards, learning.boards, game.state_words, game.num_seats
        )
        self.learned = Learned.new(self.network.new_weights(plan.seed))
        if out.exists():
            self._restore(Weights.load(out, with_state=True))
        self._update = update_of(self.network, learning)
        for kernel in (see_many, value_many):
            compile_kernel(kernel)

    @property
    def done_before(self) -> int:
        return self._before

    def weights(self) -> Weights:
        learned = self.learned.to_numpy()
        state: dict[str, npt.NDArray[Any]] = {
            "points": self.points.sums,
            **{f"learned_{name}": array for name, array in learned._asdict().items() if name != "weights"},
            **{f"boards_{name}": array for name, array in self.boards.arrays().items()},
            **{f"replay_{name}": array for name, array in self.replay.arrays().items()},
        }
        training = {
            **self.plan.described(),
            "done": self.done,
            "done_before": self._before,
            "turns": self.replay.count,
            "updates": self.updates,
        }
        return Weights(self.network, learned.weights, training, state)

    def _restore(self, stored: Weights) -> None:
        training, state = stored.training, stored.state
        require_same(self.out, training, self.plan.described())
        try:
            parts: dict[str, dict[str, npt.NDArray[Any]]] = {"learned": {}, "boards": {}, "replay": {}}
            for name, array in state.items():
                part, _, rest = name.partition("_")
                parts.get(part, {})[rest] = array
            self.done, self._before = int(training["done"]), int(training["done_before"])
            self.updates, self.kept = int(training["updates"]), self.done
            self.boards.restore(parts["boards"])
            self.replay.restore(parts["replay"], int(training["turns"]))
            self.moves = self.replay.count * self.plan.learning.boards
            self.learned = type(self.learned)(weights=stored.weights, **parts["learned"])
            self.points.sums = np.array(state["points"], np.float64).reshape(-1, 3)
            size = self.network.size
            if any(array.shape != (size,) for name, array in self.learned._asdict().items() if name != "count"):
                raise ValueError("its optimiser belongs to another network")
        except (KeyError, TypeError, ValueError) as failure:
            raise UserError(
                f"a checkpoint of deep learning must be complete, got {self.out}: {failure}; restore it from a copy, or"
                " train into another file."
            ) from None

    def learn(self, stretch: Stretch) -> None:
        while not stretch.is_over(self):
            before = self.done
            self.turn()
            if self.done > before:
                stretch.report(self.done - before)

    def divergence(self, weights: Weights) -> str:
        largest = float(abs(weights.weights).max())
        if largest <= LARGEST_VALUE:
            return ""
        return f"learned weights must stay below {LARGEST_VALUE:g}, got {largest:.3g}"

    def turn(self) -> None:
        """Makes a move on every board, then the updates that are due."""
        states = self.boards.states.copy()
        movers = self.boards.movers.astype(np.int8)
        actions = self._actions(states)
        step = self.boards.step(actions)
        self.replay.add(Turn(states, movers, actions.astype(np.int16), self._rewards(step.rewards), step.ended))
        self._before, self.moves = self.done, self.replay.count * self.plan.learning.boards
        if len(step.scores):
            self.points.add(self.done, step.scores[:, :1].astype(np.float32)[:, 0])
            self.done += len(step.scores)
        learning = self.plan.learning
        ready = self.replay.count > learning.steps and self.moves >= learning.warmup
        due = (self.moves - learning.warmup) // learning.interval if ready else 0
        while self.updates < due:
            self._learn()

    def _actions(self, states: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Returns an action for each board: the best or a random one."""
        learning, game = self.plan.learning, self.plan.game
        values = np.empty((len(states), game.num_actions))
        value_many(game.kernels, self.header, np.asarray(self.learned.weights), states, values)
        random = np.random.default_rng([self.plan.seed, _ACTING, self.replay.count])
        chance, order = random.random(len(states)), random.random(values.shape)
        drawn = np.where(np.isfinite(values), order, -1.0).argmax(axis=1)
        explores = chance < learning.exploration(self.moves)
        return np.asarray(np.where(explores, drawn, values.argmax(axis=1)), np.int64)

    def _rewards(self, points: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
        learning = self.plan.learning
        if learning.reward == LOG:
            points = np.sign(points) * np.log2(1 + np.abs(points))
        return (points / learning.unit).astype(np.float32)

    def _learn(self) -> None:
        """Makes an update."""
        from ...agents.deep.gradient import Lesson

        learning, network = self.plan.learning, self.network
        random = np.random.default_rng([self.plan.seed, _LEARNING, self.updates])
        moves = self.replay.sample(random, learning.batch, learning.steps, learning.discount)
        n, views = learning.batch, network.views
        states = np.concatenate([moves.states, moves.next_states])
        inputs, images = np.empty((2 * n, views * network.places), np.int8), np.empty(2 * n, np.int64)
        gains, masks = (np.empty((2 * n, self.plan.game.num_actions), kind) for kind in (np.float32, np.int8))
        see_many(self.plan.game.kernels, self.header, states, inputs, gains, masks, images)
        seen, rows = inputs.reshape(2 * n, views, network.places), np.arange(n)
        made = network.action_images[images[:n], moves.actions]
        view, output = (made, np.zeros_like(made)) if network.each else (np.zeros_like(made), made)
        lesson = Lesson(
            seen[rows, view][:, None], gains[rows, view][:, None], output, moves.rewards, moves.factors,
            seen[n:], gains[n:, :views], masks[n:],
        )  # fmt: skip
        rate = np.float32(learning.rate(self.done, self.games))
        self.learned, _ = self._update(self.learned, rate, lesson)
        self.updates += 1
        if self.updates % learning.target == 0:
            self.learned = self.learned._replace(target=self.learned.weights)
