"""Experiments as figures: ours with intervals, beside what a document published."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict

import pandas as pd

from turnier.dashboards.figures import charts
from turnier.dashboards.figures.charts import Figure
from turnier.dashboards.figures.scores import interval, short
from turnier.runs.experiment import Experiment, counted, unit, verdict
from turnier.runs.experiment import Figure as Measured


def frame(experiment: Experiment, measured: Sequence[Measured]) -> pd.DataFrame:
    """Returns one row per row of the experiment: label, series, x, published, value, low, high, games, seconds, is."""
    rows = [
        {"label": row.label, "series": row.series or "ours", "x": row.x, "published": row.published}
        | asdict(found)
        | {"is": verdict(row, found)}
        for row, found in zip(experiment.rows, measured, strict=True)
    ]
    return pd.DataFrame(rows).astype({"published": float, "x": float})


def plot(experiment: Experiment, found: pd.DataFrame) -> Figure | None:
    """A curve over the experiment's axis for each series, or a point for each row; None where nothing was played."""
    played = found[found["games"] > 0]
    if played.empty:
        return None
    unit_text = unit(experiment.rows[0])
    note = "95 % intervals; no interval of the published figures is known."
    if not experiment.axis:
        chart = charts.points(played, "label", "value", "low", "high", unit_text, mark="published")
        return Figure(experiment.title, chart, found, note + _crosses(played))
    known = played.dropna(subset=["published"])
    beside = known.assign(series=known["series"] + ", published", value=known["published"], low=math.nan, high=math.nan)
    both = pd.concat([played, beside], ignore_index=True)
    chart = charts.lines(both, "x", "value", "low", "high", "series", (experiment.axis, unit_text), log=True)
    return Figure(experiment.title, chart, found, note)


def _crosses(played: pd.DataFrame) -> str:
    return " Crosses: published." if played["published"].notna().any() else ""


def table(experiment: Experiment, found: pd.DataFrame) -> pd.DataFrame:
    """Returns what people read: ours with its interval, published, and how many games or searches it rests on."""
    what, each = counted(experiment)
    return pd.DataFrame(
        {
            "row": found["label"],
            f"ours, {unit(experiment.rows[0])}": [
                short(v) if n else "not played yet" for v, n in found[["value", "games"]].itertuples(index=False)
            ],
            "95 %": [interval(*ends) for ends in found[["low", "high"]].itertuples(index=False)],
            "published": found["published"].map(short),
            "ours is": found["is"],
            what: found["games"],
            each: found["seconds"].map(lambda s: f"{s:.3g}"),
        }
    )
