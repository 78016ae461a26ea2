"""The loop of deep Q-learning: a move on every board, then updates from the memory, again and again.

Random numbers come from streams that are numbered by turns and by updates, and a checkpoint holds all else: what a
training learns does not depend on where it was stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turnier.agents.deep.kernels import see_many, value_many
from turnier.agents.deep.learning import LOG
from turnier.agents.deep.replay import Replay, Turn
from turnier.agents.deep.weights import Weights, load_weights
from turnier.agents.ntuple.training import Points
from turnier.core.errors import UserError
from turnier.core.kernel import compile_kernel
from turnier.runs.deep.board_set import BoardSet
from turnier.runs.deep.plan import Plan

CHECKPOINT_SECONDS = 5.0  # at least, between two checkpoints
CHECKPOINT_SHARE = 0.05  # of the time, at most, that checkpoints take
_ACTING, _LEARNING = 1, 2  # streams of random numbers of a seed

Report = Callable[["DeepLoop", int], None]
Saved = Callable[["DeepLoop", Weights], None]


class DeepLoop:
    """A training that can be stopped at any time; `out` has what the last checkpoint knew."""

    def __init__(self, plan: Plan, out: Path, games: int) -> None:
        plan.check()
        from turnier.agents.deep.gradient import Learned, update_of

        self.plan, self.out, self.games = plan, out, games
        game, learning = plan.game, plan.learning
        self.network = plan.network()
        self.header = self.network.header()
        self.points = Points(plan.every)
        self.done = self.done_before = 0  # games that have ended; and one turn earlier
        self.kept: int | None = None  # games of the checkpoint in `out`; None = there is none
        self.updates = 0
        self.boards = BoardSet(game, learning.boards, plan.seed)
        self.replay = Replay.empty(
            learning.replay // learning.boards, learning.boards, game.state_words, game.num_seats
        )
        self.learned = Learned.new(self.network.new_weights(plan.seed))
        self._stopping = False
        self.seconds, self._moves_timed = 0.0, 0  # of this process
        if out.exists():
            self._restore(load_weights(out, with_state=True))
        self._update = update_of(self.network, learning)
        for kernel in (see_many, value_many):
            compile_kernel(kernel)

    @property
    def moves(self) -> int:
        return self.replay.count * self.plan.learning.boards

    @property
    def moves_per_second(self) -> float:
        """The speed of playing and learning in this process."""
        return self._moves_timed / max(self.seconds, 1e-9)

    @property
    def finished(self) -> bool:
        return self.done >= self.games

    def weights(self) -> Weights:
        """Returns what the training knows, as a checkpoint."""
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
            "done_before": self.done_before,
            "turns": self.replay.count,
            "updates": self.updates,
        }
        return Weights(self.network, learned.weights, training, state)

    def _restore(self, stored: Weights) -> None:
        training, state = stored.training, stored.state
        for name, value in self.plan.described().items():
            if training.get(name) != value:
                raise UserError(
                    f"{self.out} was trained with {name} {training.get(name)}, got {value}; train into another file, or"
                    " with the same."
                )
        try:
            parts: dict[str, dict[str, npt.NDArray[Any]]] = {"learned": {}, "boards": {}, "replay": {}}
            for name, array in state.items():
                part, _, rest = name.partition("_")
                parts.get(part, {})[rest] = array
            self.done, self.done_before = int(training["done"]), int(training["done_before"])
            self.updates, self.kept = int(training["updates"]), self.done
            self.boards.restore(parts["boards"])
            self.replay.restore(parts["replay"], int(training["turns"]))
            self.learned = type(self.learned)(weights=stored.weights, **parts["learned"])
            self.points.sums = np.array(state["points"], np.float64).reshape(-1, 3)
            size = self.network.size
            if any(array.shape != (size,) for name, array in self.learned._asdict().items() if name != "count"):
                raise ValueError("its optimiser is that of another network")
        except (KeyError, TypeError, ValueError) as failure:
            raise UserError(
                f"a checkpoint of deep learning must be complete, got {self.out}: {failure}; restore it from a copy, or"
                " train into another file."
            ) from None

    def run(
        self,
        report: Report | None = None,
        saved: Saved | None = None,
        stop_every: int = 0,
        check: Saved | None = None,
    ) -> None:
        """Plays and learns until as many games have ended, with checkpoints on the way and one at the end.

        Ctrl-C and `stop` end it by KeyboardInterrupt, after a checkpoint.

        Args:
            report: called with the loop and the number of games just ended, after every turn.
            saved: called with the loop and what it knows at every checkpoint.
            stop_every: further checkpoints when a multiple of this number of games has ended; 0 = none.
            check: called as `saved` is, but before; where it raises, the file stays as it was.
        """
        began = last = time.perf_counter()
        took = 0.0
        while not self.finished:
            before = self.done
            self.turn()
            self._moves_timed += self.plan.learning.boards
            now = time.perf_counter()
            self.seconds += now - last
            last = now
            if report:
                report(self, self.done - before)
            due = now - began > max(CHECKPOINT_SECONDS, took / CHECKPOINT_SHARE)
            passed = stop_every and self.done // stop_every > before // stop_every
            if due or passed or self.finished or self._stopping:
                weights = self.weights()
                if check:
                    check(self, weights)
                weights.save(self.out)
                self.kept = self.done
                took = time.perf_counter() - now
                if saved:
                    saved(self, weights)
                began = last = time.perf_counter()
            if self._stopping:
                raise KeyboardInterrupt

    def stop(self) -> None:
        """Has `run` end soon, with a checkpoint."""
        self._stopping = True

    def turn(self) -> None:
        """Makes a move on every board, and the updates that are due then."""
        states = self.boards.states.copy()
        movers = self.boards.movers.astype(np.int8)
        actions = self._actions(states)
        step = self.boards.step(actions)
        self.replay.add(Turn(states, movers, actions.astype(np.int16), self._rewards(step.rewards), step.ended))
        self.done_before = self.done
        if len(step.scores):
            self.points.add(self.done, step.scores[:, :1].astype(np.float32)[:, 0])
            self.done += len(step.scores)
        learning = self.plan.learning
        ready = self.replay.count > learning.steps and self.moves >= learning.warmup
        due = (self.moves - learning.warmup) // learning.interval if ready else 0
        while self.updates < due:
            self._learn()

    def _actions(self, states: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Returns an action for each board: the best, or at random."""
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
        from turnier.agents.deep.gradient import Lesson

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
