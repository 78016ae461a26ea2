"""The shape of a deep network: what it sees, its layers, and how compiled code gets it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from turnier.agents.deep.kernels import NOTHING, SIZES
from turnier.core.errors import UserError
from turnier.games.game import Game
from turnier.games.twenty48.rules import PENDING

Floats32 = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
MAX_WEIGHTS = 50_000_000
_TILES_2048 = 16  # kinds of cells: empty, and tiles up to 32,768, which larger ones count as


@dataclass(frozen=True)
class Network:
    """Dense layers with rectifiers over one-hot boards; one output per action, or two streams (duelling)."""

    game: Game
    layers: tuple[int, ...]  # sizes of the hidden layers
    ahead: int  # moves after which boards are seen, too
    dueling: bool

    def check(self) -> None:
        """Raises UserError where no such network can play the game."""
        game = self.game
        if game.hidden or game.kernels.has_observe:
            raise UserError(f"dqn needs a game without hidden information, got {game}; choose another.")
        if game.in_python or not game.num_cells or game.num_seats > 2:
            raise UserError(f"dqn needs a compiled game with a board and at most two seats, got {game}; use ntuple.")
        if game.num_seats == 2 and game.num_cell_values != 3:
            raise UserError(
                f"dqn needs cells with three values in games of two seats (empty, own, the other's), got {game} with"
                f" {game.num_cell_values}; use ntuple."
            )
        if game.has_chance and game.name != "2048" and self.ahead == 2:
            raise UserError(f"boards two moves ahead must come without chance, got {game}; use ahead=1.")
        if self.size > MAX_WEIGHTS:
            raise UserError(f"dqn must have at most {MAX_WEIGHTS:,} weights, got {self.size:,}; use smaller layers.")

    @property
    def kinds(self) -> int:
        """How many values of a cell are distinguished."""
        return _TILES_2048 if self.game.name == "2048" else self.game.num_cell_values

    @property
    def places(self) -> int:
        """How many cells are seen, over all boards."""
        actions = self.game.num_actions
        return self.game.num_cells * (1, 1 + actions, 1 + actions + actions**2)[self.ahead]

    def shapes(self) -> list[tuple[int, ...]]:
        """Returns the shapes of the weights: for each layer a matrix, [inputs, outputs], and a bias, [outputs].

        With duelling, half of the last hidden layer says what the state is worth, the others what each action adds.
        """
        sizes = [self.places * self.kinds, *self.layers]
        pairs = list(zip(sizes[:-1], sizes[1:], strict=True))
        last, actions = sizes[-1], self.game.num_actions
        pairs += [(last // 2, 1), (last - last // 2, actions)] if self.dueling else [(last, actions)]
        return [shape for inputs, outputs in pairs for shape in ((inputs, outputs), (outputs,))]

    @property
    def size(self) -> int:
        """How many weights it has."""
        return sum(int(np.prod(shape)) for shape in self.shapes())

    def new_weights(self, seed: int) -> Floats32:
        """Returns weights before learning: normal, of variance 2 / inputs that are not 0 (He et al. 2015), biases 0.

        Outputs begin at 0, so that no action is preferred.
        """
        random, shapes, outputs = np.random.default_rng([seed, 0]), self.shapes(), 2 + 2 * self.dueling
        parts = []
        for number, shape in enumerate(shapes):
            active = shape[0] // self.kinds if number == 0 else shape[0]
            drawn = random.normal(0, np.sqrt(2 / active), shape)
            zero = len(shape) == 1 or number >= len(shapes) - outputs
            parts.append((drawn * (0 if zero else 1)).astype(np.float32).ravel())
        return np.concatenate(parts)

    def header(self) -> Ints:
        """Returns what kernels read, see `kernels`; its length is even."""
        game, actions = self.game, self.action_images
        images = game.symmetries()[: len(actions)]
        skipped = PENDING if game.name == "2048" else NOTHING
        boards = self.places // game.num_cells
        words = [1, game.num_actions, self.ahead, boards, game.num_cells, self.kinds - 1, int(self.dueling)]
        words += [len(self.layers), len(images), skipped, 0]
        assert len(words) == SIZES
        words += [*self.layers, *images.ravel().tolist(), *actions.ravel().tolist()]
        words[SIZES - 1] = 2 * len(words)
        return np.array(words, np.int64)

    @functools.cached_property
    def action_images(self) -> Ints:
        """What each action is on a turned board, [images, actions]."""
        return action_images(self.game, self.game.symmetries())

    def settings(self, weights: Floats32) -> npt.NDArray[np.float64]:
        """Returns header and weights in one array of 64-bit numbers, as the act kernel takes them."""
        header = self.header()
        packed = np.zeros(len(header) + (len(weights) + 1) // 2, np.int64)
        packed[: len(header)] = header
        packed.view(np.float32)[2 * len(header) : 2 * len(header) + len(weights)] = weights
        return packed.view(np.float64)

    def to_json(self) -> dict[str, Any]:
        return {
            "game": self.game.full_text(),
            "layers": list(self.layers),
            "ahead": self.ahead,
            "dueling": self.dueling,
        }


def action_images(game: Game, images: Ints) -> Ints:
    """Returns what each action is on a turned board, [images, actions]; only the first image where that is not known.

    Args:
        game: 2048, connect four, or a game whose actions are its cells.
        images: [images, cells] where each cell of the turned board comes from.
    """
    actions = game.num_actions
    if game.name == "2048":
        side = round(game.num_cells**0.5)
        steps = {-1: 0, 1: 1, -side: 2, side: 3}  # to a neighbouring cell -> action
        # From the cell at row 0, column 0 the neighbours right and below are inside every board.
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
