"""Certainty: how often searches of the same position agree, by phase and legal actions, iterations, and strength."""

from __future__ import annotations

import streamlit as st

from turnier.dashboards import cached_store, widgets
from turnier.dashboards.agent_names import with_names
from turnier.dashboards.figures.certainty import (
    certainty_by_parameter,
    certainty_by_score,
    certainty_heat_maps,
    certainty_means,
    certainty_table,
    means_note,
)
from turnier.dashboards.run_failures import show_headline
from turnier.dashboards.run_heading import titled
from turnier.dashboards.run_summary import COMPARED

MEASURES = ("normalised", "agreement", "certainty")
MAX_RUNS = 20  # whose scores are looked through
ABOUT = {
    "normalised": "0 %: all actions equally frequent, 100 %: always the same one (Kutsch 2017, 9.1)",
    "agreement": "how often two searches agree; 0 %: as often as at random, 100 %: always",
    "certainty": "share of searches that choose the most frequent action, %",
}


def draw() -> None:
    runs = cached_store.runs("certainty", "experiment")
    searched = [run for run in runs if run.kind == "certainty" or cached_store.has_searches(run.id)]
    if not searched:
        widgets.show_empty(
            "No certainty has been measured here yet.", 'turnier certainty 2048 random "mc(iterations=100)" --states 5'
        )
        return
    with st.container(border=True):
        chosen = widgets.choose_runs(searched)
    if not chosen:
        st.info("Choose a run above.")
        return
    widgets.show_title(" and ".join(dict.fromkeys(map(titled, chosen))), chosen)
    widgets.refresh(lambda: _draw(chosen), widgets.is_live(chosen))


def _draw(chosen: list[cached_store.Run]) -> None:
    positions = cached_store.positions(chosen)
    for run in chosen:
        widgets.show_state(run, positions.loc[positions["run"] == run.id, "label"].tolist())
    show_headline(chosen)
    if positions.empty:
        st.info("These runs have not searched any position twice yet.")
        return
    with st.container(border=True):
        game = widgets.choose_game(sorted(positions["game"].unique()))
        [positions] = with_names(positions[positions["game"] == game])
        agents = widgets.choose_several("Agents", sorted(positions["label"].unique()), "agents")
        measure = widgets.choose_view("Measure", MEASURES, "measure")
        st.caption(ABOUT[measure])
    positions = positions[positions["label"].isin(agents)]
    widgets.show_table("Agents", certainty_table(positions), means_note(positions))
    left, right = st.columns(2, gap="large")
    with left:
        widgets.show_figure(certainty_means(positions, measure))
    with right:
        by_iterations = certainty_by_parameter(positions, measure)
        if by_iterations:
            widgets.show_figure(by_iterations)
        scored = cached_store.runs(*COMPARED)[:MAX_RUNS]
        by_score = certainty_by_score(positions, measure, cached_store.scores(scored).summary) if scored else None
        if by_score:
            widgets.show_figure(by_score)
    maps = certainty_heat_maps(positions, measure)
    for first in range(0, len(maps), 2):
        for column, figure in zip(st.columns(2, gap="large"), maps[first : first + 2], strict=False):
            with column:
                widgets.show_figure(figure)
