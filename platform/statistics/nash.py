"""Nash averaging: the scores of agents against a mixture that no agent beats. Copies of an agent change nothing.

The mixture is the optimal strategy of the game in which two people each name an agent of the field. If several are
optimal as far as the games show, it is the one of largest entropy, which gives copies of an agent equal weights even if
one of them was luckier.

Source: D. Balduzzi, K. Tuyls, J. Perolat and T. Graepel, Re-evaluating evaluation, NeurIPS 2018. Differs: here no agent
demonstrably beats the mixture; there none beats it at all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from .distributions import Floats, normal_quantile
from .intervals import CONFIDENCE

LEAST = 1e-3  # points that may be won against the mixture if nothing is uncertain
PASSES = 3  # until the mixture and the demonstrable wins against it settle


class Nash(NamedTuple):
    """An agent's weight in the mixture, and its share of the points against it, with its 95 % interval."""

    weights: Floats  # [agents] of sum 1
    share: Floats  # [agents] about 0.5 for agents in the mixture, less for those that lose to it
    low: Floats
    high: Floats


def nash_average(shares: Floats, errors: Floats) -> Nash:
    """Returns the Nash average of a field.

    Args:
        shares: [agents, agents] shares of points of the row's agent against the column's; 0.5 against itself.
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
        payoffs: [agents, agents] antisymmetric: the win of the row's agent against the column's.
        most: [agents] the largest mean win of each, above 0.

    In the dual, weights are proportional to exp(payoffs @ prices); only agents at their largest win have a price.
    """

    def dual(prices: Floats) -> tuple[float, Floats]:
        values = payoffs @ prices
        return float(scipy.special.logsumexp(values) + most @ prices), most - payoffs @ scipy.special.softmax(values)

    bounds = [(0, None)] * len(payoffs)
    options = {"maxiter": 5000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-9, "maxls": 50}
    found = scipy.optimize.minimize(
        dual, np.zeros(len(payoffs)), jac=True, bounds=bounds, method="L-BFGS-B", options=options
    )
    return np.asarray(scipy.special.softmax(payoffs @ found.x), np.float64)
