"""Runs: progress, speed and time left of those that are running; and past runs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pandas as pd
import streamlit as st

from turnier.dashboards import cached_store, widgets
from turnier.results.store.progress import RUNNING, RunProgress

MAX_PAST = 500  # past runs of the table
BEAT = 2.0  # s


def draw() -> None:
    widgets.refresh(_draw, live=True, every=BEAT)


def _draw() -> None:
    runs = cached_store.progress()[::-1]
    if not runs:
        widgets.show_empty("No run is stored here yet.", 'turnier tournament 2048 random "mc(iterations=50)"')
        return
    playing = [run for run in runs if run.state == RUNNING]
    st.markdown(f"#### {len(playing)} running" if playing else "#### Nothing is running")
    for run in playing:
        _progress(run)
    past = run_table([run for run in runs if run.state != RUNNING][:MAX_PAST])
    if len(past):
        widgets.show_table("Past runs", past, "Times are UTC. To resume a stopped run, repeat its command.")


def _progress(run: RunProgress) -> None:
    done, planned = run.done or 0, max(1, run.planned or 1)
    with st.container(border=True):
        st.progress(min(1.0, done / planned), f"**{run.name}** · {run.kind} · `{run.run}`")
        widgets.show_facts(
            done=f"{done:,} of {planned:,} {run.unit}",
            per_second=rate_text(run.rate) or "...",
            time_left="..." if run.seconds_left is None else time_text(run.seconds_left),
            running_for=time_text(_since(run.started or run.began)),
        )


def run_table(runs: list[RunProgress]) -> pd.DataFrame:
    """Returns the runs as a table for people, in their order."""
    rows = [
        {
            "begun": pd.Timestamp(run.began).tz_convert(None).floor("s"),
            "run": run.name,
            "kind": run.kind,
            "state": run.state,
            "done": f"{run.stored:,} stored" if run.done is None else f"{run.done:,} of {run.planned:,} {run.unit}",
            "took": time_text(_seconds(run.started, run.ended)) if run.started and run.ended else "",
            "id": run.run,
        }
        for run in runs
    ]
    return pd.DataFrame(rows)


def rate_text(rate: float | None) -> str:
    return "" if rate is None else f"{rate:,.3g}" if rate < 1000 else f"{rate:,.0f}"


def time_text(seconds: float) -> str:
    """Returns a time span as hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))


def _since(moment: str) -> float:
    return max(0.0, (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds())


def _seconds(first: str, last: str) -> float:
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()
