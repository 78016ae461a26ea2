"""MCTS with objects in place of arrays: a plain-Python oracle that must agree with the kernels bit for bit.

Source: Weitz 2022, 2.3.4; Kutsch 2017, 4; proofs after Winands 2008, for any number of seats. It asks the game's
kernels for moves and shares the random stream; the outcomes of chance stand in the nodes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from turnier.core.rng import below, next_word, seed_stream
from turnier.games.abi import CHANCE, TERMINAL
from turnier.games.game import Game, Position
from turnier.games.generic import draw_outcome

Evaluate = Callable[[Any, Any], list[float]]


@dataclass
class Node:
    """A position after an action and the outcomes drawn when the node was made."""

    action: int = -1
    chooser: int = -1  # the seat that chose the action
    outcomes: list[int] = field(default_factory=list)
    rewards: list[list[float]] = field(default_factory=list)  # one vector a visit
    mean: float = 0.0
    proof: list[float] | None = None
    untried: list[int] | None = None
    children: list[Node] = field(default_factory=list)  # in the order in which they were tried

    @property
    def visits(self) -> int:
        return len(self.rewards)


class Walk:
    """A position that is changed in place."""

    def __init__(self, position: Position) -> None:
        self.kernels = position.game.kernels
        self.state, self.returns = position.state.copy(), position.returns.copy()
        self.choices, self.probs = np.zeros(self.kernels.max_choices, np.int64), np.zeros(self.kernels.max_choices)

    def mover(self) -> int:
        return int(self.kernels.to_move(self.state))

    def legal(self) -> list[int]:
        return [int(a) for a in self.choices[: self.kernels.legal(self.state, self.choices)]]

    def step(self, action: int) -> None:
        self.kernels.step(self.state, action, self.returns)

    def enter(self, node: Node, rng: Any, fresh: bool) -> None:
        """Plays a node's action and its outcomes, which are drawn from a stream of their own where it is fresh."""
        self.step(node.action)
        if fresh and self.mover() == CHANCE:
            own = np.zeros(4, np.uint64)
            seed_stream(np.uint64(next_word(rng)), own)
            while self.mover() == CHANCE:
                node.outcomes.append(int(draw_outcome(self.kernels, self.state, own, self.choices, self.probs)))
                self.step(node.outcomes[-1])
        elif not fresh:
            for outcome in node.outcomes:
                self.step(outcome)


def uct(agent: Any, parent: Node, child: Node) -> float:
    """W's formula 1; rewards from 0 to 1 are half as far apart. Nothing is left to explore where a child is proven."""
    if child.proof is not None:
        return child.mean
    exploration = agent.exploration * (2.0 if agent.normalise else 1.0)
    return child.mean + exploration * math.sqrt(math.log(parent.visits + 1)) * (1.0 / math.sqrt(child.visits))


def proof_of(node: Node, mover: int) -> list[float] | None:
    """Returns the best possible proof for the mover, or the best of all where all children are proven, or None."""
    proofs = [child.proof for child in node.children if child.proof is not None]
    if not proofs:
        return None
    best = max(proofs, key=lambda proof: proof[mover])
    complete = not node.untried and len(proofs) == len(node.children)
    return best if complete or best[mover] >= 1.0 else None


def mcts(agent: Any, iterations: int, position: Position, rng: Any, evaluate: Evaluate) -> Node:
    """Returns the root of a search with an `mcts` agent's parameters; `evaluate(state, returns)` draws from `rng`."""
    game: Game = position.game
    root = Node()
    for _ in range(iterations):
        if root.proof is not None:
            break
        walk, node, path, fresh = Walk(position), root, [root], False
        while not fresh and len(path) <= agent.tree_depth and walk.mover() != TERMINAL and node.proof is None:
            if node.untried is None:
                node.untried = walk.legal()
            mover = walk.mover()
            if node.untried:
                i = int(below(rng, len(node.untried)))
                node.untried[0], node.untried[i] = node.untried[i], node.untried[0]
                node.children.append(Node(node.untried.pop(0), mover))
                node, fresh = node.children[-1], True
            else:
                node = max(node.children, key=lambda child, node=node: uct(agent, node, child))  # type: ignore[misc]
            path.append(node)
            walk.enter(node, rng, fresh)
        mover, certain = walk.mover(), not node.outcomes
        if node.proof is not None:
            values = list(node.proof)
        elif fresh and certain and mover != TERMINAL and forced(game, agent, walk.state):
            others = game.num_seats - 1
            values = [1.0 if seat == mover else -1.0 / others for seat in range(game.num_seats)]
            set_proof(node, values)
        else:
            values = evaluate(walk.state, walk.returns)
            if agent.solver and certain and mover == TERMINAL:
                set_proof(node, values)
        # Proofs rise as long as nothing was drawn on the way.
        for parent, child in zip(path[-2::-1], path[:0:-1], strict=True):
            proof = proof_of(parent, child.chooser) if agent.solver and child.proof is not None else None
            if proof is None or parent.outcomes:
                break
            set_proof(parent, proof)
            values = list(proof)
        for visited in path:
            visited.rewards.append(values)
            if visited.proof is None and visited is not root:
                back_up(visited, values[visited.chooser], agent.backup)
    return root


def set_proof(node: Node, values: list[float]) -> None:
    node.proof, node.mean = list(values), values[node.chooser]


def forced(game: Game, agent: Any, state: Any) -> bool:
    return bool(agent.forced_depth and game.kernels.forced_win(state, agent.forced_depth) >= 0)


def back_up(node: Node, value: float, backup: str) -> None:
    if backup == "minimum":
        node.mean = min(rewards[node.chooser] for rewards in node.rewards)
    else:
        node.mean += (value - node.mean) / node.visits


def choose(agent: Any, root: Node) -> int:
    """Returns the action that the final rule asks for; proven children are no worse than what they are worth."""

    def standing(child: Node) -> float:
        careful = agent.final == "secure" and child.proof is None
        return child.mean - (agent.security / math.sqrt(child.visits) if careful else 0.0)

    def rank(child: Node) -> tuple[float, float]:
        return (child.visits if agent.final.startswith("robust") else 0.0, standing(child))

    unsure = max((child for child in root.children if child.proof is None), key=rank, default=None)
    proven = max((child for child in root.children if child.proof is not None), key=standing, default=None)
    if unsure is None or (proven is not None and standing(proven) >= standing(unsure)):
        assert proven is not None
        return proven.action
    return unsure.action
