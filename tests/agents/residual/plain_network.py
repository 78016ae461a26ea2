"""A residual network in plain numpy, cell by cell, and positions to try it on."""

from __future__ import annotations

from typing import Any

import numpy as np

from turnier.agents.residual.network import Network
from turnier.games.game import Game, Position

GAMES = ("tictactoe", "connect_four", "othello(size=4)", "othello(size=6)", "hex(size=5,swap=true)", "yavalath(size=4)")


def positions(game: Game, count: int = 12) -> list[Position]:
    """Positions of games at random."""
    random, found = np.random.default_rng(3), list[Position]()
    position = game.start(1)
    while len(found) < count:
        position = game.start(1) if position.over else position
        found.append(position)
        position = position.play(int(random.choice(position.legal_actions())))
    return found


def drawn_weights(network: Network) -> Any:
    """Weights none of which are 0."""
    drawn = network.new_weights(1) + np.random.default_rng(1).normal(0, 0.05, network.size)
    return drawn.astype(np.float32)


def plain_outputs(network: Network, weights: Any, position: Position) -> tuple[float, Any]:
    """The value for the mover and the logits of all actions, [actions], in double precision."""
    game, mover = position.game, position.to_move
    parts = [part.astype(float) for part in network.parts(weights)]
    cells, places = game.cell_values(position.state), [tuple(place) for place in game.grid().tolist()]
    at = {place: cell for cell, place in enumerate(places)}
    layer = np.array([[cell == 1 + mover, cell == 2 - mover, 1, mover] for cell in cells], float)

    def convolve(number: int, layer: Any) -> Any:
        matrix, bias = parts[2 * number], parts[2 * number + 1]
        sums = np.tile(bias, (len(cells), 1))
        for cell, (row, column) in enumerate(places):
            for slot in range(len(matrix)):
                down, right = (slot // 3 - 1, slot % 3 - 1) if len(matrix) == 9 else (0, 0)
                other = at.get((row + down, column + right))
                if other is not None:
                    sums[cell] += layer[other] @ matrix[slot]
        return sums

    layer = np.maximum(convolve(0, layer), 0)
    for block in range(network.blocks):
        inner = np.maximum(convolve(1 + 2 * block, layer), 0)
        layer = np.maximum(layer + convolve(2 + 2 * block, inner), 0)
    heads = np.maximum(convolve(1 + 2 * network.blocks, layer), 0)
    policy, value = heads[:, :8].ravel(), heads[:, 8:].ravel()
    hidden = np.maximum(value @ parts[-4] + parts[-3], 0)
    return float(np.tanh(hidden @ parts[-2] + parts[-1])[0]), policy @ parts[-6] + parts[-5]
