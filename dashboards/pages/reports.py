"""Reports: experiments that play published figures again, ours beside theirs; and whole runs as one file to keep."""

from __future__ import annotations

from typing import Any

import streamlit as st

from turnier.dashboards import cached_store as reading
from turnier.dashboards import widgets as parts
from turnier.dashboards.figures import experiment as experiment_figures
from turnier.dashboards.reports.run import REPORTED, run_page
from turnier.runs.experiment import KIND


def draw() -> None:
    experiments = reading.runs(KIND)
    documents = list(dict.fromkeys(str(run.definition["document"]) for run in experiments))
    if not documents:
        parts.empty("No experiment is stored here yet.", "python studies/weitz/table1.py")
    else:
        with st.container(border=True):
            document = parts.choose("Document", documents, "document")
            its = [run for run in experiments if run.definition["document"] == document][::-1]
            names = {run.id: f"{run.name} ({run.id.partition(':')[2]})" for run in its}
            words: dict[str, Any] = {"format_func": lambda run: names.get(run, run), **parts.IN_ADDRESS}
            chosen = st.selectbox("Experiment", list(names), key="experiment", **words)
        run = next(run for run in its if run.id == chosen)
        parts.renewed(lambda: _experiment(run), parts.is_live([run]))
    _files()


def _experiment(run: reading.Run) -> None:
    experiment, measured = reading.measured(run)
    st.markdown(experiment.text)
    found = experiment_figures.frame(experiment, measured)
    plot = experiment_figures.plot(experiment, found)
    if plot:
        parts.show(plot)
    parts.show_table("Ours and published", experiment_figures.table(experiment, found), f"Seed {experiment.seed}.")


def _files() -> None:
    runs = reading.runs(*REPORTED)
    if not runs:
        return
    st.divider()
    with st.container(border=True):
        run = parts.choose_runs(runs, several=False, label="A run as one file, for a thesis or a mail")[0]
        st.download_button(
            "Save as HTML",
            lambda: run_page(reading.store(), run),
            f"{run.id.replace(':', '-')}.html",
            "text/html",
            icon=":material/download:",
            on_click="ignore",
        )
        st.caption(f"From a terminal: `turnier report {run.id} --html`")
