"""The agent that plays the best move by a network on probability tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ....core.errors import UserError
from ....core.kernel import compile_kernel
from ....core.parameters import parameter
from ....games.drawing import Overlay
from ....games.game import Game
from ...learning.files import fill_digest, settings_from_file
from ..player import Choice, SpeEdAgent, SpeEdPlayer, best_of
from ..search.field import MOVES, on_board
from ..search.tables import MOST_ROUNDS, Tables, fill_tables
from .inputs import Eyes, see_moves
from .weights import MOST_HIDDEN, MOST_NODES, WIDEST, Network, Weights, value_moves


class NetworkPlayer(SpeEdPlayer):
    def __init__(self, agent: SpeEdAgent, game: Game, rng: npt.NDArray[np.uint64]) -> None:
        super().__init__(agent, game, rng)
        assert isinstance(agent, TableNetwork)
        for kernel in (fill_tables, see_moves, value_moves):
            compile_kernel(kernel)
        self.network, self.weights = agent.learned()
        self.eyes = eyes_of(self.network, game)
        self._latest: Tables | None = None

    def choose(self, ends: int) -> Choice:
        self.eyes.field[:] = self.field
        sight, values = self.eyes.see(self.state, self.seat), np.zeros(MOVES)
        self._latest = sight.tables
        value_moves(self.weights, self.network.hidden, sight.inputs, sight.possible, values)
        possible = sight.possible.astype(np.int64)
        return Choice(best_of(values, sight.possible), possible, values, int(possible.sum()))

    def overlay(self) -> Overlay:
        """Adds the probability that others enter each cell, over all rounds of the tables."""
        if self._latest is None:
            return super().overlay()
        return super().overlay()._replace(shares=on_board(self._latest.total, self.stride).flatten())


def eyes_of(network: Network, game: Game) -> Eyes:
    """Returns what a network sees of a game's boards."""
    return Eyes(game, network.window, network.rounds, network.nodes, network.start_probability)


@dataclass(frozen=True)
class TableNetwork(SpeEdAgent):
    """spe_ed: plays the move with the best value by a network on probability tables. Sources: Brot 2021, 4.3 and 9.5.

    The document wishes for it. The network values each move by a window of the board and of the tables around its end,
    by the sums of the own tree, the cells that are left, and how everybody moves; `turnier train GAME table_network`
    trains it, on boards of any size. Without a file all moves are equal.
    """

    name: ClassVar[str] = "table_network"
    player: ClassVar[Any] = NetworkPlayer

    file: str = parameter("", "file of a network that `turnier train` wrote; it determines the others", carried=True)
    digest: str = parameter("", "digest that the network must have; filled in")
    window: int = parameter(
        7, "for training: cells per side of the square around the end of a move, odd", low=1, high=WIDEST
    )
    hidden: int = parameter(48, "for training: size of the hidden layer", low=1, high=MOST_HIDDEN, search=(8, 256))
    table_rounds: int = parameter(6, "for training: rounds of the tables", low=1, high=MOST_ROUNDS, search=(1, 12))
    table_nodes: int = parameter(
        2000, "for training: maximum nodes of each player's tree, 0 = the network sees no tables",
        low=0, high=MOST_NODES, search=(100, 10_000),
    )  # fmt: skip
    start_probability: float = parameter(
        2.0, "for training: probability of the player's own start in the tables", low=0.01, high=10, search=(0.1, 10)
    )

    def draws_numbers(self, game: Game) -> bool:
        return False

    def check(self) -> None:
        if self.window % 2 == 0:
            raise UserError(f"table_network: window must be odd, got {self.window}; write window=7.")
        fill_digest(self, Weights.read)

    def new_network(self) -> Network:
        """Returns the network to train; the file is not read."""
        return Network(self.window, self.hidden, self.table_rounds, self.table_nodes, self.start_probability)

    def learned(self) -> tuple[Network, npt.NDArray[np.float32]]:
        """Returns the file's network and weights; without a file, all weights are 0."""
        if not self.file:
            return self.new_network(), np.zeros(self.new_network().size, np.float32)
        path = self.carried_path("file").resolve()
        weights = settings_from_file(Weights, str(path), self.digest)
        return Weights.shape(Weights.read(path)["network"]), weights.astype(np.float32)
