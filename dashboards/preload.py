"""What the first look at a page would wait for, done while nobody looks yet."""

from __future__ import annotations

import contextlib
import importlib
import threading
import time

import altair as alt
import pandas as pd
from streamlit import runtime

from turnier.core.errors import UserError
from turnier.dashboards import cached_store, widgets
from turnier.dashboards.run_summary import COMPARED, SHOWN

# Loaded by the libraries, or by us, only when they are needed first.
LATE = (
    "statsmodels.genmod.generalized_linear_model",
    "statsmodels.stats.multitest",
    "turnier.agents.mc",
    "optuna_dashboard",
)


def warm_up() -> threading.Thread:
    """Loads what comes late, draws a chart that nobody sees, and reads ahead, on a thread of its own; returns it."""
    thread = threading.Thread(target=_warm, name="warming up", daemon=True)
    thread.start()
    return thread


def _warm() -> None:
    frame = pd.DataFrame({"x": [1, 2], "y": [1, 2], "low": [0, 1], "name": ["a", "b"]})
    base = alt.Chart(frame).encode(x=alt.X("x:Q", scale=alt.Scale(zero=False)), tooltip=["x", "y"])
    lines = base.mark_line(point=True).encode(y="y:Q", color=alt.Color("name:N", legend=alt.Legend(orient="top")))
    (lines + base.mark_rule().encode(y="low:Q", y2="y:Q")).configure_axis(labelFontSize=12).to_dict()
    for name in LATE:
        importlib.import_module(name)
    while not runtime.exists():  # what is read is kept by it
        time.sleep(0.05)
    with contextlib.suppress(UserError):  # a page that is looked at says it
        read_ahead()


def read_ahead() -> None:
    """Reads what pages show until somebody chooses, of as many games as there are."""
    if runs := cached_store.runs(*SHOWN):
        cached_store.scores([widgets.shown_first(runs)])
    for study in cached_store.studies()[:1]:
        cached_store.study_trials(study)
        cached_store.study_importance(study)
    if runs := cached_store.runs(*COMPARED):
        cached_store.ranks(widgets.shown_first(runs))
