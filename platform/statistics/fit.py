"""Does one rating per agent explain the results, or do agents beat each other in a circle?

The points of every two agents are compared with those that their ratings expect. The variation between pairs of games
within a pairing tells how far points may deviate by chance. The distribution of the statistic comes from simulated
games, since few games between very unequal agents are far from normal. With three and more seats, a game is one of
several pairings: their points vary together as they did between seeds. The cyclic share is the part of the agents'
differences that no rating explains, as in the decomposition of D. Balduzzi et al., Re-evaluating evaluation, NeurIPS
2018.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from .distributions import Floats, Ints

LEVEL = 0.05  # p-values below it: the ratings do not explain the results
DRAWS = 1000  # simulated tournaments
MANY = 600  # clusters of pairings; more are not drawn one by one
LARGE = 1000  # pairings from which the usual F distribution is used
LEAST_SCALE = 0.25  # ratio of observed variances to those of independent games, which is 0 if all games ended alike
CALM = 0.5  # added to the variances of pairings, so that one unlikely game does not decide
SHOWN = 3  # pairs of agents that contradict the ratings most


class Surprise(NamedTuple):
    """Two agents, by index, whose points the ratings do not explain."""

    first: int
    second: int
    seen: float  # the first agent's share of the points
    expected: float
    games: int


class Fit(NamedTuple):
    """How well ratings explain results."""

    p: float  # of points as far from the expected ones; NaN if no two pairings can contradict each other
    cyclic: float  # share of the agents' differences that no rating explains, 0 to 1; NaN like p
    worst: tuple[Surprise, ...]  # pairs that contradict the ratings, the worst first; empty if the ratings fit

    @property
    def holds(self) -> bool:
        """Whether nothing contradicts the ratings."""
        return not self.p < LEVEL


UNKNOWN = Fit(np.nan, np.nan, ())


def fit_of(
    agents: int,
    first: Ints,
    second: Ints,
    points: Floats,
    expected: Floats,
    clusters: Ints,
    times: Floats | None = None,
) -> Fit:
    """Returns how well expected points explain the points of pairings.

    Args:
        agents: number of agents.
        first, second: [games] indices of agents.
        points: [games] of the first agent.
        expected: [games] points that the ratings expect for it.
        clusters: [games] equal for games that are not independent.
        times: [games] number of clusters like the game's own; None = 1.
    """
    alike = np.ones(len(points)) if times is None else times
    pairings = _Pairings(agents, first, second, points, expected, clusters, alike)
    over = len(pairings.low) - (agents - pairings.groups())
    if over < 1:
        return UNKNOWN
    chi = pairings.contradiction()
    if len(pairings.low) <= LARGE:
        p = pairings.simulated_p()
    else:
        p = float(scipy.special.fdtrc(over, max(pairings.freedom, 1), chi / over))
    without_ratings = max(pairings.differences() - len(pairings.low), 0.0)
    cyclic = min(1.0, max(chi - over, 0.0) / without_ratings) if without_ratings > 0 else 0.0
    return Fit(p, cyclic, pairings.worst() if p < LEVEL else ())


class _Pairings:
    """The points of every two agents that met, with the expected ones."""

    def __init__(
        self, agents: int, first: Ints, second: Ints, points: Floats, expected: Floats, clusters: Ints, times: Floats
    ) -> None:
        turned = first > second
        low, high = np.where(turned, second, first), np.where(turned, first, second)
        won, hoped = np.where(turned, 1 - points, points), np.where(turned, 1 - expected, expected)
        met, pairing = np.unique(low * agents + high, return_inverse=True)
        self.agents, self.low, self.high = agents, met // agents, met % agents
        self.games = np.bincount(pairing, times)
        self.won, self.hoped = np.bincount(pairing, won * times), np.bincount(pairing, hoped * times)
        self.variance = np.maximum(np.bincount(pairing, hoped * (1 - hoped) * times), 1e-9)  # if games were independent
        number = int(clusters.max(initial=0)) + 1
        cells, cell = np.unique(pairing * number + clusters, return_inverse=True)
        self._of, self._units = cells // number, np.bincount(cell).astype(np.float64)
        self._alike = np.ones(len(cells))
        self._alike[cell] = times
        self.freedom = int(self._alike.sum()) - len(met)
        apart = np.asarray(np.bincount(cell, won - hoped), np.float64)
        self._together = None  # covariance [pairings, pairings] of points, if games are of several pairings each
        cluster = np.unique(cells % number, return_inverse=True)[1]
        if cluster.max(initial=-1) + 1 < len(cells) and len(met) <= LARGE:
            self._together = _covariance(apart, self._alike, cluster, self._of)
        if self._alike.sum() <= MANY:  # clusters are drawn one by one
            each = self._alike.astype(np.int64)
            self._of, self._units, apart = (np.repeat(part, each) for part in (self._of, self._units, apart))
            self._alike = np.ones(len(apart))
        once = np.asarray(apart[None, :], np.float64)
        total = np.asarray((self.won - self.hoped)[None, :], np.float64)
        self.scale, squares = float(self._scales(once, total)[0]), self._squares(once, total)
        mean = float(np.average(squares[0], weights=self._alike))
        spread = float(np.average((squares[0] - mean) ** 2, weights=self._alike)) / max(mean, 1e-9) ** 2
        self.scale_error = np.sqrt(spread / self.freedom) if self.freedom else 0.0  # relative standard error

    def _squares(self, sums: Floats, totals: Floats) -> Floats:
        """Returns squared deviations of clusters from their pairings' means, over the variances of independent games.

        Args:
            sums: [draws, clusters of pairings] of points beyond the expected ones.
            totals: [draws, pairings] likewise.
        """
        apart = sums - (totals / self.games)[:, self._of] * self._units
        return np.asarray(apart**2 / (self.variance[self._of] * self._units / self.games[self._of]), np.float64)

    def _scales(self, sums: Floats, totals: Floats) -> Floats:
        """Returns the ratios [draws] of the variance of clusters to that of independent games."""
        if not self.freedom:
            return np.ones(len(sums))
        scales = (self._squares(sums, totals) * self._alike).sum(axis=1) / self.freedom
        return np.asarray(np.maximum(scales, LEAST_SCALE), np.float64)

    def groups(self) -> int:
        """Returns the number of groups of agents without games between groups, including agents without games."""
        return int(groups_of(self.agents, self.low, self.high).max(initial=-1)) + 1

    def contradiction(self) -> float:
        """Returns the sum of squared deviations from the expected points, each over its variance."""
        return float(((self.won - self.hoped) ** 2 / self.variance).sum()) / self.scale

    def differences(self) -> float:
        """Returns that sum if all agents were expected to be equal."""
        return float(((self.won - self.games / 2) ** 2 / self.variance).sum()) / self.scale

    def simulated_p(self) -> float:
        """Returns the share of DRAWS simulated tournaments that contradict perfect ratings at least as much.

        Points are binomial, or normal if games are of several pairings; the effect of the fit is taken from them to
        first order.
        """
        made, scales = self._drawn(np.random.default_rng(0))
        scale = self.scale if self._together is None else 1.0  # the covariance has it
        design = np.zeros((len(self.games), self.agents))
        places = np.arange(len(self.games))
        design[places, self.low], design[places, self.high] = 1.0, -1.0
        weighted = design * self.variance[:, None]
        taken = weighted @ np.linalg.pinv(design.T @ weighted) @ design.T
        seen = self.won - self.hoped
        left, seen = made - made @ taken.T, seen - taken @ seen  # from `seen`, the effect of the virtual games
        calm = self.variance + CALM
        found = (left**2 / calm).sum(axis=1) / scales
        return float((np.sum(found >= (seen**2 / calm).sum() / scale) + 1) / (DRAWS + 1))

    def _drawn(self, random: np.random.Generator) -> tuple[Floats, Floats]:
        """Returns points [draws, pairings] beyond the expected ones, and the `_scales` [draws] of clusters.

        Few clusters are drawn one by one, since variation between pairings cannot be within them; of many, scales are
        drawn with the observed error.
        """
        if self._together is not None:
            values, vectors = np.linalg.eigh(self._together)
            normal = random.standard_normal((DRAWS, len(values)))
            return normal @ (vectors * np.sqrt(np.maximum(values, 0))).T, np.ones(DRAWS)
        chance = self.hoped / self.games
        if self._alike.sum() > MANY:
            made = random.binomial(np.round(self.games).astype(np.int64), chance, (DRAWS, len(self.games)))
            squared = max(self.scale_error**2, 1e-12)
            return made - self.games * chance, random.gamma(1 / squared, squared, DRAWS)
        drawn = random.binomial(self._units.astype(np.int64), chance[self._of], (DRAWS, len(self._units)))
        sums = drawn - self._units * chance[self._of]
        totals = np.add.reduceat(sums, np.flatnonzero(np.diff(self._of, prepend=-1)), axis=1)
        return totals, self._scales(sums, totals)

    def worst(self) -> tuple[Surprise, ...]:
        surprise = np.abs(self.won - self.hoped) / np.sqrt(self.variance)
        found = np.argsort(-surprise, kind="stable")[:SHOWN]
        return tuple(self._surprise(place) for place in found.tolist() if surprise[place] ** 2 > 4 * self.scale)

    def _surprise(self, place: int) -> Surprise:
        games = self.games[place]
        seen, expected = self.won[place] / games, self.hoped[place] / games
        low, high = int(self.low[place]), int(self.high[place])
        if seen < 0.5:  # told from the winner's side
            return Surprise(high, low, float(1 - seen), float(1 - expected), round(games))
        return Surprise(low, high, float(seen), float(expected), round(games))


def _covariance(apart: Floats, alike: Floats, clusters: Ints, pairings: Ints) -> Floats:
    """Returns the covariance [pairings, pairings] of the sums of independent clusters.

    Args:
        apart: [cells] points of a cluster in a pairing beyond the expected ones.
        alike: [cells] number of clusters like the cell's.
        clusters: [cells] of each cell.
        pairings: [cells] of each cell.
    """
    table = scipy.sparse.csr_array((apart * np.sqrt(alike), (clusters, pairings)))
    return np.asarray((table.T @ table).toarray(), np.float64)


def groups_of(agents: int, first: Ints, second: Ints) -> Ints:
    """Returns the number [agents] of each agent's group; no game links two groups, and each begins with a new agent.

    Args:
        agents: their number.
        first: [meetings] an agent of each.
        second: [meetings] its opponent.
    """
    group, before = np.arange(agents), None
    while before is None or (group != before).any():
        before = group.copy()
        least = np.minimum(group[first], group[second])
        np.minimum.at(group, first, least)
        np.minimum.at(group, second, least)
        group = group[group]
    return np.asarray(np.unique(group, return_inverse=True)[1], np.int64)
