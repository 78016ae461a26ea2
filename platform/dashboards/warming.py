"""What the first look at a page would wait for, done while nobody looks yet."""

from __future__ import annotations

import importlib
import threading

import altair as alt
import pandas as pd

# Loaded by the libraries, or by us, only when they are needed first.
LATE = ("statsmodels.genmod.generalized_linear_model", "statsmodels.stats.multitest", "turnier.agents.mc")


def warm_up() -> threading.Thread:
    """Loads what comes late, and draws a chart that nobody sees, on a thread of its own; returns it."""
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
