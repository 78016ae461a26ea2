"""PUCT and Gumbel's choice with objects in place of arrays: a plain-Python oracle that must agree bit for bit.

Sources: Silver et al. 2017; Schrittwieser et al. 2020; Danihelka et al. 2022; proofs after Winands 2008, for any number
of seats. It asks the game's kernels for moves and shares the random stream.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.agents.mcts.naive_mcts import Walk, forced
from turnier.games.abi import CHANCE, TERMINAL
from turnier.games.game import Game, Position
from turnier.games.generic import draw_outcome

Evaluate = Callable[[Any, Any], list[float]]
Policy = Callable[[Any, int], float]  # the logit of an action, from the state after it and who chose it


@dataclass
class Node:
    """A state in which a seat is to move, an end, or (with `drawn`) a state after an action before chance."""

    action: int = -1
    chooser: int = -1  # the seat that chose the action
    first: float = 0.0  # value of one decision ahead, for the chooser
    prior: float = 0.0
    logit: float = 0.0
    rewards: list[float] = field(default_factory=list)  # for the chooser
    own: list[float] = field(default_factory=list)  # its first value, for every seat
    visits: int = 0
    proof: list[float] | None = None
    drawn: dict[tuple[int, ...], Node] | None = None  # states by the outcomes
    children: list[Node] = field(default_factory=list)  # by action

    @property
    def mean(self) -> float:
        if self.proof is not None:
            return self.proof[self.chooser]
        mean = 0.0
        for i, reward in enumerate(self.rewards):
            mean += (reward - mean) / (i + 1)
        return mean if self.rewards else self.first


class Search:
    """One search: a tree and the extremes of its values."""

    def __init__(
        self, agent: Any, position: Position, rng: Any, evaluate: Evaluate, policy: Policy | None = None
    ) -> None:
        self.agent, self.position, self.rng, self.evaluate = agent, position, rng, evaluate
        self.policy = policy
        self.game: Game = position.game
        self.root = Node()
        self.seen: list[float] = [-1.0, 1.0] if self.game.num_seats > 1 else []

    def guess(self, walk: Walk) -> list[float]:
        """Returns what a state is said to be worth: among several seats not quite a win or a loss, unless it is one."""
        values = self.evaluate(walk.state, walk.returns)
        if walk.mover() == TERMINAL or len(values) == 1:
            return values
        return [min(max(value, -0.999), 0.999) for value in values]

    def expand(self, node: Node, walk: Walk) -> list[list[float]]:
        """Gives a node its children; returns what they are worth to every seat."""
        mover, worth, learned = walk.mover(), [], []
        for action in walk.legal():
            ahead = Walk(self.position)
            ahead.state, ahead.returns = walk.state.copy(), walk.returns.copy()
            ahead.step(action)
            values = self.guess(ahead)
            if self.policy:
                learned.append(self.policy(ahead.state, mover))
            child = Node(action, mover, values[mover])
            if self.agent.solver and ahead.mover() == TERMINAL:
                child.proof = values
            node.children.append(child)
            worth.append(values)
            if self.game.num_seats == 1:
                self.seen.append(values[0])
        own = [values[mover] for values in worth]
        span = 2.0 if self.game.num_seats > 1 else (max(own) - min(own) or 1.0)
        logits = [(value - max(own)) / (span * self.agent.temperature) for value in own]
        if self.policy:
            logits = [own + more for own, more in zip(logits, learned, strict=True)]
            logits = [logit - max(logits) for logit in logits]
        total = 0.0
        for logit in logits:
            total += math.exp(logit)
        for child, logit in zip(node.children, logits, strict=True):
            child.logit, child.prior = logit - math.log(total), math.exp(logit) / total
        return worth

    def puct(self, node: Node, child: Node) -> float:
        low, high = min(self.seen), max(self.seen)
        own = (child.mean - low) * (1.0 / (high - low) if high > low else 0.0)
        prior = 0.0 if child.proof is not None else child.prior
        return own + self.agent.exploration * math.sqrt(node.visits) * prior / (1.0 + child.visits)

    def improved_logits(self, node: Node) -> list[float]:
        visited = [child for child in node.children if child.visits]
        mixed, count, weights, total = node.own[node.children[0].chooser], sum(c.visits for c in visited), 0.0, 0.0
        for child in visited:
            weights += math.exp(child.logit)
            total += math.exp(child.logit) * child.mean
        if visited:
            mixed = (mixed + count * total / weights) / (1 + count)
        means = [child.mean if child.visits or child.proof is not None else mixed for child in node.children]
        low, high = (-1.0, 1.0) if self.game.num_seats > 1 else (min(means), max(means))
        most = max(child.visits for child in node.children)
        scale = (50.0 + most) * self.agent.value_scale / (high - low) if high > low else 0.0
        return [child.logit + scale * (mean - low) for child, mean in zip(node.children, means, strict=True)]

    def lacking(self, node: Node) -> list[float]:
        """The improved policy minus each child's share of the visits."""
        logits = self.improved_logits(node)
        powers = [math.exp(logit - max(logits)) for logit in logits]
        total = 0.0
        for power in powers:
            total += power
        visits = 1 + sum(child.visits for child in node.children)
        return [p / total - c.visits / visits for p, c in zip(powers, node.children, strict=True)]

    def select(self, node: Node) -> Node:
        if self.agent.selection == "gumbel":
            scores = self.lacking(node)
        else:
            scores = [self.puct(node, child) for child in node.children]
        return node.children[scores.index(max(scores))]

    def iterate(self, through: Node | None = None) -> None:
        if self.root.proof is not None:
            return
        agent, walk, node, depth = self.agent, Walk(self.position), self.root, 0
        path = [self.root]
        while depth < agent.tree_depth and node.children and node.proof is None:
            node = through if through is not None and depth == 0 else self.select(node)
            depth += 1
            path.append(node)
            walk.step(node.action)
            if walk.mover() == CHANCE:
                node.drawn = {} if node.drawn is None else node.drawn
                outcomes = []
                while walk.mover() == CHANCE:
                    outcomes.append(int(draw_outcome(walk.kernels, walk.state, self.rng, walk.choices, walk.probs)))
                    walk.step(outcomes[-1])
                node = node.drawn.setdefault(tuple(outcomes), Node())
                path.append(node)
        mover, certain = walk.mover(), node.drawn is None
        if node.proof is not None:
            values = list(node.proof)
        elif certain and mover != TERMINAL and not node.children and forced(self.game, agent, walk.state):
            others = self.game.num_seats - 1
            node.proof = values = [1.0 if seat == mover else -1.0 / others for seat in range(self.game.num_seats)]
        else:
            worth = self.expand(node, walk) if mover != TERMINAL and not node.children else []
            if worth and agent.leaf == "best":
                values = list(max(worth, key=lambda own: own[mover]))
            else:
                values = self.guess(walk)
            node.own = node.own or list(values)
            if agent.solver and mover == TERMINAL:
                node.proof = values
        for parent in path[::-1] if agent.solver else []:
            if parent.drawn is not None:
                break  # chance could have come out otherwise
            if parent.proof is None:
                proof = proof_of(parent)
                if proof is None:
                    break
                parent.proof = values = list(proof)
        for visited in path:
            visited.visits += 1
            if visited.proof is None and visited.chooser >= 0:
                visited.rewards.append(values[visited.chooser])
        if self.game.num_seats == 1:
            self.seen.append(values[0])

    def mix(self, noise: Sequence[float]) -> None:
        """Has the noise take a quarter of the priors at the root."""
        shares = [float(share) for share in noise][: len(self.root.children)]
        for child, share in zip(self.root.children, shares, strict=True):
            if sum(shares) > 0 and child.proof is None:
                child.prior += 0.25 * (share - child.prior)

    def halve(self, noise: Sequence[float]) -> Node | None:
        """Sequential halving; returns the favourite."""
        self.iterate()
        children = self.root.children
        first = {id(c): c.logit + g for c, g in zip(children, noise, strict=False)}
        left = self.agent.iterations - 1
        m = min(self.agent.considered, len(children))
        considered = sorted(children, key=lambda child: -first[id(child)])[:m]
        rounds, total = max(1, math.ceil(math.log2(m))), left
        while left > 0:
            for _ in range(max(1, total // (rounds * m))):
                for child in considered[: min(m, left)]:
                    if self.root.proof is not None:
                        return None
                    self.iterate(child)
                left = max(left - m, 0)
            scores = self.scores(noise)
            considered.sort(key=lambda child: -scores[id(child)])
            m = max(min(2, m), m // 2)
            considered = considered[:m]
        if self.root.proof is not None:
            return None
        scores = self.scores(noise)
        return max(children, key=lambda child: (child.visits, scores[id(child)]))

    def scores(self, noise: Sequence[float]) -> dict[int, float]:
        logits = self.improved_logits(self.root)
        return {id(c): logit + g for c, logit, g in zip(self.root.children, logits, noise, strict=False)}


def proof_of(node: Node) -> list[float] | None:
    """Returns the best possible proof for the mover, or the best of all where all children are proven, or None."""
    proofs = [child.proof for child in node.children if child.proof is not None]
    if not proofs:
        return None
    mover = node.children[0].chooser
    best = max(proofs, key=lambda proof: proof[mover])
    return best if len(proofs) == len(node.children) or best[mover] >= 1.0 else None
