"""The shape of a deep network: its inputs, its layers, and its form for compiled code."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.array_files import NetworkFiles
from ...core.errors import UserError
from ...games.game import Game
from ...games.registry import GAMES
from ...games.twenty48.rules import PENDING
from ..learning.files import GradientWeights
from .kernels import NOTHING, ORIGIN, SIZES, UNIT

Floats32 = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
BOARD, AFTER, TWO, EACH = "board", "after", "two", "each"  # the inputs
INPUTS = (EACH, BOARD, AFTER, TWO)
MAX_WEIGHTS = 50_000_000
_TILES_2048 = 16  # kinds of cells: empty, and tiles up to 32,768; larger ones count as that


@dataclass(frozen=True)
class Network:
    """Dense layers with rectifiers over one-hot boards.

    They have one output per action, or two streams (duelling); or they value the board after each action separately,
    and its immediate reward is added.
    """

    game: Game
    layers: tuple[int, ...]  # sizes of the hidden layers
    input: str
    dueling: bool
    unit: float  # points, or their logarithm, that give a reward of 1
    log: bool  # whether rewards are logarithms of points

    def check(self) -> None:
        """Raises UserError if no such network can play the game."""
        game = self.game
        if game.hidden or game.kernels.has_observe:
            raise UserError(f"dqn needs a game without hidden information, got {game}; choose another.")
        if game.in_python or not game.num_cells or game.num_seats > 2:
            raise UserError(f"dqn needs a compiled game with a board and at most two seats, got {game}; use ntuple.")
        if game.num_seats == 2 and game.num_cell_values != 3:
            raise UserError(
                f"dqn needs cells with three values (empty, own, the other's) in games of two seats, got {game} with"
                f" {game.num_cell_values}; use ntuple."
            )
        if game.has_chance and game.name != "2048" and self.input == TWO:
            raise UserError(f"input=two needs a game without chance, got {game}; use input=after.")
        if self.size > MAX_WEIGHTS:
            raise UserError(f"dqn must have at most {MAX_WEIGHTS:,} weights, got {self.size:,}; use smaller layers.")

    @property
    def kinds(self) -> int:
        """Number of cell values that are distinguished."""
        return _TILES_2048 if self.game.name == "2048" else self.game.num_cell_values

    @property
    def each(self) -> bool:
        """Whether each action is valued separately."""
        return self.input == EACH

    @property
    def views(self) -> int:
        """Number of looks of the layers at a state: one, or one for each action."""
        return self.game.num_actions if self.each else 1

    @property
    def boards(self) -> int:
        """Number of boards that the layers see at once."""
        actions = self.game.num_actions
        return {EACH: 1, BOARD: 1, AFTER: 1 + actions, TWO: 1 + actions + actions**2}[self.input]

    @property
    def places(self) -> int:
        """Number of cells that the layers see at once."""
        return self.game.num_cells * self.boards

    @property
    def streams(self) -> int:
        """Number of matrices that give the outputs."""
        return 2 if self.dueling and not self.each else 1

    def shapes(self) -> list[tuple[int, ...]]:
        """Returns the shapes of the weights: for each layer a matrix, [inputs, outputs], and a bias, [outputs].

        With duelling, half of the last hidden layer values the state, the other half the advantage of each action.
        """
        sizes = [self.places * self.kinds, *self.layers]
        pairs = list(itertools.pairwise(sizes))
        last, outputs = sizes[-1], 1 if self.each else self.game.num_actions
        pairs += [(last // 2, 1), (last - last // 2, outputs)] if self.streams == 2 else [(last, outputs)]
        return [shape for inputs, outputs in pairs for shape in ((inputs, outputs), (outputs,))]

    @property
    def size(self) -> int:
        """Number of weights."""
        return sum(int(np.prod(shape)) for shape in self.shapes())

    def new_weights(self, seed: int) -> Floats32:
        """Returns weights before learning: normal, with variance 2 / nonzero inputs (He et al. 2015), and biases 0.

        Outputs begin at 0: no action is preferred.
        """
        random, shapes, outputs = np.random.default_rng([seed, 0]), self.shapes(), 2 * self.streams
        parts = []
        for number, shape in enumerate(shapes):
            active = shape[0] // self.kinds if number == 0 else shape[0]
            drawn = random.normal(0, np.sqrt(2 / active), shape)
            zero = len(shape) == 1 or number >= len(shapes) - outputs
            parts.append((drawn * (0 if zero else 1)).astype(np.float32).ravel())
        return np.concatenate(parts)

    def header(self) -> Ints:
        """Returns the header, see `kernels`."""
        game, actions = self.game, self.action_images
        images = game.symmetries()[: len(actions)]
        skipped = PENDING if game.name == "2048" else NOTHING
        ahead = (BOARD, AFTER, TWO).index(self.input) if not self.each else 1
        words = [1, game.num_actions, int(self.each), ahead, self.boards * self.views, game.num_cells, self.kinds - 1]
        words += [self.streams - 1, len(self.layers), len(images), skipped, int(self.log), 0, 0]
        assert len(words) == SIZES
        words += [*self.layers, *images.ravel().tolist(), *actions.ravel().tolist()]
        words[ORIGIN] = 2 * len(words)  # in 32-bit numbers
        header = np.array(words, np.int64)
        header.view(np.float64)[UNIT] = self.unit
        return header

    @functools.cached_property
    def action_images(self) -> Ints:
        """Each action on a turned board, [images, actions]."""
        return action_images(self.game, self.game.symmetries())

    def settings(self, weights: Floats32) -> npt.NDArray[np.float64]:
        """Returns header and weights in one array of 64-bit numbers, for the act kernel."""
        header = self.header()
        packed = np.zeros(len(header) + (len(weights) + 1) // 2, np.int64)
        packed[: len(header)] = header
        packed.view(np.float32)[2 * len(header) : 2 * len(header) + len(weights)] = weights
        return packed.view(np.float64)

    def to_json(self) -> dict[str, Any]:
        return {
            "game": self.game.full_text(),
            "layers": list(self.layers),
            "input": self.input,
            "dueling": self.dueling,
            "unit": self.unit,
            "log": self.log,
        }


def action_images(game: Game, images: Ints) -> Ints:
    """Returns each action on a turned board, [images, actions]; only the first image if the others are unknown.

    Args:
        game: 2048, connect four, or a game whose actions are its cells.
        images: [images, cells] the origin of each cell of the turned board.
    """
    actions = game.num_actions
    if game.name == "2048":
        side = round(game.num_cells**0.5)
        steps = {-1: 0, 1: 1, -side: 2, side: 3}  # to a neighbouring cell -> action
        # The neighbours right and below of row 0, column 0 are inside every board.
        found = []
        for image in images:
            place = np.argsort(image)  # of each cell on the turned board
            right, down = (steps[int(place[cell] - place[0])] for cell in (1, side))
            found.append([right ^ 1, right, down ^ 1, down])
        return np.array(found, np.int64)
    if game.name == "connect_four":
        top = np.argsort(images, axis=1)[:, :actions]  # the cells of the first row, one for each column
        return np.asarray(top % actions, np.int64)
    if game.places_stones and actions == game.num_cells:
        return np.argsort(images, axis=1).astype(np.int64)
    return np.arange(actions, dtype=np.int64)[None]


class Weights(GradientWeights):
    """A deep network and what it has learned."""

    key = "dqn"
    resumed = True
    network: Network

    @classmethod
    def shape(cls, described: Mapping[str, Any]) -> Network:
        layers = tuple(int(size) for size in described["layers"])
        network = Network(
            GAMES.make(described["game"]),
            layers,
            described["input"],
            bool(described["dueling"]),
            float(described["unit"]),
            bool(described["log"]),
        )
        if not layers or min(layers) < 2 or network.input not in INPUTS or not 0 < network.unit < math.inf:
            raise ValueError("its network has no such layers")
        network.check()
        return network


Weights.files = NetworkFiles(
    "a deep network",
    "that `turnier train GAME dqn` wrote",
    "train some with `turnier train GAME dqn`",
    Weights.is_one,
    Weights.check,
)
