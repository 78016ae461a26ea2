"""Nash averaging: what agents score against a mixture of agents that nobody beats. Copies of an agent change nothing.

The mixture is the optimal strategy of the game in which two people each name an agent of the field. Many may be optimal
as far as the games show; of these it is the one of largest entropy, which gives copies of an agent equal weights,
though one of them has had more luck.

Source: D. Balduzzi, K. Tuyls, J. Perolat and T. Graepel, Re-evaluating evaluation, NeurIPS 2018. Here nobody beats the
mixture demonstrably; there nobody did at all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

from .distributions import Floats, normal_quantile
from .intervals import CONFIDENCE

LEAST = 1e-3  # points that may be won against the mixture where nothing is uncertain
PASSES = 3  # in which the mixture and what is demonstrable against it settle


class Nash(NamedTuple):
    """An agent's weight in the mixture, and its share of the points against it, with its 95 % interval."""

    weights: Floats  # [agents] sum is 1
    share: Floats  # [agents] about 0.5 for who is in the mixture, less for who loses to it
    low: Floats
    high: Floats


def nash_average(shares: Floats, errors: Floats) -> Nash:
    """Returns the Nash average of a field.

    Args:
        shares: [agents, agents] of the points of the row's agent against the column's; 0.5 to itself.
        errors: [agents, agents] their standard errors; 0 if nothing is uncertain.
    """
    weights = np.full(len(shares), 1 / max(1, len(shares)))
    for _ in range(PASSES):
        half = normal_quantile(0.5 + CONFIDENCE / 2) * np.sqrt(errors**2 @ weights**2)
        weights = unbeaten(shares - 0.5, np.maximum(half, LEAST))
    share = shares @ weights
    half = normal_quantile(0.5 + CONFIDENCE / 2) * np.sqrt(errors**2 @ weights**2)
    return Nash(weights, share, np.maximum(share - half, 0.0), np.minimum(share + half, 1.0))


def unbeaten(payoffs: Floats, most: Floats) -> Floats:
    """Returns the weights [agents] of largest entropy against which no agent wins more than it may.

    Args:
        payoffs: [agents, agents] antisymmetric: what the row's agent wins from the column's.
        most: [agents] what each may win on average, above 0.

    In the dual, weights are proportional to exp(payoffs @ prices), where an agent that wins as much as it may has a
    price.
    """
    from scipy import optimize  # takes long to import

    def dual(prices: Floats) -> tuple[float, Floats]:
        values = payoffs @ prices
        return float(special.logsumexp(values) + most @ prices), most - payoffs @ special.softmax(values)

    bounds = [(0, None)] * len(payoffs)
    options = {"maxiter": 5000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-9, "maxls": 50}
    found = optimize.minimize(dual, np.zeros(len(payoffs)), jac=True, bounds=bounds, method="L-BFGS-B", options=options)
    return np.asarray(special.softmax(payoffs @ found.x), np.float64)
