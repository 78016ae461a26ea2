"""Experiments as figures: measured values with intervals, and what a document published."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict

import pandas as pd

from turnier.core.number_text import interval
from turnier.dashboards.figures import charts
from turnier.dashboards.figures.charts import Figure
from turnier.dashboards.tables import rounded
from turnier.runs.experiment import TESTS, VERDICTS, Experiment, Measurement, counted, uneven, unit, verdict

NOTE = "Ours with 95 % intervals."
PUBLISHED_NOTE = " Crosses: published, without known intervals."
TESTS_NOTE = f" The preset {TESTS} only shows that the script works: its figures mean nothing."


def experiment_frame(experiment: Experiment, measured: Sequence[Measurement]) -> pd.DataFrame:
    """Returns one row per row of the experiment: label, series, x, published, value, low, high, games, seconds, is."""
    rows = [
        {"label": row.label, "series": row.series or "ours", "x": row.x, "published": row.published}
        | asdict(measurement)
        | {"is": verdict(row, measurement)}
        for row, measurement in zip(experiment.rows, measured, strict=True)
    ]
    return pd.DataFrame(rows).astype({"published": float, "x": float})


def experiment_figure(experiment: Experiment, frame: pd.DataFrame) -> Figure | None:
    """A curve over the experiment's axis for each series, or a point for each row; None where nothing was played."""
    played = frame[frame["games"] > 0]
    if played.empty:
        return None
    known = played.dropna(subset=["published"])
    note = NOTE + PUBLISHED_NOTE * bool(len(known)) + TESTS_NOTE * (experiment.preset == TESTS)
    note = f"{note} {uneven(experiment, frame['games'])}".rstrip()
    unit_text = unit(experiment.rows[0])
    if not experiment.axis:
        chart = charts.points(played, "label", "value", "low", "high", unit_text, mark="published")
        return Figure(experiment.title, chart, frame, note)
    names = list(dict.fromkeys(known["series"]))
    if played["series"].nunique() == 1:  # the only series leaves the other colours free
        published = dict.fromkeys(names, "published")
        partners = {"published": "published"} if names else {}
    else:
        published = {name: f"{name}, published" for name in names}
        partners = {text: name for name, text in published.items()}
    theirs = known.assign(series=known["series"].map(published), value=known["published"], low=math.nan, high=math.nan)
    titles = (experiment.axis, unit_text)
    both = pd.concat([played, theirs], ignore_index=True)
    chart = charts.lines(both, "x", "value", "low", "high", "series", titles, log=True, published=partners)
    return Figure(experiment.title, chart, frame, note)


def experiment_table(experiment: Experiment, frame: pd.DataFrame) -> pd.DataFrame:
    """Returns a table for people: ours with its interval, published, and the number of games or searches."""
    what, each = counted(experiment)
    table = pd.DataFrame(
        {
            "row": frame["label"],
            f"ours, {unit(experiment.rows[0])}": rounded(frame["value"], (frame["high"] - frame["low"]) / 2),
            "95 %": [interval(*ends) for ends in frame[["low", "high"]].itertuples(index=False)],
            "published": rounded(frame["published"], digits=4),
            "ours is": frame["is"],
            what: frame["games"],
            each: rounded(frame["seconds"]),
        }
    )
    return table if frame["published"].notna().any() else table.drop(columns=["published", "ours is"])


def verdicts_note(experiment: Experiment) -> str:
    """Returns what the verdicts of the table mean; nothing where nothing was published."""
    return VERDICTS.replace("*", "") if any(row.published is not None for row in experiment.rows) else ""
