"""A value and a policy as the heads of one residual network, which learns by gradient in jax."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...agents.puct.agent import Puct
from ...agents.puct.self_play import SelfPlay
from ...agents.residual.evaluator import Residual
from ...agents.residual.kernels import see_lessons
from ...agents.residual.network import Network, Weights
from ...core.errors import require_extra
from ...core.kernel import compile_kernel
from ...games.game import Game
from .games import Networks
from .model import Model
from .window import Arrays, Lessons

_STATE = ("weights", "count", "mean", "square")  # of gradient.Learned


class ResidualModel(Model):
    files = ("network",)
    names = tuple(f"learned_{name}" for name in _STATE)
    foreign = ("alpha", "policy_alpha", "coherence", "policy")
    outputs = 1

    def __init__(self, game: Game, agent: Puct, learning: SelfPlay, seed: int) -> None:
        from ...agents.residual.gradient import Learned

        self.game, self.learning, self.seed = game, learning, seed
        self.network = _network(game, agent)
        self.state = Learned.new(self.network.new_weights(seed))
        compile_kernel(see_lessons)

    @classmethod
    def check(cls, game: Game, agent: Puct) -> None:
        _network(game, agent).check()
        require_extra("training a residual network", "deep", "jax", "optax")

    @classmethod
    def agent(cls, agent: Puct, learning: SelfPlay, files: Sequence[Path]) -> Puct:
        return agent.replace(evaluator=Residual(file=str(files[0])))

    def described(self) -> dict[str, Any]:
        return self.network.to_json()

    def networks(self) -> Networks:
        return Networks(self.network.settings(self.state.weights), np.empty(0))

    def learn(self, lessons: Lessons, order: npt.NDArray[np.int64], done: int) -> None:
        """Learns in batches of one size; the last is filled up with positions of the first."""
        from ...agents.residual.gradient import Lesson, update_of

        learning, update, state = self.learning, update_of(self.network), self.state
        batches = -(-len(order) // learning.batch)
        order = np.resize(order, batches * learning.batch)
        arrays = self._lesson(lessons, order, np.random.default_rng([self.seed, done, 1]))
        for first in range(0, len(order), learning.batch):
            batch = Lesson(*(array[first : first + learning.batch] for array in arrays))
            state, _ = update(state, np.float32(learning.rate), np.float32(learning.decay), batch)
        self.state = state.to_numpy()

    def _lesson(
        self, lessons: Lessons, order: npt.NDArray[np.int64], random: np.random.Generator
    ) -> tuple[npt.NDArray[Any], ...]:
        """Returns positions, each turned to a randomly drawn symmetric image, and their targets."""
        game, n, turned = self.game, len(order), self.network.turned_actions
        seen, second = np.empty((n, game.num_cells), np.int8), np.empty(n, np.int8)
        legal, wanted = np.empty((n, game.num_actions), np.int8), np.empty((n, game.num_actions), np.float32)
        images = game.symmetries()[: len(turned)].copy()
        see_lessons(
            game.kernels, self.network.header(), lessons.states, lessons.ends, lessons.policies, order,
            random.integers(len(turned), size=n), images, turned, seen, second, legal, wanted,
        )  # fmt: skip
        values = lessons.targets[order, 0] / np.float32(game.max_return)  # for the first seat
        return seen, second, np.where(second == 0, values, -values), legal, wanted

    def arrays(self) -> Arrays:
        return {f"learned_{name}": getattr(self.state, name) for name in _STATE}

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        known = self.arrays()
        for name, array in arrays.items():
            if array.dtype != known[name].dtype or array.shape != known[name].shape:
                raise ValueError("its weights do not fit its network")
        self.state = type(self.state)(*(arrays[name] for name in self.names))

    def learned(self, training: Mapping[str, Any], curve: npt.NDArray[np.float64]) -> tuple[Weights]:
        return (Weights(self.network, self.state.weights, training),)


def _network(game: Game, agent: Puct) -> Network:
    assert isinstance(agent.evaluator, Residual)
    return agent.evaluator.network_for(game)
