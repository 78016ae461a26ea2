"""Quantiles and probabilities of the normal and Student's t distributions.

They equal those of `scipy.stats` bit for bit, without half a second for its import; `scipy.special` takes a fifth, so
it is imported when one of them is first needed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def normal_quantile(probability: float) -> float:
    """Returns the quantile of a standard normal variable."""
    from scipy import special

    return float(special.ndtri(probability))


def t_quantile(probability: float, freedom: npt.ArrayLike) -> Floats:
    """Returns the quantiles of Student's t for these degrees of freedom."""
    from scipy import special

    return np.asarray(special.stdtrit(freedom, probability), np.float64)


def t_probability(values: npt.ArrayLike, freedom: npt.ArrayLike) -> Floats:
    """Returns the probabilities that variables of Student's t with these degrees of freedom are below `values`."""
    from scipy import special

    return np.asarray(special.stdtr(freedom, values), np.float64)


def median_rank(sample: int, probability: float) -> int:
    """Returns the least k for which, with at least this probability, k or fewer of `sample` are below the median."""
    from scipy import special

    return int(np.ceil(special.bdtrik(probability, sample, 0.5)))
