"""The outcomes of a comparison's pairs of games, counted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import pandas as pd

from ..arena.schedules.duel import Duel
from ..core.number_text import number

_ROUNDING = 1e-9
BINS = 6  # maximum number of bins of score differences on either side


def outcomes_of(duel: Duel) -> pd.DataFrame:
    """Returns the pairs of games by outcome, the best for the first agent first: outcome, pairs.

    Of two games, with the seats swapped: the points of both. Of more: the share of the points. In single-player games:
    the first score minus the second.
    """
    if duel.single_player:
        return _differences([first - second for first, second in duel.outcomes])
    shares = [share for (share,) in duel.outcomes]
    if len(duel.orders) == 2:
        counts = Counter(round(4 * share) for share in shares)
        names = dict(enumerate(_PENTANOMIAL))
    else:
        counts = Counter(min(4, int(5 * share + _ROUNDING)) for share in shares)
        names = {fifth: f"{20 * fifth} to {20 * fifth + 20} % of the points" for fifth in range(5)}
    rows = [(name, counts[place]) for place, name in names.items()]
    return pd.DataFrame(rows[::-1], columns=["outcome", "pairs"])


_PENTANOMIAL = ("0: lost both", "½: drew one, lost one", "1: even", "1½: won one, drew one", "2: won both")


def _differences(found: Sequence[float]) -> pd.DataFrame:
    """Returns the numbers of differences in bins of a round width, each with one sign."""
    largest = max(map(abs, found), default=0.0) or 1.0
    exponent = math.floor(math.log10(largest / BINS))
    width = next(w for w in (10**exponent * step for step in (1, 2, 5, 10)) if w * BINS >= largest)
    far = (math.ceil(abs(value) / width - _ROUNDING) for value in found)
    counts = Counter(int(math.copysign(max(1, n), value)) if value else 0 for n, value in zip(far, found, strict=True))
    rows = []
    for place in range(max({0, *counts}), min({0, *counts}) - 1, -1):
        sign = 1 if place > 0 else -1
        ends = (sign * (abs(place) - 1) * width, place * width)
        name = " to ".join(number(end, digits=12, signed=True) for end in ends)
        rows.append((name if place else "the same score", counts[place]))
    return pd.DataFrame(rows, columns=["outcome", "pairs"])
