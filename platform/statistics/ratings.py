"""Ratings of many agents on one scale: the model of Bradley and Terry, in Elo.

An agent of strength r beats one of strength s with probability 1 / (1 + exp(s - r)); 1 is 400 / ln 10 = 174 Elo.

Sources: R. A. Bradley and M. E. Terry, Rank analysis of incomplete block designs I, Biometrika 39, 1952; K.-Y. Liang
and S. L. Zeger, Longitudinal data analysis using generalized linear models, Biometrika 73, 1986 (clustered covariance).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from turnier.statistics.distributions import Floats, t_probability, t_quantile
from turnier.statistics.intervals import CONFIDENCE

Ints = npt.NDArray[np.int64]

ELO = 400 / math.log(10)
PRIOR_GAMES = 1.0  # drawn games of every agent against a virtual one of mean strength
PRECISION = 1e-9  # of strengths: the last step of the fit is smaller
MAX_STEPS = 100  # of the fit, which takes fewer than ten


@dataclass(frozen=True)
class Ratings:
    """Strengths in Elo, whose mean is 0, and their covariance."""

    elo: Floats  # [agents]
    covariance: Floats  # [agents, agents], Elo²
    freedom: int  # degrees of freedom of Student's t

    def half_widths(self) -> Floats:
        """Returns the half-widths [agents] of the 95 % intervals: the strength relative to the mean of the field."""
        return self._quantile * np.sqrt(np.diag(self.covariance))

    def variances(self) -> Floats:
        """Returns the variances [agents, agents] of the differences of two ratings."""
        diagonal = np.diag(self.covariance)
        return np.maximum(diagonal[:, None] + diagonal[None, :] - 2 * self.covariance, 0.0)

    def differences(self) -> tuple[Floats, Floats]:
        """Returns the differences [agents, agents], row minus column, and the half-widths of their 95 % intervals."""
        return self.elo[:, None] - self.elo[None, :], self._quantile * np.sqrt(self.variances())

    def superiority(self) -> Floats:
        """Returns the likelihood [agents, agents] that the row's agent is stronger than the column's; 0.5 to itself."""
        difference, errors = self.elo[:, None] - self.elo[None, :], np.sqrt(self.variances())
        known = errors > 0
        scaled = np.divide(difference, errors, out=np.zeros_like(difference), where=known)
        return t_probability(scaled, self.freedom)

    def superiority_over_next(self, order: Ints) -> Floats:
        """Returns the likelihood [order] that each of these agents is stronger than the next; NaN for the last."""
        chosen = Ratings(self.elo[order], self.covariance[np.ix_(order, order)], self.freedom)
        return np.append(np.diagonal(chosen.superiority(), 1), [np.nan] * bool(len(order)))

    @property
    def _quantile(self) -> float:
        return float(t_quantile(0.5 + CONFIDENCE / 2, self.freedom))


def bradley_terry(agents: int, first: Ints, second: Ints, points: Floats, clusters: Ints) -> Ratings:
    """Rates agents by games between two of them.

    A binomial model in which a draw is half a win; its covariance is clustered, because games of one pair (the same
    seed, seats rotated) are not independent. Every agent has also drawn PRIOR_GAMES with a virtual agent of mean
    strength, so that agents that won everything, and agents that never met, have finite ratings.

    Args:
        agents: their number.
        first: [games] an agent's index.
        second: [games] that of its opponent, another agent.
        points: [games] of the first: 1 won, 0.5 drawn, 0 lost.
        clusters: [games] equal numbers from 0 where games are not independent.
    """
    flipped = first > second
    low, high = np.where(flipped, second, first), np.where(flipped, first, second)
    scored = np.where(flipped, 1 - points, points)
    pairings, pairing = np.unique(low * agents + high, return_inverse=True)
    games = np.bincount(pairing, minlength=len(pairings)).astype(np.float64)
    won = np.bincount(pairing, scored, minlength=len(pairings)).astype(np.float64)
    ends = _Ends(agents, pairings // agents, pairings % agents)
    strengths = _fit(ends, games, won)

    expected = ends.expected(strengths)
    information = games * expected * (1 - expected)
    virtual = _virtual(strengths)
    bread = np.linalg.inv(ends.laplacian(information) + np.diag(virtual))
    cluster = np.unique(clusters, return_inverse=True)[1]
    number = int(cluster.max(initial=-1)) + 1
    # For virtual games, and where all pairs ended alike, the variance is that of the model, not the observed one.
    varied = _varied(pairing, scored, cluster, len(pairings))
    meat = ends.laplacian(np.where(varied, 0.0, information)) + np.diag(virtual)
    residuals = np.where(varied[pairing], scored - expected[pairing], 0.0)
    agents_of = (np.tile(cluster, 2), np.concatenate([low, high]))
    from scipy import sparse  # takes longer to import than most tables to rate

    by_cluster = sparse.csr_array((np.concatenate([residuals, -residuals]), agents_of), shape=(number, agents))
    freedom = max(1, number - agents + 1)
    meat += number / freedom * (by_cluster.T @ by_cluster).toarray()
    centre = np.eye(agents) - 1 / agents
    covariance = ELO**2 * centre @ bread @ meat @ bread @ centre
    return Ratings(ELO * centre @ strengths, covariance, freedom)


@dataclass(frozen=True)
class _Ends:
    """The agents of every pairing: a graph whose edges are pairings."""

    agents: int
    low: Ints  # [pairings]
    high: Ints  # [pairings]

    def expected(self, strengths: Floats) -> Floats:
        """Returns the points [pairings] per game that the model expects of `low`."""
        return np.asarray(special.expit(strengths[self.low] - strengths[self.high]), np.float64)

    def sums(self, values: Floats) -> Floats:
        """Returns for each agent the sum over its pairings: values where it is `low`, minus values where `high`."""
        size = self.agents
        sums = np.bincount(self.low, values, size) - np.bincount(self.high, values, size)
        return np.asarray(sums, np.float64)

    def laplacian(self, weights: Floats) -> Floats:
        """Returns the Laplacian matrix [agents, agents] of the pairings with these weights."""
        matrix = np.zeros((self.agents, self.agents))
        matrix[self.low, self.high] = matrix[self.high, self.low] = -weights
        np.fill_diagonal(matrix, -matrix.sum(axis=1))
        return matrix


def _virtual(strengths: Floats) -> Floats:
    """Returns the information [agents] in the virtual games."""
    expected = special.expit(strengths)
    return np.asarray(PRIOR_GAMES * expected * (1 - expected), np.float64)


def _fit(ends: _Ends, games: Floats, won: Floats) -> Floats:
    """Returns the strengths [agents] of maximum likelihood, by Newton's method; the likelihood is concave."""

    def log_likelihood(strengths: Floats) -> float:
        difference = strengths[ends.low] - strengths[ends.high]
        played = won @ special.log_expit(difference) + (games - won) @ special.log_expit(-difference)
        drawn = special.log_expit(strengths).sum() + special.log_expit(-strengths).sum()
        return float(played + PRIOR_GAMES / 2 * drawn)

    strengths = np.zeros(ends.agents)
    reached = log_likelihood(strengths)
    for _ in range(MAX_STEPS):
        expected = ends.expected(strengths)
        slope = ends.sums(won - games * expected) + PRIOR_GAMES * (0.5 - special.expit(strengths))
        curvature = ends.laplacian(games * expected * (1 - expected)) + np.diag(_virtual(strengths))
        step = np.linalg.solve(curvature, slope)
        while (likelihood := log_likelihood(strengths + step)) < reached - abs(reached) * 1e-12:
            step /= 2  # far from the maximum a whole step can lead beyond it
        strengths, reached = strengths + step, likelihood
        if np.abs(step).max(initial=0.0) < PRECISION:
            break
    return strengths


def _varied(pairing: Ints, scored: Floats, cluster: Ints, pairings: int) -> npt.NDArray[np.bool_]:
    """Returns [pairings] whether the clusters of a pairing differ in their mean points."""
    _, cell = np.unique(cluster * pairings + pairing, return_inverse=True)
    means = np.bincount(cell, scored) / np.bincount(cell)
    least, most = np.full(pairings, 2.0), np.full(pairings, -1.0)
    np.minimum.at(least, pairing, means[cell])
    np.maximum.at(most, pairing, means[cell])
    return most > least
