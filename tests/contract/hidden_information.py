"""The laws of `observe`: what a seat must not see, and what it can do with what it sees."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np

from tests.contract.play import FENCE, Node, legal_actions, nodes, view_of, walk
from turnier.games.abi import TERMINAL
from turnier.games.game import Game

MAX_STEPS = 20_000  # a view that is not played out by then counts as endless


def later_views(game: Game, node: Node, action: int) -> list[tuple[int, list[int]]]:
    """Returns (seat, view) of the seats that commit after the mover in the same round: higher seats, no reward yet."""
    state, rewards, seat = node.state.copy(), np.zeros(game.num_seats), node.mover
    views = []
    while True:
        game.kernels.step(state, action, rewards)
        following = int(game.kernels.to_move(state))
        if following <= seat or rewards.any():
            return views
        views.append((following, view_of(game, state, following).tolist()))
        seat, action = following, legal_actions(game, state)[0]


def check_commitments_stay_hidden(game: Game, seeds: Iterable[int] = range(4)) -> None:
    """What a seat commits to in a round changes nothing in the views of the seats that commit after it.

    Simultaneous moves are serialised: the seats of a round commit in ascending order and the last resolves it.
    """
    if not game.kernels.has_observe:
        return
    rounds = 0
    for node in nodes(game, seeds):
        if node.mover >= 0 and len(node.options) > 1:
            first, *others = [later_views(game, node, action) for action in node.options]
            rounds += bool(first)
            hidden = all(other == first for other in others)
            assert hidden, f"later seats of {game} must not see what seat {node.mover} commits to in {node.state}"
    assert rounds, f"{game} has observe, so some seat must commit before another one of the same round"


def check_views(game: Game, seeds: Iterable[int] = range(4)) -> None:
    """A mover's view is a whole state with the same seat to move and the same legal actions, playable to the end."""
    if not game.kernels.has_observe:
        return
    for seed in seeds:
        for step, node in enumerate(walk(game, seed)):
            if node.mover < 0:
                continue
            view = view_of(game, node.state, node.mover)
            whole = np.array_equal(view, view_of(game, node.state, node.mover, FENCE))
            assert whole, f"observe of {game} must write every word of the view, whatever was there before"
            mover = int(game.kernels.to_move(view))
            assert mover == node.mover, f"the view of seat {node.mover} of {game} must have it to move, got {mover}"
            same = legal_actions(game, view) == node.options
            assert same, f"the view of seat {node.mover} of {game} must allow {node.options}, got {view}"
            if step % 16 == 0:
                last = deque(walk(game, seed, MAX_STEPS, start=view), maxlen=1)[0]
                assert last.mover == TERMINAL, f"a view of {game} must be playable to the end, stuck in {last.state}"
