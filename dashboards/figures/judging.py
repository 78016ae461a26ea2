"""Judging as a figure: how often agents play an optimal move."""

from __future__ import annotations

import pandas as pd

from turnier.dashboards.figures import charts
from turnier.dashboards.figures.figure import Figure


def optimal_moves(agents: pd.DataFrame) -> Figure:
    """Every agent's share of optimal moves in positions that have a wrong one; see `JudgingResults.agents`."""
    data = agents[["label", "positions", "contested"]].assign(
        percent=100 * agents["kept"], low=100 * agents["kept_low"], high=100 * agents["kept_high"]
    )
    chart = charts.points(data, "label", "percent", "low", "high", "optimal where it matters, %")
    return Figure("Optimal moves where it matters", chart, data, "95 % intervals (Wilson).")
