"""A search for balance as a figure: the first seat's share in every variant."""

from __future__ import annotations

import pandas as pd

from turnier.dashboards.figures import charts
from turnier.dashboards.figures.figure import Figure


def shares(variants: pd.DataFrame, equal: float) -> Figure | None:
    """The first seat's share of the points in every variant, see `BalanceResults`; None if nothing has been played."""
    data = variants.dropna(subset="first")
    if data.empty:
        return None
    data = data.assign(**{name: 100 * data[name] for name in ("first", "first_low", "first_high")})
    chart = charts.points(data, "variant", "first", "first_low", "first_high", "first seat, % of the points")
    return Figure("First seat by variant", chart, data, f"95 % intervals. An equal share is {equal:.3g} %.")
