"""spe_ed's searches once more in plain Python, over sets of cells: slow, and as the document tells them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tests.agents.spe_ed.naive_territory import STEPS, Cell, own_share
from turnier.games.game import Game, Ints
from turnier.games.spe_ed.board import DIRECTION, HEIGHT, SPEED, WIDTH, X, Y

MOVES = range(5)


class Weights(NamedTuple):
    """What a state is worth, in the order of the search."""

    aggression: float = 0.0
    territory: float = 0.0
    jump_steps: int = 0
    neighbours: float = 0.0
    decided: float = 0.0
    freedom: float = 1.0


@dataclass(frozen=True)
class Player:
    """Where somebody is and how it moves."""

    x: int
    y: int
    heading: int
    speed: int

    def after(self, action: int, round_number: int) -> tuple[Player, tuple[Cell, ...]]:
        """Returns the player after an action and the cells that it enters; none for a speed that there is not."""
        heading = (self.heading + (3, 1, 0, 0, 0)[action]) % 4
        speed = self.speed + (0, 0, -1, 1, 0)[action]
        if not 1 <= speed <= 10:
            return self, ()
        dx, dy = STEPS[heading]
        way = [(self.x + k * dx, self.y + k * dy) for k in range(1, speed + 1)]
        entered = [way[0], way[-1]] if round_number % 6 == 0 and speed >= 3 else way
        return Player(*way[-1], heading, speed), tuple(dict.fromkeys(entered))


def free_cells(game: Game, state: Ints) -> frozenset[Cell]:
    board = game.cell_values(state).reshape(int(state[HEIGHT]), int(state[WIDTH]))
    return frozenset((int(x), int(y)) for y, x in np.argwhere(board == 0))


def player_of(state: Ints, seat: int) -> Player:
    return Player(*(int(state[field + seat]) for field in (X, Y, DIRECTION, SPEED)))


def moves(player: Player, free: frozenset[Cell], round_number: int) -> Iterator[tuple[int, Player, tuple[Cell, ...]]]:
    """Yields the possible actions, where they lead, and the cells entered."""
    for action in MOVES:
        after, entered = player.after(action, round_number)
        if entered and all(cell in free for cell in entered):
            yield action, after, entered


def all_paths(
    player: Player, free: frozenset[Cell], round_number: int
) -> Iterator[tuple[tuple[int, ...], float, list[tuple[Cell, ...]]]]:
    """Yields every path to its end: actions, how likely random play takes it, and the cells entered by each move."""
    possible = list(moves(player, free, round_number))
    if not possible:
        yield (), 1.0, []
    for action, after, entered in possible:
        for actions, likely, ways in all_paths(after, free - set(entered), round_number + 1):
            yield (action, *actions), likely / len(possible), [entered, *ways]


def value(
    players: list[Player | None], free: frozenset[Cell], round_number: int, level: int, depth: int, weights: Weights
) -> float:
    """Minimax without pruning: the value of a state for the first player, who is to choose in round `level`."""
    assert players[0]
    if level > depth:
        freedoms = [sum(1 for _ in moves(p, free, round_number)) if p else 0 for p in players]
        worth = weights.freedom * freedoms[0] - weights.aggression * sum(freedoms[1:]) / max(1, len(players) - 1)
        if weights.territory == 0:
            return worth
        heads = [(p.x, p.y) for p in players if p]
        share = own_share(heads, free, weights.jump_steps, weights.neighbours, weights.decided)
        return worth + 5 * weights.territory * share
    own = [
        _replies([after, *players[1:]], 1, free - set(entered), set(entered), round_number, level, depth, weights)
        for _, after, entered in moves(players[0], free, round_number)
    ]
    return max(own) if own else level - depth


def value_of_move(
    players: list[Player | None], action: int, free: frozenset[Cell], round_number: int, depth: int, weights: Weights
) -> float | None:
    assert players[0]
    for possible, after, entered in moves(players[0], free, round_number):
        if possible == action:
            others = [after, *players[1:]]
            return _replies(others, 1, free - set(entered), set(entered), round_number, 1, depth, weights)
    return None


def _replies(
    players: list[Player | None],
    who: int,
    free: frozenset[Cell],
    fresh: set[Cell],
    round_number: int,
    level: int,
    depth: int,
    weights: Weights,
) -> float:
    if who == len(players):
        return value(players, free, round_number + 1, level + 1, depth, weights)
    player = players[who]
    if player is None:
        return _replies(players, who + 1, free, fresh, round_number, level, depth, weights)
    for _, _, entered in moves(player, free | fresh, round_number):
        if fresh & set(entered):
            return level - depth
    found = []
    for _, after, entered in moves(player, free, round_number):
        others = [*players[:who], after, *players[who + 1 :]]
        found.append(_replies(others, who + 1, free - set(entered), fresh, round_number, level, depth, weights))
    if not found:
        others = [*players[:who], None, *players[who + 1 :]]
        return _replies(others, who + 1, free, fresh, round_number, level, depth, weights)
    return min(found)


def tables(
    players: list[Player],
    free: frozenset[Cell],
    round_number: int,
    start: float,
    rounds: int,
    habits: Sequence[Sequence[float]],
) -> tuple[dict[Cell, float], list[float]]:
    """Returns how likely others than the first player enter each cell, and its own nodes' sum by first action.

    `habits`, [players, actions], are the relative probabilities of moves.
    """
    nodes = [[(player, 1.0, frozenset[Cell](), -1)] for player in players]
    nodes[0] = [(players[0], start, frozenset(), -1)]
    before: list[dict[Cell, float]] = [{} for _ in players]
    total: dict[Cell, float] = defaultdict(float)
    mass = [0.0] * 5
    for level in range(rounds):
        made = []
        for who, own in enumerate(nodes):
            children = []
            for player, share, path, first in own:
                possible = list(moves(player, free - path, round_number + level))
                for action, after, entered in possible:
                    taken = sum(
                        before[other].get(cell, 0.0)
                        for other in range(len(players))
                        if other != who
                        for cell in entered
                    )
                    all_likely = sum(habits[who][other] for other, *_ in possible)
                    child = share * habits[who][action] / all_likely - taken / len(entered)
                    if child > 0:
                        children.append((after, child, path | set(entered), action if level == 0 else first, entered))
            made.append(children)
        visits: list[dict[Cell, int]] = [defaultdict(int) for _ in players]
        for who, children in enumerate(made):
            for *_, entered in children:
                for cell in entered:
                    visits[who][cell] += 1
        before = [defaultdict(float) for _ in players]
        mass = [0.0] * 5
        nodes = []
        for who, children in enumerate(made):
            kept = []
            for player, share, path, first, entered in children:
                most = max(sum(visits[o][cell] for o in range(len(players)) if o != who) for cell in entered)
                share /= max(1, most)
                kept.append((player, share, path, first))
                for cell in entered:
                    before[who][cell] += share
                    if who:
                        total[cell] += share
                if not who:
                    mass[first] += share
            nodes.append(kept)
    return dict(total), mass
