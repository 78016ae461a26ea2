"""The shape of a residual network: its layers, its weights for jax and for kernels, and its symmetries."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.array_files import NetworkFiles
from ...core.errors import UserError
from ...games.game import Game
from ...games.registry import GAMES
from ..learning.files import GradientWeights
from .kernels import HEADS, NEAR, ORIGIN, PLANES
from .tiles import LANES, NINE, TILE

Floats32 = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
MAX_WEIGHTS = 20_000_000


@dataclass(frozen=True)
class Network:
    """AlphaZero's network without batch normalisation: convolutions of three by three cells, a policy and a value.

    A first convolution, `blocks` of two whose inputs are added to their outputs, and two heads of dense layers. Source:
    Silver et al. 2018. Since the second convolution of a block begins at 0, no normalisation is needed (De and Smith
    2020, "Batch normalization biases residual blocks").
    """

    game: Game
    blocks: int
    filters: int

    def check(self) -> None:
        """Raises UserError if no such network can play the game."""
        if reason := unsuited(self.game) or self.unfit():
            raise UserError(reason)

    def unfit(self) -> str | None:
        """Returns why the network's size is not allowed, as a sentence, or None."""
        if self.blocks < 0:
            return f"blocks of residual must be at least 0, got {self.blocks}."
        if reason := uneven(self.filters):
            return reason
        if self.size > MAX_WEIGHTS:
            size = f"{MAX_WEIGHTS:,} weights, got {self.size:,}"
            return f"residual must have at most {size}; use fewer blocks or filters."
        return None

    @property
    def convolutions(self) -> list[tuple[int, int, int]]:
        """Slots, inputs and outputs of each."""
        inside = [(NINE, self.filters, self.filters)] * (2 * self.blocks)
        return [(NINE, PLANES, self.filters), *inside, (1, self.filters, LANES)]

    def shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the weights in order: for each layer one or more matrices, and a bias.

        After the convolutions come the layer of the policy and two of the value.
        """
        seen, actions, hidden = self.game.num_cells * HEADS, self.game.num_actions, self.filters
        shapes: list[tuple[int, ...]] = []
        for layer in (*self.convolutions, (seen, actions), (seen, hidden), (hidden, 1)):
            shapes += [layer, layer[-1:]]
        return shapes

    @property
    def size(self) -> int:
        """Number of weights."""
        return sum(int(np.prod(shape)) for shape in self.shapes())

    def parts(self, weights: Any) -> list[Any]:
        """Returns weights, [size], as arrays of these shapes."""
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes()]).tolist()
        starts = [0, *ends[:-1]]
        return [
            weights[start:end].reshape(shape) for start, end, shape in zip(starts, ends, self.shapes(), strict=True)
        ]

    def new_weights(self, seed: int) -> Floats32:
        """Returns weights before learning: normal, with variance 2 / inputs (He et al. 2015), and biases 0.

        Outputs and the second convolutions of blocks begin at 0: no action is preferred, and blocks change nothing.
        """
        random, shapes = np.random.default_rng([seed, 0]), self.shapes()
        second = [2 * number for number in range(2, 2 * self.blocks + 1, 2)]
        zero = {*second, len(shapes) - 6, len(shapes) - 2}
        parts = []
        for number, shape in enumerate(shapes):
            drawn = random.normal(0, np.sqrt(2 / np.prod(shape[:-1])), shape)
            parts.append((drawn * (len(shape) > 1 and number not in zero)).astype(np.float32).ravel())
        return np.concatenate(parts)

    @functools.cached_property
    def near(self) -> Ints:
        """The cells around each, [rows, NINE]; outside the board the number of rows."""
        places = {place: cell for cell, place in enumerate(map(tuple, self.game.grid().tolist()))}
        rows = -(-len(places) // TILE) * TILE
        near = np.full((rows, NINE), rows, np.int64)
        for (row, column), cell in places.items():
            around = [(row + down, column + right) for down in (-1, 0, 1) for right in (-1, 0, 1)]
            near[cell] = [places.get(place, rows) for place in around]
        return near

    def header(self) -> Ints:
        """Returns the header, see `kernels`."""
        game, near = self.game, self.near
        words = [game.num_cells, len(near), game.num_actions, self.filters, self.blocks, 0]
        assert len(words) == NEAR
        header = np.array([*words, *near.ravel().tolist()], np.int64)
        header[ORIGIN] = 2 * len(header)  # in 32-bit numbers
        return header

    def settings(self, weights: Floats32) -> npt.NDArray[np.float64]:
        """Returns header and weights in one array of 64-bit numbers, for kernels."""
        header, parts = self.header(), self.parts(weights)
        for number, (slots, inputs, outputs) in enumerate(self.convolutions):
            lanes = parts[2 * number].reshape(slots, inputs, outputs // LANES, LANES)
            parts[2 * number] = lanes.transpose(2, 0, 1, 3)
        packed = np.zeros(len(header) + (self.size + 1) // 2, np.int64)
        packed[: len(header)] = header
        behind = packed.view(np.float32)[2 * len(header) :]
        behind[: self.size] = np.concatenate([part.ravel() for part in parts])
        return packed.view(np.float64)

    @functools.cached_property
    def turned_actions(self) -> Ints:
        """Each action on each symmetric image of the board, [images, actions]; only the first image if others are
        unknown.

        Actions are identified by the cells that people click; one without cells, such as a pass, stays the same.
        """
        game, images = self.game, self.game.symmetries()
        cells = [
            frozenset(c for click in game.clicks(game.new_state(), a) for c in click) for a in range(game.num_actions)
        ]
        found = {clicked: action for action, clicked in enumerate(cells) if clicked}
        same = np.arange(game.num_actions)
        turned = []
        for image in images:
            to = np.argsort(image)  # of each cell on the turned board
            turned.append([found.get(frozenset(to[list(c)].tolist()), -1) if c else a for a, c in enumerate(cells)])
        known = all(sorted(actions) == same.tolist() for actions in turned) and len(found) > 1
        return np.array(turned if known else [same], np.int64)

    def to_json(self) -> dict[str, Any]:
        return {"game": self.game.full_text(), "blocks": self.blocks, "filters": self.filters}


def uneven(filters: int) -> str | None:
    """Returns why kernels do not support that many filters, as a sentence, or None."""
    if filters < LANES or filters % LANES:
        return f"filters of residual must be a multiple of {LANES}, got {filters}; write filters=32."
    return None


def unsuited(game: Game) -> str | None:
    """Returns why no residual network can play a game, as a sentence, or None."""
    if game.num_seats != 2 or game.has_chance or game.hidden or game.kernels.has_observe or game.in_python:
        return f"residual needs a compiled game of two seats without chance or secrets, got {game}; use ntuple."
    if game.num_cell_values != 3 or not len(game.grid()):
        return f"residual needs a grid with cells that are empty or have a stone of either seat, got {game}."
    return None


class Weights(GradientWeights):
    """A residual network and what it has learned."""

    key = "residual"
    resumed = False
    network: Network

    @classmethod
    def shape(cls, described: Mapping[str, Any]) -> Network:
        network = Network(GAMES.make(described["game"]), int(described["blocks"]), int(described["filters"]))
        network.check()
        return network


Weights.files = NetworkFiles(
    "a residual network",
    "that self-play around `residual` wrote",
    'train one with `turnier train GAME "puct(evaluator=residual)"`',
    Weights.is_one,
    Weights.check,
)
