"""The network: a hidden layer of rectifiers, its value for each move, a step of learning, and its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ....core.array_files import NetworkFiles
from ....core.kernel import kernel, types
from ...learning.files import GradientWeights
from ..search.tables import MOST_ROUNDS
from .inputs import Possible, Seen, num_inputs

Floats32 = npt.NDArray[np.float32]
Row = types.Array(types.float32, 1, "C")
Order = types.Array(types.int64, 1, "C")
WIDEST = 15  # cells of a window: it must lie within the walls of a field
MOST_HIDDEN, MOST_NODES = 1000, 1_000_000
KEEP_MEAN, KEEP_SQUARE, TINY = np.float32(0.9), np.float32(0.999), np.float32(1e-8)  # of Adam


@dataclass(frozen=True)
class Network:
    """What a network sees, and how large it is; it plays on boards of any size."""

    window: int  # cells per side of the square around the end of a move
    hidden: int
    rounds: int  # of the tables
    nodes: int  # of each table, 0 = it sees no tables
    start_probability: float

    @property
    def inputs(self) -> int:
        return num_inputs(self.window, self.rounds)

    @property
    def size(self) -> int:
        """Number of weights: of the hidden layer, [inputs, hidden], its bias, of the output, [hidden], its bias."""
        return self.hidden * (self.inputs + 2) + 1

    def new_weights(self, seed: int) -> Floats32:
        """Returns weights before learning: every move has the value of a draw (He et al. 2015)."""
        weights = np.zeros(self.size, np.float32)
        first = self.inputs * self.hidden
        weights[:first] = np.random.default_rng([seed, 0]).normal(0, np.sqrt(2 / self.inputs), first)
        return weights

    def settings(self, weights: Floats32) -> npt.NDArray[np.float64]:
        return weights.astype(np.float64)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def check(self) -> None:
        """Raises ValueError if there is no such network."""
        if not (1 <= self.window <= WIDEST and self.window % 2 and 1 <= self.hidden <= MOST_HIDDEN):
            raise ValueError("its network has no such layers")
        if not (1 <= self.rounds <= MOST_ROUNDS and 0 <= self.nodes <= MOST_NODES and 0 < self.start_probability <= 10):
            raise ValueError("its network has no such tables")


class Weights(GradientWeights):
    """A network and what it has learned."""

    key = "table_network"
    resumed = True
    network: Network

    @classmethod
    def shape(cls, described: Mapping[str, Any]) -> Network:
        whole = {name: int(described[name]) for name in ("window", "hidden", "rounds", "nodes")}
        network = Network(**whole, start_probability=float(described["start_probability"]))
        network.check()
        return network


Weights.files = NetworkFiles(
    "a network on probability tables",
    "that `turnier train GAME table_network` wrote",
    "train one with `turnier train GAME table_network`",
    Weights.is_one,
    Weights.check,
)


@kernel(types.float64(Row, Row, Row))
def value_of(weights, inputs, hidden):
    """The value of a move, 0 = lost to 1 = won; `hidden` gets the layer before the rectifiers."""
    size, at = hidden.size, inputs.size * hidden.size
    hidden[:] = weights[at : at + size]
    for i in range(inputs.size):
        if inputs[i] != 0:
            seen, row = inputs[i], weights[i * size : (i + 1) * size]
            for j in range(size):
                hidden[j] += seen * row[j]
    output = weights[at + 2 * size]
    for j in range(size):
        if hidden[j] > 0:
            output += hidden[j] * weights[at + size + j]
    return 1.0 / (1.0 + np.exp(-np.float64(output)))


@kernel(types.void(Row, types.int64, Seen, Possible, types.float64[::1]))
def value_moves(weights, hidden, inputs, possible, values):
    """Fills the values of the possible moves, [MOVES]; those of the others are 0."""
    layer = np.empty(hidden, np.float32)
    for action in range(values.size):
        values[action] = value_of(weights, inputs[action], layer) if possible[action] else 0.0


@kernel(types.float64(Row, Row, Row, types.int64, types.int64, Seen, Row, Order, types.int64, types.float32))
def learn_moves(weights, mean, square, hidden, updates, inputs, targets, order, batch, rate):
    """Moves the values of moves towards their targets by Adam, and returns the mean cross entropy.

    Sums are taken in one order, so the same moves give the same weights on every machine.

    Args:
        mean, square: [size] of gradients, as Adam keeps them; changed.
        hidden: size of the layer.
        updates: made before.
        inputs: [moves, inputs]
        targets: [moves] from 0 to 1.
        order: numbers of moves, in the order in which they are learned from, `batch` at once.
        rate: of learning.
    """
    layer, gradient = np.empty(hidden, np.float32), np.zeros(weights.size, np.float32)
    seen, loss = inputs.shape[1], 0.0
    at = seen * hidden
    for begin in range(0, order.size, batch):
        end = min(begin + batch, order.size)
        gradient[:] = 0
        for place in range(begin, end):
            move = order[place]
            value = value_of(weights, inputs[move], layer)
            sure = min(1.0 - 1e-6, max(1e-6, value))
            loss -= targets[move] * np.log(sure) + (1.0 - targets[move]) * np.log(1.0 - sure)
            error = np.float32((value - targets[move]) / (end - begin))
            gradient[at + 2 * hidden] += error
            for j in range(hidden):
                back = np.float32(0)
                if layer[j] > 0:
                    gradient[at + hidden + j] += error * layer[j]
                    back = error * weights[at + hidden + j]
                layer[j] = back
                gradient[at + j] += back
            for i in range(seen):
                if inputs[move, i] != 0:
                    share = inputs[move, i]
                    for j in range(hidden):
                        gradient[i * hidden + j] += share * layer[j]
        updates += 1
        one = np.float32(1)
        step = rate * np.float32(np.sqrt(1.0 - KEEP_SQUARE**updates) / (1.0 - KEEP_MEAN**updates))
        for w in range(weights.size):
            mean[w] = KEEP_MEAN * mean[w] + (one - KEEP_MEAN) * gradient[w]
            square[w] = KEEP_SQUARE * square[w] + (one - KEEP_SQUARE) * gradient[w] * gradient[w]
            weights[w] -= step * mean[w] / (np.sqrt(square[w]) + TINY)
    return loss / max(1, order.size)
