"""Reports: experiments that reproduce published figures; and whole runs as one file to keep."""

from __future__ import annotations

import shlex
from typing import Any

import streamlit as st

from turnier.dashboards.app import cached_store, shown, widgets
from turnier.dashboards.app.opened_store import option
from turnier.dashboards.reports.run import run_page
from turnier.runs.experiment import KIND


def draw() -> None:
    experiments = cached_store.runs(KIND)
    documents = list(dict.fromkeys(str(run.definition["document"]) for run in experiments))
    if not documents:
        widgets.show_empty("No experiment is stored here yet.", "python studies/weitz/table1.py")
    else:
        widgets.refuse_unknown("document", "document", documents)
        widgets.refuse_unknown("experiment", "experiment", [run.id for run in experiments])
        with st.container(border=True):
            document = widgets.choose("Document", documents, "document")
            of_document = [run for run in experiments if run.definition["document"] == document][::-1]
            names = {run.id: f"{run.name} ({run.id.partition(':')[2]})" for run in of_document}
            words: dict[str, Any] = {"format_func": lambda run: names.get(run, run), **widgets.IN_ADDRESS}
            chosen = st.selectbox("Experiment", list(names), key="experiment", **words)
        run = next(run for run in of_document if run.id == chosen)
        widgets.show_title(run.name, [run])
        widgets.refresh(lambda: _experiment(run), widgets.is_live([run]))
    _files()


def _experiment(run: cached_store.Run) -> None:
    shown.show_head([run])
    shown.show(cached_store.described([run]))


def _files() -> None:
    runs = cached_store.runs(*{run.kind for run in cached_store.all_runs()})
    if not runs:
        return
    st.divider()
    with st.container(border=True):
        run = widgets.choose_runs(runs, several=False, label="A run as one file, for a thesis or an e-mail")[0]
        st.download_button(
            "Save as HTML",
            lambda: run_page(cached_store.store(), run),
            f"{run.id.replace(':', '-')}.html",
            "text/html",
            icon=":material/download:",
            on_click="ignore",
        )
        st.caption("From a terminal:")
        st.code(f"turnier show {shlex.quote(run.id)} --html{option()}", language="bash", wrap_lines=True)
