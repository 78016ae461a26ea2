"""Networks on other boards: the tuples of a game's small board, and what they have learned, on a larger one or back."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ....core.errors import UserError
from ....games.game import Game
from ....games.registry import GAMES
from ..network import CELLS, Network, Tuples
from ..weights import Weights

SEED = 1  # of the tuples' places


@functools.lru_cache(maxsize=64)
def moved_tuples(network: Network, game: Game) -> Mapping[int, tuple[int, ...]]:
    """Returns the number of each tuple that fits on the game's board, and its cells there.

    Each is shifted as a whole to a random place, so that all of a larger board is covered. On the same board tuples
    stay. Raises UserError if the game is another one, or its boards have no grid.
    """
    source = GAMES.make(network.game)
    if source == game:
        return dict(enumerate(network.tuples))
    here, there = source.grid(), game.grid()
    kinds = [(each.name, each.num_seats, min(network.values, each.num_cell_values)) for each in (source, game)]
    if kinds[0] != kinds[1] or not len(here) or not len(there) or network.phases != source.num_seats:
        raise UserError(
            f"tuples can move only between boards of one game with a grid, as many seats and no stages, got {source}"
            f" and {game}; train a network for it."
        )
    cell_at = {(int(row), int(column)): cell for cell, (row, column) in enumerate(there)}
    reach = range(-int(here.max()), int(there.max()) + 1)
    random, found = np.random.default_rng(SEED), {}
    for number, cells in enumerate(network.tuples):
        spots = [(int(row), int(column)) for row, column in here[list(cells)]]
        places = [
            shifted
            for down in reach
            for right in reach
            if None not in (shifted := tuple(cell_at.get((row + down, column + right)) for row, column in spots))
        ]
        chosen = places[int(random.integers(len(places)))] if places else ()
        if chosen:
            found[number] = tuple(cell for cell in chosen if cell is not None)
    if not found:
        raise UserError(f"no tuple of a network for {source} fits on the board of {game}; train a network for it.")
    if any(cells != tuple(sorted(cells)) for cells in found.values()):
        raise UserError(f"the cells of {game} are in another order than those of {source}; train a network for it.")
    return found


def moved_network(network: Network, game: Game) -> Network:
    """Returns the network with its tuples on the game's board; see `moved_tuples`."""
    tuples: Tuples = tuple(moved_tuples(network, game).values())
    return Network.of(game, tuples, network.values, len(network.symmetries) > 1, network.stages)


def moved_text(network: Network, game: Game) -> str:
    """Returns the text of the evaluator with the network of `moved_network`."""
    moved = moved_network(network, game)
    cells = "/".join(".".join(map(str, each)) for each in moved.tuples)
    more = f",values={moved.values}" if moved.values < game.num_cell_values else ""
    stages = f",stages={'.'.join(map(str, moved.stages))}" if moved.stages else ""
    symmetric = str(len(moved.symmetries) > 1).lower()
    return f"ntuple(network={CELLS},cells={cells},symmetric={symmetric}{more}{stages})"


def moved_weights(weights: Weights, game: Game) -> Weights:
    """Returns the weights for the game's board; entries of tuples that do not fit there are left out."""
    network, moved = weights.network, moved_network(weights.network, game)
    if moved == network:
        return weights
    bases = _bases(network.tuples, network.values)
    new_bases = np.full(len(bases), -1, np.int64)
    new_bases[list(moved_tuples(network, game))] = _bases(moved.tuples, moved.values)
    block, rest = np.divmod(weights.places, network.entries_of_output)
    number = np.searchsorted(bases, rest, "right") - 1
    kept = new_bases[number] >= 0
    places = block * moved.entries_of_output + new_bases[number] + rest - bases[number]
    return replace(weights, network=moved, places=places[kept], entries=weights.entries[kept])


def _bases(tuples: Tuples, values: int) -> npt.NDArray[np.int64]:
    """Returns the first entry of each tuple, [tuples]."""
    sizes = [values ** len(cells) for cells in tuples]
    return np.cumsum([0, *sizes[:-1]])
