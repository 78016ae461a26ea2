"""Scores: ranks, means, distributions, milestones and the cost of a move, for one or several runs."""

from __future__ import annotations

import streamlit as st

from turnier.dashboards.app import cached_store, shown, widgets
from turnier.dashboards.kinds import games
from turnier.dashboards.run_heading import titled
from turnier.dashboards.sections import kinds_with
from turnier.results.store.store import Run


def draw() -> None:
    runs = cached_store.runs(*kinds_with("SCORES"))
    if not runs:
        widgets.show_empty("No game is stored here yet.", 'turnier tournament 2048 random "mc(iterations=50)"')
        return
    with st.container(border=True):
        chosen = widgets.choose_runs(runs)
    if not chosen:
        st.info("Choose a run above.")
        return
    widgets.show_title(" and ".join(dict.fromkeys(map(titled, chosen))), chosen)
    widgets.refresh(lambda: _draw(chosen), widgets.is_live(chosen))


def _draw(chosen: list[Run]) -> None:
    for run in chosen:
        shown.show_state(run)
    shown.show_head(chosen)
    found = games.together(*map(cached_store.cached(games.read), chosen))
    if found.summary.empty:
        st.info("These runs have no games yet.")
    shown.show(games.sections(found))
