"""Which of several challengers, if any, is better than every reference? A group-sequential test on common seeds.

Agents play the same seeds in a fixed number of rounds and are tested after each of them, so the test is corrected for
the number of looks: each spends a part of alpha, the first ones little. It is also corrected for the number of
challengers: they share alpha. Several references need no correction, as a challenger must beat them all.

The same critical values make repeated confidence intervals, of which each end errs with at most a challenger's share of
alpha however early the test ends: a challenger has beaten a reference exactly if their interval is above 0, and is
worse exactly if it is below 0 (`repeated`).

Agents that need no more games leave: references that all challengers have beaten, challengers that are worse than a
reference, and those that are clearly behind another challenger. The latter two can only prevent a claim, never cause
one.

Sources: K. K. G. Lan and D. L. DeMets, Discrete sequential boundaries for clinical trials, Biometrika 70, 1983; the
spending function with exponent 2 of K. Kim and D. L. DeMets, Biometrika 74, 1987; the integration of P. Armitage,
C. K. McPherson and B. C. Rowe, J. R. Stat. Soc. A 132, 1969; repeated confidence intervals of C. Jennison and
B. W. Turnbull, J. R. Stat. Soc. B 51, 1989.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import scipy

from .distributions import Floats, t_quantile

ALPHA = 0.05  # probability of any false claim
FIRST_SHARE = 0.5  # of alpha for the first of several challengers, so that its two-sided intervals hold with 1 - alpha
MAX_ROUNDS = 8
MIN_UNITS = 24  # before the first test, simulated in tests/statistics/test_superiority.py
BEHIND = 0.05  # the critical p-value of a single look by which a challenger leaves for another one
VIRTUAL = 2  # differences added to the observed ones, one up and one down
_GRID = 201  # points of the integration


class Superiority:
    """A test in rounds; `active` agents play the next round, none after the end.

    Args:
        challengers: their labels, beginning with the one with the largest share of alpha.
        references: labels of the agents that a challenger must beat, at least one.
        rounds: total number of tests.
        alpha: probability of any false claim.
        first_share: of alpha for the first challenger, below 1 if there are others.
    """

    def __init__(
        self,
        challengers: Sequence[str],
        references: Sequence[str],
        rounds: int,
        alpha: float = ALPHA,
        first_share: float = FIRST_SHARE,
    ) -> None:
        self.references, self.rounds, self.alpha = tuple(references), rounds, alpha
        others = len(challengers) - 1
        shares = [first_share, *[(1 - first_share) / max(1, others)] * others][: len(challengers)]
        self.single = alpha * first_share  # the critical p-value of a single look at the first challenger
        self._boundaries = {name: Boundary(alpha * share) for name, share in zip(challengers, shares, strict=True)}
        self._left: set[str] = set()
        # By challenger: the references that it has beaten, with the number of units at that look.
        self.beaten: dict[str, dict[str, int]] = {name: {} for name in challengers}
        # By challenger: the critical p-value of each look, by its number of units.
        self.critical: dict[str, dict[int, float]] = {name: {} for name in challengers}
        self.done = 0  # rounds
        self.better: str | None = None  # the challenger that has beaten every reference

    @property
    def challengers(self) -> list[str]:
        """The challengers that still play."""
        return [name for name in self._boundaries if name not in self._left]

    @property
    def active(self) -> list[str]:
        """The agents that play the next round; empty when the test has ended."""
        if self.better is not None or self.done == self.rounds or not self.challengers:
            return []
        return [name for name in self.references if name not in self._left] + self.challengers

    def leave(self, challengers: Iterable[str]) -> None:
        """Takes out challengers whose values are not to be tested."""
        self._left |= set(challengers)

    def add(self, values: Mapping[str, Sequence[float]]) -> None:
        """Tests after a round.

        Args:
            values: [n] all values so far of each active agent, in the order of the common seeds.
        """
        active, self.done = self.active, self.done + 1
        spent, challengers = (self.done / self.rounds) ** 2, self.challengers
        for name in challengers:
            units = len(values[name])
            critical = self.critical[name][units] = self._boundaries[name].look(units, spent)
            for reference in self.references:
                if reference in active and superiority(values[name], values[reference]) <= critical:
                    self.beaten[name].setdefault(reference, units)
        # Of several, the first: it would be luck which of them has the largest mean after so few games.
        self.better = next((name for name in challengers if len(self.beaten[name]) == len(self.references)), None)
        if self.better is not None:
            return
        leader = max(challengers, key=lambda name: float(np.mean(values[name])))
        references = [name for name in self.references if name in active]
        for name in challengers:
            critical = self.critical[name][len(values[name])]
            worse = any(superiority(values[other], values[name]) <= critical for other in references)
            if worse or superiority(values[leader], values[name]) < BEHIND:
                self._left.add(name)
        self._left |= {name for name in self.references if all(name in self.beaten[c] for c in self.challengers)}


def superiority(values: Sequence[float], others: Sequence[float]) -> float:
    """Returns the one-sided p-value of "the values are no larger than the others", paired, by Student's t.

    The sample includes the virtual pairs of `widened`.
    """
    differences = np.subtract(*widened(values, others))
    error = float(differences.std(ddof=1)) / math.sqrt(len(differences))
    return float(scipy.special.stdtr(len(differences) - 1, -float(differences.mean()) / error)) if error else 0.5


def widened(values: Sequence[float], others: Sequence[float]) -> tuple[Floats, Floats]:
    """Returns both samples, [n + 2], with two virtual pairs that differ by the usual size, one up and one down.

    Without them, samples in which only a few pairs differ would look more certain than that number allows.
    """
    own, other = np.asarray(values, np.float64), np.asarray(others, np.float64)
    apart = (own - other)[own != other]
    usual, middle = math.sqrt(float(np.mean(apart**2))) if len(apart) else 0.0, float(other.mean())
    return np.append(own, [middle + usual, middle - usual]), np.append(other, [middle, middle])


def repeated(values: Sequence[float], others: Sequence[float], critical: float) -> tuple[float, float]:
    """Returns the ends of a look's interval of the mean difference of paired values, [n] each.

    It is above 0 exactly if `superiority` is below the look's critical p-value. NaN if no pair differs.
    """
    differences = np.subtract(*widened(values, others))
    middle, error = float(differences.mean()), float(differences.std(ddof=1)) / math.sqrt(len(differences))
    half = float(t_quantile(1 - critical, len(differences) - 1)) * error
    return (middle - half, middle + half) if error else (math.nan, math.nan)


def repeated_ratio(values: Sequence[float], others: Sequence[float], critical: float) -> tuple[float, float]:
    """Returns the ends of the interval of the ratio of the means, as `repeated` does for their difference.

    By E. C. Fieller, J. R. Stat. Soc. B 16, 1954: the ratios r for which `values - r * others` does not differ from 0.
    It is above 1 exactly if that of the difference is above 0. NaN if the others' mean may be 0.
    """
    a, b = widened(values, others)
    n = len(a)
    (aa, ab), (_, bb) = np.cov(a, b)
    q, mean, other = float(t_quantile(1 - critical, n - 1)) ** 2 / n, float(a.mean()), float(b.mean())
    square, half, rest = other**2 - q * bb, mean * other - q * ab, mean**2 - q * aa
    if square <= 0 or not (a != b).any():
        return math.nan, math.nan
    width = math.sqrt(max(half**2 - square * rest, 0.0))
    return (half - width) / square, (half + width) / square


class Boundary:
    """The critical p-values of one-sided tests of a growing sample, which together err with probability alpha."""

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha
        self._units = 0
        self._spent = 0.0
        # The distribution of the sum of `units` standard normal values if no test has rejected so far.
        self._sums: npt.NDArray[np.float64] = np.zeros(1)
        self._weights: npt.NDArray[np.float64] = np.ones(1)

    def look(self, units: int, spent: float) -> float:
        """Returns the critical p-value of the next test.

        Args:
            units: size of the sample, larger than at the last look.
            spent: share of alpha that may be spent by the end of this look.
        """
        step = math.sqrt(units - self._units)
        rejected = self.alpha * spent - self._spent

        def excess(z: float) -> float:
            return float(self._weights @ scipy.special.ndtr((self._sums - z * math.sqrt(units)) / step)) - rejected

        critical = float(scipy.optimize.brentq(excess, 0.0, 12.0))
        end = critical * math.sqrt(units)
        sums, width = np.linspace(-8 * math.sqrt(units), end, _GRID, retstep=True)
        simpson = np.ones(_GRID)
        simpson[1:-1:2], simpson[2:-1:2] = 4, 2
        densities = (
            np.exp(-0.5 * ((sums[:, None] - self._sums) / step) ** 2) @ self._weights / (step * math.sqrt(2 * math.pi))
        )
        self._sums, self._weights = sums, densities * simpson * width / 3
        self._units, self._spent = units, self.alpha * spent
        return float(scipy.special.ndtr(-critical))
