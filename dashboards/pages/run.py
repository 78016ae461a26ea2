"""A run of a kind, or several: the sections of `kinds/KIND.py`, live while it is playing."""

from __future__ import annotations

import streamlit as st

from turnier.dashboards.app import cached_store, shown, widgets
from turnier.dashboards.run_heading import titled
from turnier.dashboards.sections import kind_of, page_of
from turnier.results.store.store import Run


def draw(kind: str) -> None:
    runs, page = _runs(kind), page_of(kind)
    assert page is not None, kind
    if not runs:
        widgets.show_empty(f"No {kind} is stored here yet.", *page.begin.splitlines())
        return
    several = hasattr(kind_of(kind), "together")
    with st.container(border=True):
        chosen = widgets.choose_runs(runs, several, kind.capitalize())
    if not chosen:
        st.info("Choose a run above.")
        return
    widgets.show_title(" and ".join(dict.fromkeys(map(titled, chosen))), chosen)
    if page.optuna:
        link = cached_store.optuna_dashboard(chosen[0].name)
        st.link_button("This study in optuna-dashboard", link, icon=":material/open_in_new:")
    widgets.refresh(lambda: _draw(chosen), widgets.is_live(chosen))


def _runs(kind: str) -> list[Run]:
    """Returns the runs on the page of a kind, the newest first."""
    page = page_of(kind)
    if page and page.always:
        return [run for run in reversed(cached_store.all_runs()) if run.kind == kind]
    found = cached_store.runs(kind, *getattr(kind_of(kind), "ALSO", ()))
    return [run for run in found if run.kind == kind or cached_store.has_searches(run.id)]


def _draw(chosen: list[Run]) -> None:
    for run in chosen:
        shown.show_state(run)
    shown.show_head(chosen)
    shown.show(cached_store.described(chosen))
    for run in chosen:
        if command := cached_store.command(run):
            st.caption("Command to resume or repeat it:")
            st.code(command, language="bash", wrap_lines=True)
