"""Games really played: 2048 with row tables, a score, and Yavalath with MCTS, won or lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from turnier.agents.agent import Agent
from turnier.agents.registry import make_agent
from turnier.arena.match import MatchSpec, derive_seed
from turnier.arena.play import play_matches
from turnier.games.registry import GAMES
from turnier.search.space import Space
from turnier.studies.benchmark.problem import Floats, Problem

HELD_OUT = 300  # games that judge a recommendation; in games of two, of each seat
BOUND = 2**63


class RealGames(Problem):
    """Games of an agent whose parameters are searched.

    Args:
        game: its text.
        start: the agent to begin with, which is the opponent in games of two.
        judge: the opponent in held-out games; None in games of one.
        paths: parameters.
    """

    def __init__(self, game: str, start: Agent, judge: str | None, paths: Sequence[str]) -> None:
        self.game, self.agent, self.judge = GAMES.make(game).full_text(), start, judge
        space = Space.of(start, paths)
        super().__init__(space, space.encode(start))
        self.duels = judge is not None
        self.unit = 2 if self.duels else 1

    def _texts(self, vectors: Sequence[Sequence[float]] | Floats) -> list[str]:
        return [self.space.apply(self.agent, self.space.decode(v)).full_text() for v in vectors]

    def _scores(self, first: Sequence[str], seeds: Sequence[int]) -> list[float]:
        found = play_matches([MatchSpec(self.game, (text,), seed) for text, seed in zip(first, seeds, strict=True)])
        return [record.scores[0] for record in found]

    def _points(self, first: Sequence[str], second: Sequence[str], seeds: Sequence[int]) -> list[float]:
        """Returns the shares of points of the first agents in two games, one of each seat on a common seed."""
        each = list(zip(first, second, seeds, strict=True))
        specs = [MatchSpec(self.game, (one, other), seed) for one, other, seed in each]
        found = play_matches(specs + [replace(spec, agents=spec.agents[::-1]) for spec in specs])
        halves = zip(found[: len(each)], found[len(each) :], strict=True)
        return [(one.points[0] + other.points[1]) / 2 for one, other in halves]

    def play(self, vectors: Floats, rng: np.random.Generator) -> Sequence[float]:
        texts, seeds = self._texts(vectors), rng.integers(BOUND, size=len(vectors)).tolist()
        if not self.duels:
            return self._scores(texts, seeds)
        return self._points(texts, [self.agent.full_text()] * len(texts), seeds)

    def duel(self, vectors: Floats, rng: np.random.Generator) -> Sequence[float]:
        texts = self._texts(vectors)
        won = self._points(texts[::2], texts[1::2], rng.integers(BOUND, size=len(texts) // 2).tolist())
        return [share for one in won for share in (one, 1 - one)]

    def loss(self, vector: Sequence[float]) -> float:
        """Returns minus the mean of held-out games: thousands of points, or the share of points in percent."""
        texts = self._texts([vector]) * HELD_OUT
        seeds = [derive_seed("unseen", i) for i in range(HELD_OUT)]
        if self.judge is None:
            return -float(np.mean(self._scores(texts, seeds))) / 1000
        judge = make_agent(self.judge).full_text()
        return -100 * float(np.mean(self._points(texts, [judge] * HELD_OUT, seeds)))


def rows(seed: int) -> RealGames:
    """Returns seven weights of row tables at 2048, one ply deep."""
    weights = ("empty", "merges", "monotonicity", "monotonicity_power", "sum", "sum_power", "corner")
    start = make_agent("expectimax(depth=1,evaluator=rows2048)")
    return RealGames("2048(size=4)", start, None, [f"evaluator.{name}" for name in weights])


def yavalath(seed: int) -> RealGames:
    """Returns three parameters of MCTS at Yavalath, from bad ones."""
    start = make_agent("mcts(iterations=100,exploration=6,rollout_depth=6,tree_depth=4)")
    paths = ["exploration=0.01..10:log", "rollout_depth=1..60", "tree_depth=1..30"]
    return RealGames("yavalath", start, "mcts(iterations=100)", paths)
