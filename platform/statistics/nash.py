"""Nash averaging: what agents score against the mixture of agents that nobody beats. Copies of an agent change nothing.

The mixture is the optimal strategy of the game in which two people each name an agent of the field. Of several, it is
the one of largest entropy, which gives copies of an agent equal weights.

Source: D. Balduzzi, K. Tuyls, J. Perolat and T. Graepel, Re-evaluating evaluation, NeurIPS 2018.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from turnier.statistics.distributions import Floats
from turnier.statistics.intervals import CONFIDENCE

DRAWS = 200  # of the results, for the bands
LARGE = 60  # agents from which there are no bands
_ZERO = 1e-9
_MOST = 1e4  # weight of an agent, where the least is 1


class Nash(NamedTuple):
    """An agent's weight in the mixture, and its share of the points against it, with a band that holds 95 %."""

    weights: Floats  # [agents] sum is 1
    share: Floats  # [agents] 0.5 for who is in the mixture, less for who loses to it
    low: Floats  # [agents] NaN where there is no band
    high: Floats


def nash_average(shares: Floats, errors: Floats) -> Nash:
    """Returns the Nash average of a field.

    Args:
        shares: [agents, agents] of the points of the row's agent against the column's; 0.5 to itself.
        errors: [agents, agents] their standard errors; 0 where nothing is uncertain.
    """
    weights = equilibrium(2 * shares - 1)
    share = shares @ weights
    n = len(shares)
    if n > LARGE or not errors.any():
        return Nash(weights, share, np.full(n, np.nan), np.full(n, np.nan))
    random = np.random.default_rng(0)
    above = np.triu(np.ones((n, n), bool), 1)
    drawn = []
    for _ in range(DRAWS):
        noise = np.where(above, errors * random.normal(size=(n, n)), 0.0)
        moved = np.clip(shares + noise - noise.T, 0.0, 1.0)
        drawn.append(moved @ equilibrium(2 * moved - 1))
    low, high = np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
    return Nash(weights, share, np.minimum(low, share), np.maximum(high, share))


def equilibrium(payoffs: Floats) -> Floats:
    """Returns the weights [agents] of largest entropy that no agent wins against.

    Args:
        payoffs: [agents, agents] antisymmetric: what the row's agent wins from the column's.
    """
    from scipy import optimize  # takes long to import

    n = len(payoffs)
    # Weights may be multiplied by any number: all agents that may be in a mixture can have a weight of 1 at once.
    in_it = optimize.linprog(
        np.append(np.zeros(n), -np.ones(n)),
        A_ub=np.block([[payoffs, np.zeros((n, n))], [-np.eye(n), np.eye(n)]]),
        b_ub=np.append(np.full(n, _ZERO), np.zeros(n)),
        bounds=[(0, _MOST)] * n + [(0, 1)] * n,
        method="highs",
    ).x
    weights = in_it[:n]
    members = np.flatnonzero(in_it[n:] > 0.5)
    start = weights[members] / weights[members].sum()
    others = np.setdiff1d(np.arange(n), members)
    within, outside = payoffs[np.ix_(members, members)], payoffs[np.ix_(others, members)]
    free = _null_space(np.vstack([within, np.ones(len(members))]))
    found = np.zeros(n)
    found[members] = start if free.shape[1] == 0 else _most_even(start, free, outside)
    return np.asarray(found / found.sum(), np.float64)


def _null_space(matrix: Floats) -> Floats:
    _, values, vectors = np.linalg.svd(matrix)
    rank = int((values > 1e-7 * max(1.0, values.max(initial=0.0))).sum())
    return np.asarray(vectors[rank:].T, np.float64)


def _most_even(start: Floats, free: Floats, outside: Floats) -> Floats:
    """Returns the weights of largest entropy among start + free @ x that no agent outside wins against."""
    from scipy import optimize

    def weights(x: Floats) -> Floats:
        return np.maximum(start + free @ x, 1e-15)

    bounds = [{"type": "ineq", "fun": lambda x: start + free @ x}]
    if len(outside):
        bounds.append({"type": "ineq", "fun": lambda x: _ZERO - outside @ (start + free @ x)})
    found = optimize.minimize(
        lambda x: float(weights(x) @ np.log(weights(x))),
        np.zeros(free.shape[1]),
        jac=lambda x: free.T @ (np.log(weights(x)) + 1),
        constraints=bounds,
        method="SLSQP",
        options={"maxiter": 200, "ftol": 1e-12},
    )
    return np.clip(weights(found.x), 0.0, None) if found.success else start
