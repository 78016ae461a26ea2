"""How certain are the first places of a ranking, and which games would make them more certain?

The first places are right if every agent on them is stronger than the next, and the last of them is stronger than all
below. The probability that none of these differences is wrong is at least 1 minus the sum of their errors (Bonferroni).
To end a tournament, errors are p-values that hold at every look, however games are chosen (`chosen_games`); to choose
games, errors of planned games suffice.

Source: the choice of games follows V. Fedorov, Theory of Optimal Experiments, 1972 (the next observation is the one
that most reduces the variance in question), weighted as in ranking and selection (C.-H. Chen et al., Simulation
budget allocation for further enhancing the efficiency of ordinal optimization, Discrete Event Dyn. Syst. 10, 2000).
"""

from __future__ import annotations

import itertools

import numpy as np

from .chosen_games import order_p_values
from .distributions import Ints
from .ratings import ELO, Ratings

_STEPS = 16  # parts of a round, each given to one pairing


def ranking(ratings: Ratings) -> list[int]:
    """Returns the agents, strongest first; equal ones keep their order."""
    return [int(i) for i in np.argsort(-ratings.elo, kind="stable")]


def deciding_pairs(ratings: Ratings, top: int) -> tuple[Ints, Ints]:
    """Returns the pairs of agents (above [differences], below [differences]) whose order decides the first places.

    Args:
        ratings: of the agents.
        top: the number of first places.
    """
    order = ranking(ratings)
    top = min(top, len(order) - 1)
    pairs = list(itertools.pairwise(order[:top])) + [(order[top - 1], below) for below in order[top:]]
    above, below = np.array(pairs, np.int64).T
    return above, below


def place_certainty(ratings: Ratings, top: int) -> float:
    """Returns a lower bound of the probability that the first `top` places are right.

    It allows for a look after every round, for the choice of games by results, and for several places.
    docs/tournaments.md has measured frequencies of errors among places called 95 % certain.
    """
    return max(0.0, 1 - float(order_p_values(ratings, *deciding_pairs(ratings, top)).sum()))


def next_pairings(ratings: Ratings, top: int, pairs: int) -> list[tuple[int, int]]:
    """Returns the agents of the next pairs of games [pairs], chosen to make the first places certain.

    Each step chooses the pairing that most reduces the variances of the differences in question, weighted by the
    probability that they are wrong; the covariance is then updated as if these games had been played.
    """
    n = len(ratings.elo)
    first, second = np.triu_indices(n, 1)
    above, below = deciding_pairs(ratings, top)
    errors = 1 - ratings.superiority()[above, below]
    covariance = ratings.covariance.copy()
    expected = 1 / (1 + np.exp((ratings.elo[second] - ratings.elo[first]) / ELO))
    information = 2 * expected * (1 - expected) / ELO**2  # of a pair of games
    pairings: list[tuple[int, int]] = []
    for step in range(_STEPS):
        share = (step + 1) * pairs // _STEPS - step * pairs // _STEPS
        played = covariance[first] - covariance[second]  # [pairings, agents]
        variances = played[np.arange(len(first)), first] - played[np.arange(len(first)), second]
        gain = share * information / (1 + share * information * variances)
        moved = (played[:, above] - played[:, below]) ** 2  # [pairings, differences]
        present = covariance[above, above] + covariance[below, below] - 2 * covariance[above, below]
        best = int(np.argmax(gain * (moved @ (errors / np.maximum(present, 1e-9)))))
        covariance -= gain[best] * np.outer(played[best], played[best])
        pairings += [(int(first[best]), int(second[best]))] * share
    return pairings
