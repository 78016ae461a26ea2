"""Our games in Ludii: their names and options there, and its sites for our cells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...core.errors import UserError
from ...games.connect_four import ConnectFour
from ...games.game import Game, Ints
from ...games.hex import Hex
from ...games.othello import Othello
from ...games.setup.grids import square_symmetries
from ...games.tictactoe import TicTacToe
from ...games.yavalath.game import Yavalath

PASS, SWAP = "pass", "swap"  # moves without a site
HEX_SIZES = range(3, 20)


class LudiiGame(NamedTuple):
    """A game as Ludii loads it."""

    file: str
    options: tuple[str, ...] = ()
    swap: bool = False


def ludii_game(game: Game) -> LudiiGame:
    """Returns Ludii's version of our game; raises UserError if Ludii does not have it."""
    reason = "it has tictactoe, connect_four, hex, othello and yavalath"
    if isinstance(game, TicTacToe):
        return LudiiGame("Tic-Tac-Toe.lud")
    if isinstance(game, ConnectFour):
        if (game.rows, game.columns) == (6, 7):
            return LudiiGame("Connect Four.lud", ("Modelisation/1D",))
        reason = "it has connect_four only with 6 rows and 7 columns"
    elif isinstance(game, Othello):
        return LudiiGame("Reversi.lud", ("Start Rules/Fixed Start", _size(game.size)))
    elif isinstance(game, Hex):
        if game.size in HEX_SIZES:
            return LudiiGame("Hex.lud", (_size(game.size), f"Swap Rules/{'On' if game.swap else 'Off'}"), game.swap)
        reason = "it has hex only from size 3 on"
    elif isinstance(game, Yavalath):
        if game.players == 2 or game.play_on:
            options = (f"Players/{game.players} Players", _size(game.size))
            return LudiiGame("Yavalath.lud", options, game.swap)
        reason = "it has yavalath of three players only with play_on=true"
    raise UserError(f"ludii needs a game that Ludii has, got {game}; {reason}.")


def _size(size: int) -> str:
    return f"Board Size/{size}x{size}"


class Moves(NamedTuple):
    """Ludii's words for our actions."""

    before_swap: tuple[str, ...]
    after_swap: tuple[str, ...]

    def word(self, action: int, swapped: bool) -> str:
        return (self.after_swap if swapped else self.before_swap)[action]

    def action(self, word: str, swapped: bool) -> int | None:
        """Returns the action for a word, None if there is none."""
        words = self.after_swap if swapped else self.before_swap
        return words.index(word) if word in words else None


def swap_action(game: Game) -> int:
    """Returns the action by which seats are swapped, -1 if there is none."""
    return game.num_cells if getattr(game, "swap", False) else -1


def possible_moves(game: Game, labels: Sequence[str]) -> Iterator[Moves]:
    """Yields the possible placements of Ludii's sites on our board, the likeliest first, from labels such as E9.

    Only the rules show the diagonal of Othello's black stones and the owners of Hex's sides: see `agent.py`.
    """
    if isinstance(game, Yavalath):
        names = [game.action_name(cell) for cell in range(game.num_cells)]
        if sorted(labels) != sorted(names):
            raise UserError(_other_board(game, len(names), labels))
        yield _moves(game, np.array([labels.index(name) for name in names]))
        return
    rows, columns = (1, game.columns) if isinstance(game, ConnectFour) else (int(game.num_cells**0.5),) * 2
    sites = _grid(labels)
    if len(sites) != rows * columns:
        raise UserError(_other_board(game, rows * columns, labels))
    if rows != columns:
        yield _moves(game, sites)
        return
    for turned in square_symmetries(rows):
        yield _moves(game, sites[turned])


def _other_board(game: Game, cells: int, labels: Sequence[str]) -> str:
    return (
        f"Ludii's board must have the {cells} sites of {game}, got {len(labels)} from {min(labels, default='none')} to"
        f" {max(labels, default='none')}; name the options of your version of Ludii by options=."
    )


def _grid(labels: Sequence[str]) -> Ints:
    """Returns the sites row by row, the highest number and the first letter first."""
    places = [re.fullmatch(r"([A-Z]+)(\d+)", label) for label in labels]
    order = [(-int(place[2]), len(place[1]), place[1], site) for site, place in enumerate(places) if place]
    return np.array([site for *_, site in sorted(order)], np.int64)


def _moves(game: Game, sites: Ints) -> Moves:
    """Returns the moves if action i ends on sites[i]; a further action swaps or passes."""
    further = [PASS if isinstance(game, Othello) else SWAP] * (game.num_actions - len(sites))
    after = sites
    if isinstance(game, Hex):  # our swap mirrors the first stone, Ludii's exchanges the seats' sides
        after = sites.reshape(game.size, game.size).T.ravel()
    return Moves(*(tuple([*map(str, each.tolist()), *further]) for each in (sites, after)))
