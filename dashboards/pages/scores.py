"""Scores: means, distributions, milestones and costs of agents, of one run or several side by side."""

from __future__ import annotations

import streamlit as st

from turnier.dashboards import cached_store as reading
from turnier.dashboards import widgets as parts
from turnier.dashboards.figures import scores as score_figures
from turnier.dashboards.run_summary import SHOWN, of_agents
from turnier.dashboards.widgets import show, show_table

VIEWS = ("histogram", "cumulative")


def draw() -> None:
    runs = reading.runs(*SHOWN)
    if not runs:
        parts.empty("No game is stored here yet.", 'turnier tournament 2048 random "mc(iterations=50)"')
        return
    with st.container(border=True):
        chosen = parts.choose_runs(runs)
        if not chosen:
            st.info("Choose a run above.")
            return
        summary = reading.scores(chosen).summary
        games = sorted(summary["game"].unique())
        if not games:
            st.info("These runs have no games yet.")
            return
        game = parts.choose_game(games)
        labels = summary[summary["game"] == game].sort_values("mean", ascending=False)["label"].unique()
        agents = parts.choose_several("Agents", list(labels), "agents")
    parts.renewed(lambda: _draw(chosen, game, agents), parts.is_live(chosen))


def _draw(chosen: list[reading.Run], game: str, agents: list[str]) -> None:
    found = of_agents(reading.scores(chosen), game, agents)
    if found.summary.empty:
        st.info("Choose an agent above.")
        return
    show_table(reading.short_game(game), score_figures.score_table(found.summary))
    left, right = st.columns(2, gap="large")
    with left:
        show(score_figures.means(found.summary))
    with right:
        costs = score_figures.costs(found.summary)
        if costs:
            show(costs)
    if (found.summary["win_rate"].isna()).all():
        left, right = st.columns(2, gap="large")
        with left:
            view = parts.choose_view("Distribution", VIEWS, "view")
            show(score_figures.distribution(found, view == "cumulative"))
        milestones = score_figures.milestones(found.summary)
        if milestones:
            with right:
                show(milestones)
