"""The laws of `observe`: views hide the commitments of others, and can be played on."""

from __future__ import annotations

from collections import deque

import numpy as np

from ...games.abi import TERMINAL
from ...games.game import Game
from ..law import LawBroken
from .random_games import FENCE, MAX_STEPS, SEEDS, Node, legal_actions, nodes, view_of, walk


def later_views(game: Game, node: Node, action: int) -> list[tuple[int, list[int]]]:
    """Returns (seat, view) of the seats that commit after the mover in its round: higher seats, until a reward."""
    state, rewards, seat = node.state.copy(), np.zeros(game.num_seats), node.mover
    views: list[tuple[int, list[int]]] = []
    while True:
        game.kernels.step(state, action, rewards)
        following = int(game.kernels.to_move(state))
        if following <= seat or rewards.any():
            return views
        views.append((following, view_of(game, state, following).tolist()))
        seat, action = following, legal_actions(game, state)[0]


def law_commitments_stay_hidden(game: Game) -> None:
    """A seat's commitment in a round does not change the views of the seats that commit after it.

    Simultaneous moves are serialised: the seats of a round commit in ascending order and the last resolves it.
    """
    if not game.kernels.has_observe:
        return
    rounds = 0
    for node in nodes(game):
        if node.mover >= 0 and len(node.options) > 1:
            first, *others = [later_views(game, node, action) for action in node.options]
            rounds += bool(first)
            for action, other in zip(node.options[1:], others, strict=True):
                if other != first:
                    raise LawBroken(
                        f"later seats of {game} must not see in their views what seat {node.mover} commits to, but they"
                        f" differ for the actions {node.options[0]} and {action} {node}"
                    )
    if not rounds:
        raise LawBroken(f"{game} has observe, so some seat must commit before another one in the same round, got none")


def law_views(game: Game) -> None:
    """A mover's view is a whole state with the same seat to move and the same legal actions, playable to the end."""
    if not game.kernels.has_observe:
        return
    for seed in SEEDS:
        for node in walk(game, seed):
            if node.mover < 0:
                continue
            view, what = view_of(game, node.state, node.mover), f"the view of seat {node.mover} of {game}"
            if not np.array_equal(view, view_of(game, node.state, node.mover, FENCE)):
                raise LawBroken(f"observe of {game} must write every word of a view, but it left some {node}")
            mover = int(game.kernels.to_move(view))
            if mover != node.mover:
                raise LawBroken(f"{what} must have that seat to move, got {mover} {node}")
            actions = legal_actions(game, view)
            if actions != node.options:
                raise LawBroken(f"{what} must allow the actions {node.options}, got {actions} {node}")
            if node.step % 16 == 0:
                last = deque(walk(game, seed, MAX_STEPS, start=view), maxlen=1)[0]
                if last.mover != TERMINAL:
                    raise LawBroken(f"{what} must be playable to the end, but it is not over {last}, begun {node}")
