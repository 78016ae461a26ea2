"""Draws by CPU time how two programs learned 2048 with 8x6 tuples: python docs/results/learning_curves.py.

Each point is the mean of the games learned from since the one before. Its 95 % interval is that of so many games; of
TDL2048, which prints a mean for every 1,000, that of twenty such means.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from turnier.dashboards.figures import charts
from turnier.dashboards.figures.figure import Figure, save

HERE = Path(__file__).resolve().parent


def main() -> None:
    points = pd.read_csv(HERE / "data" / "learning_curves.csv")
    titles = ("CPU minutes", "mean score of games learned from")
    chart = charts.lines(points, "cpu_minutes", "mean", "low", "high", "program", titles)
    note = "8x6 tuples, TD(0.5) with temporal coherence, two threads of one machine; one run each."
    save(HERE / "2048_learning_curves.png", Figure("2048 learned from nothing", chart, points, note))


if __name__ == "__main__":
    main()
