"""The laws of `observe`, `information` and `resample`: seats get nothing of what others hide."""

from __future__ import annotations

import itertools
import random
from collections import deque
from collections.abc import Sequence

import numpy as np

from ...games.abi import TERMINAL
from ...games.game import Game
from ...games.python.python_game import PythonGame
from ..law import LawBroken
from .random_games import FENCE, MAX_STEPS, SEEDS, Node, legal_actions, nodes, view_of, walk

FEW = 40  # decisions of each game


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


def law_information(game: Game) -> None:
    """What a game says a seat knows decides its legal actions, and the states that `resample` draws."""
    if not isinstance(game, PythonGame) or not game.has_information:
        return
    allowed: dict[tuple[int, str], list[int]] = {}
    for seed in SEEDS:
        for node in itertools.islice((node for node in walk(game, seed) if node.mover >= 0), FEW):
            state, seat = game.live_state(node.state), node.mover
            known = game.information(state, seat)
            legal = allowed.setdefault((seat, known), node.options)
            if not isinstance(known, str) or legal != node.options:
                what = f"information of {game} must be text that decides a seat's legal actions"
                raise LawBroken(f"{what}, got {known!r} for {legal} and {node.options} {node}")
            first = game.resample(state, seat, random.Random(seed).random)
            if first is None:
                continue
            drawn, plies = first
            if (game.to_move(drawn), game.information(drawn, seat)) != (seat, known):
                got = game.information(drawn, seat)
                raise LawBroken(f"resample of {game} must keep what seat {seat} knows, {known!r}, got {got!r} {node}")
            if game.information(_replayed(game, plies), seat) != known:
                raise LawBroken(f"resample of {game} must return the plies of its state, got {list(plies)} {node}")
            again = game.resample(drawn, seat, random.Random(seed).random)
            if again is None or list(again[1]) != list(plies):
                raise LawBroken(
                    f"resample of {game} must draw the same from all states in which seat {seat} knows {known!r},"
                    f" got {list(plies)} and {again and list(again[1])} {node}"
                )


def _replayed(game: PythonGame, plies: Sequence[int]) -> object:
    state = game.begin()
    for ply in plies:
        state = game.step(state, ply)[0]
    return state
