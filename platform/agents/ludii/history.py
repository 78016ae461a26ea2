"""Plies that lead to a position: Ludii's agents have to be told them, and a position does not say them."""

from __future__ import annotations

import itertools

from turnier.agents.ludii.games import swap_action
from turnier.games.game import Position

MOST_TRIED = 100_000  # positions


def plies_between(before: Position, after: Position) -> tuple[int, ...] | None:
    """Returns plies that lead from a position to another one, in any possible order; None where there are none.

    Stones stay where they are, so that only cells count that have one afterwards.
    """
    game, wanted = before.game, _key(after)
    filled = _filled(after)
    seen: set[bytes] = set()
    tried = itertools.count()

    def search(position: Position) -> tuple[int, ...] | None:
        key = _key(position)
        if key == wanted:
            return ()
        if key in seen or position.over or next(tried) > MOST_TRIED:
            return None
        seen.add(key)
        for action in position.legal_actions():
            then = position.play(action)
            # A swap may move the first stone.
            if _filled(then) & ~filled == 0 or swap_action(game) in then.legal_actions():
                rest = search(then)
                if rest is not None:
                    return (action, *rest)
        return None

    return search(before)


def _key(position: Position) -> bytes:
    """Returns what makes a position: stones and the seat to move; words of a state may tell the order of moves too."""
    return bytes([position.to_move + 2, *position.game.cell_values(position.state)])


def _filled(position: Position) -> int:
    """Returns the set of cells with a stone as bits."""
    return sum(1 << int(cell) for cell in position.game.cell_values(position.state).nonzero()[0])
