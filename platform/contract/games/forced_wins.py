"""The law of `forced_win`: a claimed win holds against every defence, and an immediate win is never missed."""

from __future__ import annotations

import numpy as np

from ...games.abi import CHANCE, NO_WIN, TERMINAL
from ...games.game import Game, Ints, NumArray
from ..law import LawBroken
from .random_games import Node, chance_outcomes, legal_actions, nodes, words

GAMES = range(12)  # seeds: forced wins are rare
DEPTH = 4  # forcing moves


def wins(returns: NumArray, seat: int) -> bool:
    return bool(all(returns[seat] > value for other, value in enumerate(returns) if other != seat))


def refutation(game: Game, state: Ints, returns: NumArray, depth: int) -> str | None:
    """Follows `forced_win` for the seat to move against all replies of others and of chance.

    Returns a sentence if it does not win with at most `depth` moves before the last one, otherwise None.
    """
    seat, asked = int(game.kernels.to_move(state)), state.copy()
    action = int(game.kernels.forced_win(asked, depth))
    if not np.array_equal(asked, state):
        return f"the state changed from {words(state)} to {words(asked)}"
    if action not in legal_actions(game, state):
        return f"with {depth} moves left it plays {action}, which is not legal, in {words(state)}"
    after, gained = state.copy(), returns.copy()
    game.kernels.step(after, action, gained)
    todo = [(after, gained)]
    while todo:
        after, gained = todo.pop()
        mover = int(game.kernels.to_move(after))
        if mover == TERMINAL:
            if not wins(gained, seat):
                return f"it ends with returns {gained} for seat {seat}"
        elif mover == seat:
            said = refutation(game, after, gained, depth - 1) if depth > 0 else f"the game goes on in {words(after)}"
            if said:
                return said
        else:
            for option in chance_outcomes(game, after)[0] if mover == CHANCE else legal_actions(game, after):
                reply, paid = after.copy(), gained.copy()
                game.kernels.step(reply, option, paid)
                todo.append((reply, paid))
    return None


def wins_at_once(game: Game, node: Node) -> bool:
    """Whether an action ends the game with the mover ahead of everybody."""
    for action in node.options:
        state, returns = node.state.copy(), node.returns.copy()
        game.kernels.step(state, action, returns)
        if game.kernels.to_move(state) == TERMINAL and wins(returns, node.mover):
            return True
    return False


def law_forced_win(game: Game) -> None:
    """`forced_win` finds every immediate win, and each win that it claims holds against every reply."""
    if not game.kernels.has_forced_win:
        return
    claims = 0
    for node in nodes(game, GAMES):
        if node.mover < 0:
            continue
        for depth in (0, 1, DEPTH):
            claimed = game.kernels.forced_win(node.state.copy(), depth) != NO_WIN
            claims += claimed
            said = refutation(game, node.state, node.returns, depth) if claimed else None
            if said is not None:
                raise LawBroken(f"forced_win of {game} must win by {depth} forcing moves, but {said} {node}")
            if not claimed and wins_at_once(game, node):
                raise LawBroken(f"forced_win of {game} must find the immediate win, also with depth {depth}, {node}")
    if not claims:
        raise LawBroken(f"{game} has forced_win, so it must find wins in random games, got none in {len(GAMES)}")
