"""How certain are ratings from games that earlier results have chosen?

Intervals and p-values of `Ratings` hold for games planned beforehand. Adaptive and Swiss tournaments choose games by
results, and adaptive ones also end by them. Errors then no longer cancel: an agent with early bad luck gets few games,
which do not correct the luck, and agents meet opponents that luck has made their equals.

- The order of two agents: p-values that hold at all looks together, however games are chosen. Such a p-value is the
  inverse of a likelihood ratio: of a positive difference, half-normal with standard deviation TYPICAL, to none. Without
  a difference, it ever falls to p with probability p at most (Ville's inequality).
- Elo, adaptive: the half-width for planned games, plus the field's mean half-width. Elo is relative to the mean of the
  field, in which errors of planned games cancel; errors of chosen games add up at worst.
- Elo, Swiss: the half-width for planned games at a level divided by the number of agents (Bonferroni), as results may
  have made any of them the opponent.

Measured coverage of these intervals among equal agents, the worst case: adaptive, 4 to 24 agents and up to 10,000 games
95.5 to 100 % (intervals for planned games: 52 to 80 %); Swiss, 8 to 64 agents 95.8 to 99.2 % (75 to 92 %).

Sources: H. Robbins, Statistical methods related to the law of the iterated logarithm, Ann. Math. Stat. 41, 1970; S. R.
Howard, A. Ramdas, J. McAuliffe and J. Sekhon, Time-uniform, nonparametric, nonasymptotic confidence sequences, Ann.
Stat. 49, 2021 (mixtures).
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from .distributions import Floats, Ints, t_quantile
from .intervals import CONFIDENCE
from .ratings import Ratings

TYPICAL = 100.0  # Elo; p-values hold for all differences, and are smallest for those of about this size
MIN_VARIANCE = 1e-9  # Elo²


def order_p_values(ratings: Ratings, above: Ints, below: Ints) -> Floats:
    """Returns p-values [differences], valid at every look, of "`above` is no stronger than `below`".

    Args:
        ratings: of the agents.
        above: [differences] agents.
        below: [differences] the agents that they are compared with.
    """
    variance = np.maximum(ratings.variances()[above, below], MIN_VARIANCE)
    share = TYPICAL**2 / (TYPICAL**2 + variance)
    # The normal quantile of Student's p-value, since few games tell less; 0 for differences that are not positive.
    scaled = -scipy.special.ndtri(np.minimum(ratings.superiority()[below, above], 0.5))
    positive = math.log(2) + scipy.special.log_ndtr(scaled * np.sqrt(share))
    log_ratio = 0.5 * (np.log1p(-share) + share * scaled**2) + positive
    return np.asarray(np.exp(np.minimum(-log_ratio, 0.0)), np.float64)


def half_widths(ratings: Ratings, format: str) -> Floats:
    """Returns the half-widths [agents] of the 95 % intervals of Elo after a tournament.

    Args:
        ratings: of its agents.
        format: of the tournament; all formats except adaptive and swiss are planned beforehand.
    """
    planned = ratings.half_widths()
    if format == "adaptive":
        return np.asarray(planned + planned.mean(), np.float64)
    if format == "swiss":
        level = (1 - CONFIDENCE) / 2 / len(planned)
        return np.asarray(t_quantile(1 - level, ratings.freedom) * np.sqrt(np.diag(ratings.covariance)), np.float64)
    return planned
