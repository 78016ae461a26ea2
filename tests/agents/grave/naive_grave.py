"""GRAVE and MAST with lists and dictionaries: a plain-Python oracle that must agree with the kernels bit for bit.

Sources: Cazenave 2015 (GRAVE), Finnsson and Bjornsson 2008 (MAST). Of all simulations it keeps the moves and values,
and counts anew what it wants to know. It asks the game's kernels for moves and shares the random stream.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.agents.mcts.naive_mcts import Node, Walk
from turnier.core.rng import below, uniform
from turnier.games.abi import CHANCE, TERMINAL
from turnier.games.game import Position
from turnier.games.generic import draw_outcome

Move = tuple[int, int]  # seat, action


@dataclass
class Known(Node):
    """A node that remembers what followed: of each of its simulations the moves from here on, and the values."""

    followed: list[tuple[Sequence[Move], Sequence[float]]] = field(default_factory=list)
    has_table: bool = True

    def amaf(self, move: Move) -> list[float]:
        """Returns the values of the simulations that had the move, for its seat."""
        return [values[move[0]] for moves, values in self.followed if move in moves] if self.has_table else []


@dataclass
class Search:
    """What a search has found."""

    root: Known
    means: dict[Move, tuple[int, float]] = field(default_factory=dict)  # how often each move was played, its mean


def grave(agent: Any, iterations: int, position: Position, rng: Any, tables: int = 1_000_000) -> Search:
    """Returns the search of a `grave` agent, in which only the first `tables` nodes have AMAF tables."""
    found = Search(Known(has_table=agent.selection == "grave" and tables > 0))
    nodes = 1
    for _ in range(iterations):
        walk, node, path, fresh = Walk(position), found.root, [found.root], False
        asked, moves = found.root, list[Move]()
        while not fresh and len(path) <= agent.tree_depth and walk.mover() != TERMINAL:
            if node.untried is None:
                node.untried = walk.legal()
            if node.visits >= agent.ref and node.has_table:
                asked = node
            mover = walk.mover()
            node, fresh = choose(agent, node, asked, mover, rng)
            if fresh:
                node.has_table = agent.selection == "grave" and nodes < tables
                nodes += 1
            path.append(node)
            moves.append((mover, node.action))
            walk.enter(node, rng, fresh)
        play_on(agent, found, walk, moves, rng)
        lost = agent.score_method == 2 and position.game.num_seats == 1 and walk.mover() == TERMINAL
        values = [float(gain) / position.game.max_return - lost for gain in walk.returns]
        for move in moves if agent.mast else []:
            count, mean = found.means.get(move, (0, 1.0))
            found.means[move] = count + 1, mean + (values[move[0]] - mean) / (count + 1)
        for i, each in enumerate(path):
            each.followed.append((moves[i:], values))
            each.rewards.append(values)
            if each is not found.root:
                each.mean += (values[each.chooser] - each.mean) / each.visits
    return found


def choose(agent: Any, node: Known, asked: Known, mover: int, rng: Any) -> tuple[Known, bool]:
    """Returns the next node, and whether it is a new one."""
    assert node.untried is not None
    unknown = [action for action in node.untried if not asked.amaf((mover, action))]
    if unknown:
        return new_child(node, unknown[int(below(rng, len(unknown)))], mover), True
    weight = 2 * agent.exploration * math.sqrt(math.log(node.visits + 1.0))
    scores: list[tuple[float, Known | int]] = []
    for child in node.children:
        seen, own = asked.amaf((mover, child.action)), float(child.visits)
        value = child.mean
        if seen:
            own *= 1.0 + agent.bias * len(seen)
            value = (own * child.mean + sum(seen)) / (own + len(seen))
        assert isinstance(child, Known)
        scores.append((value + weight * (1.0 / math.sqrt(child.visits)), child))
    for action in node.untried:
        seen = asked.amaf((mover, action))
        scores.append((sum(seen) / len(seen) + weight, action))
    best = max(scores, key=lambda scored: scored[0])[1]
    return (best, False) if isinstance(best, Known) else (new_child(node, best, mover), True)


def new_child(node: Known, action: int, mover: int) -> Known:
    assert node.untried is not None
    i = node.untried.index(action)
    node.untried[0], node.untried[i] = node.untried[i], node.untried[0]
    node.children.append(child := Known(node.untried.pop(0), mover))
    return child


def play_on(agent: Any, found: Search, walk: Walk, moves: list[Move], rng: Any) -> None:
    """Plays to the end or to the depth of rollouts."""
    plies = 0
    while (mover := walk.mover()) != TERMINAL and (mover == CHANCE or plies < agent.rollout_depth):
        if mover == CHANCE:
            walk.step(int(draw_outcome(walk.kernels, walk.state, rng, walk.choices, walk.probs)))
            continue
        legal = walk.legal()
        if agent.mast and uniform(rng) < agent.mast:
            means = {action: found.means.get((mover, action), (0, 1.0))[1] for action in legal}
            legal = [action for action in legal if means[action] == max(means.values())]
            action = legal[int(below(rng, len(legal)))] if len(legal) > 1 else legal[0]
        else:
            action = legal[int(below(rng, len(legal)))]
        moves.append((mover, action))
        walk.step(action)
        plies += 1
