"""Loads and reads in advance, so that the first page need not wait."""

from __future__ import annotations

import contextlib
import importlib
import threading
import time

import altair as alt
import pandas as pd
from streamlit import runtime

from turnier.core.errors import UserError
from turnier.dashboards.app import cached_store
from turnier.dashboards.pages.runs import PAGE
from turnier.dashboards.sections import kind_of

# Modules that libraries or our code import only when first needed.
LATE_IMPORTS = (
    "scipy.sparse.csgraph",
    "turnier.agents.mc",
    "optuna_dashboard",
)


def warm_up() -> threading.Thread:
    """Imports late modules, draws an invisible chart and reads ahead, on a thread of its own; returns the thread."""
    thread = threading.Thread(target=_warm, name="warming up", daemon=True)
    thread.start()
    return thread


def _warm() -> None:
    frame = pd.DataFrame({"x": [1, 2], "y": [1, 2], "low": [0, 1], "name": ["a", "b"]})
    base = alt.Chart(frame).encode(x=alt.X("x:Q", scale=alt.Scale(zero=False)), tooltip=["x", "y"])
    lines = base.mark_line(point=True).encode(y="y:Q", color=alt.Color("name:N", legend=alt.Legend(orient="top")))
    (lines + base.mark_rule().encode(y="low:Q", y2="y:Q")).configure_axis(labelFontSize=12).to_dict()
    for name in LATE_IMPORTS:
        importlib.import_module(name)
    while not runtime.exists():  # the runtime caches reads
        time.sleep(0.05)
    with contextlib.suppress(UserError):  # the page itself reports it
        read_ahead()


def read_ahead() -> None:
    """Reads the data that pages show before the user chooses anything."""
    for run in cached_store.all_runs()[-PAGE:]:
        with contextlib.suppress(UserError):
            cached_store.head(run)
    for kind in ("tournament", "study"):
        for run in cached_store.runs(kind)[:1]:
            cached_store.cached(kind_of(kind).read)(run)
