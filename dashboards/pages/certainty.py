"""Certainty: how often searches of the same position agree, by phase and legal actions, iterations, and strength."""

from __future__ import annotations

import streamlit as st

from turnier.dashboards import cached_store as reading
from turnier.dashboards import widgets as parts
from turnier.dashboards.figures import certainty as certainty_figures
from turnier.dashboards.run_summary import COMPARED
from turnier.dashboards.widgets import show, show_table
from turnier.results.frames.certainty import CERTAINTY_MEASURES

MOST_RUNS = 20  # whose scores are looked through
ABOUT = {
    "normalised": "0: all actions are equally frequent, 1: always the same (Kutsch 2017, 9.1)",
    "agreement": "pairs of searches that agree; 0 for a random agent",
    "certainty": "share of the most frequent action",
}


def draw() -> None:
    runs = reading.runs("certainty", "experiment")
    searched = [run for run in runs if run.kind == "certainty" or reading.has_votes(run.id)]
    if not searched:
        parts.empty(
            "No certainty is measured here yet.", 'turnier certainty 2048 random "mc(iterations=100)" --states 5'
        )
        return
    with st.container(border=True):
        chosen = parts.choose_runs(searched)
        if not chosen:
            st.info("Choose a run above.")
            return
        positions = reading.positions(chosen)
        if positions.empty:
            st.info("These runs have not searched any position twice yet.")
            return
        game = parts.choose_game(sorted(positions["game"].unique()))
        labels = list(positions.loc[positions["game"] == game, "label"].unique())
        agents = parts.choose_several("Agents", labels, "agents")
        measure = parts.choose_view(
            "Measure", ["normalised", *(m for m in CERTAINTY_MEASURES if m != "normalised")], "measure"
        )
        st.caption(ABOUT[measure])
    if not agents:
        st.info("Choose an agent above.")
        return
    parts.renewed(lambda: _draw(chosen, game, agents, measure), parts.is_live(chosen))


def _draw(chosen: list[reading.Run], game: str, agents: list[str], measure: str) -> None:
    positions = reading.positions(chosen)
    positions = positions[(positions["game"] == game) & positions["label"].isin(agents)]
    maps = certainty_figures.heat_maps(positions, measure)
    for first in range(0, len(maps), 2):
        for column, figure in zip(st.columns(2, gap="large"), maps[first : first + 2], strict=False):
            with column:
                show(figure)
    left, right = st.columns(2, gap="large")
    with left:
        show(certainty_figures.means(positions, measure))
    with right:
        by_iterations = certainty_figures.by_parameter(positions, measure)
        if by_iterations:
            show(by_iterations)
        scored = reading.runs(*COMPARED)[:MOST_RUNS]
        by_score = certainty_figures.by_score(positions, measure, reading.scores(scored).summary) if scored else None
        if by_score:
            show(by_score)
    show_table("Agents", certainty_figures.agent_table(positions), "Means over the groups with 95 % intervals.")
