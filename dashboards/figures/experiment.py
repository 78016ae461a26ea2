"""Experiments as figures: measured values with intervals, and published ones."""

from __future__ import annotations

import math

import pandas as pd

from turnier.dashboards.figures import charts
from turnier.dashboards.figures.figure import Figure
from turnier.runs.experiments.experiment import TESTS, Experiment, uneven
from turnier.runs.experiments.row import unit

NOTE = "Ours with 95 % intervals."
PUBLISHED_NOTE = " Crosses: published, without known intervals."
TESTS_NOTE = f" The preset {TESTS} only shows that the script works: its figures mean nothing."


def experiment_figure(experiment: Experiment, frame: pd.DataFrame) -> Figure | None:
    """A curve over the experiment's axis for each series, or a point for each row; None if nothing was played."""
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
    if played["series"].nunique() == 1:  # a single series leaves the other colours free
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
