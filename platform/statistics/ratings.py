"""Ratings of many agents on one scale: the model of Bradley and Terry, in Elo.

An agent of strength r beats one of strength s with probability 1 / (1 + exp(s - r)); 1 is 400 / ln 10 = 174 Elo.

Sources: R. A. Bradley and M. E. Terry, Rank analysis of incomplete block designs I, Biometrika 39, 1952; K.-Y. Liang
and S. L. Zeger, Longitudinal data analysis using generalized linear models, Biometrika 73, 1986 (clustered covariance).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from turnier.statistics.intervals import CONFIDENCE

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

ELO = 400 / math.log(10)
PRIOR_GAMES = 1.0  # drawn games of every agent against a virtual one of mean strength


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
        return np.asarray(stats.t.cdf(scaled, self.freedom), np.float64)

    @property
    def _quantile(self) -> float:
        return float(stats.t.ppf(0.5 + CONFIDENCE / 2, self.freedom))


def bradley_terry(agents: int, first: Ints, second: Ints, points: Floats, clusters: Ints) -> Ratings:
    """Rates agents by games between two of them.

    A binomial model, fitted by statsmodels, in which a draw is half a win; its covariance is clustered, because games
    of one pair (the same seed, seats rotated) are not independent. Every agent has also drawn PRIOR_GAMES with a
    virtual agent of mean strength, so that agents that won everything, and agents that never met, have finite ratings.

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
    code = low * agents + high
    pairings = np.flatnonzero(np.bincount(code, minlength=agents**2))
    pairing = np.searchsorted(pairings, np.arange(agents**2))[code]
    games = np.bincount(pairing, minlength=len(pairings))
    won = np.bincount(pairing, scored, minlength=len(pairings))
    versus = np.eye(agents)[pairings // agents] - np.eye(agents)[pairings % agents]
    design = np.concatenate([versus, np.eye(agents)])
    weights = np.concatenate([games, np.full(agents, PRIOR_GAMES)])
    strengths = _fit(design, np.concatenate([won / np.maximum(games, 1), np.full(agents, 0.5)]), weights)

    expected = 1 / (1 + np.exp(-design @ strengths))
    information = weights * expected * (1 - expected)
    bread = np.linalg.inv(design.T @ (information[:, None] * design))
    present = np.bincount(clusters) > 0
    number, cluster = int(present.sum()), (np.cumsum(present) - 1)[clusters]
    # For virtual games, and where all pairs ended alike, the variance is that of the model, not the observed one.
    varied = np.append(_varied(pairing, scored, cluster, len(pairings)), np.zeros(agents, bool))
    meat = design.T @ (np.where(varied, 0.0, information)[:, None] * design)
    residuals = np.where(varied[pairing], scored - expected[pairing], 0.0)
    cells = number * agents
    sums = np.bincount(cluster * agents + low, residuals, cells) - np.bincount(
        cluster * agents + high, residuals, cells
    )
    by_cluster = sums.reshape(-1, agents)
    freedom = max(1, number - agents + 1)
    meat += number / freedom * by_cluster.T @ by_cluster
    centre = np.eye(agents) - 1 / agents
    covariance = ELO**2 * centre @ bread @ meat @ bread @ centre
    return Ratings(ELO * centre @ strengths, covariance, freedom)


def _fit(design: Floats, shares: Floats, weights: Floats) -> Floats:
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_linear_model import GLM
    from statsmodels.tools.sm_exceptions import PerfectSeparationWarning

    # A perfect fit, such as two agents always have, is no separation; and its dispersion is not used.
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.simplefilter("ignore", PerfectSeparationWarning)
        return np.asarray(GLM(shares, design, Binomial(), var_weights=weights).fit().params, np.float64)


def _varied(pairing: Ints, scored: Floats, cluster: Ints, pairings: int) -> npt.NDArray[np.bool_]:
    """Returns [pairings] whether the clusters of a pairing differ in their mean points."""
    _, cell = np.unique(cluster * pairings + pairing, return_inverse=True)
    means = np.bincount(cell, scored) / np.bincount(cell)
    least, most = np.full(pairings, 2.0), np.full(pairings, -1.0)
    np.minimum.at(least, pairing, means[cell])
    np.maximum.at(most, pairing, means[cell])
    return most > least
