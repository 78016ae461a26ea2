"""Scores: means, distributions, milestones and time per move, for one or several runs."""

from __future__ import annotations

import streamlit as st

from turnier.dashboards import cached_store, widgets
from turnier.dashboards.figures.scores import (
    mean_scores,
    milestone_shares,
    score_against_time,
    score_distribution,
    score_table,
)
from turnier.dashboards.run_summary import SHOWN, of_agents

VIEWS = ("histogram", "cumulative")


def draw() -> None:
    runs = cached_store.runs(*SHOWN)
    if not runs:
        widgets.show_empty("No game is stored here yet.", 'turnier tournament 2048 random "mc(iterations=50)"')
        return
    with st.container(border=True):
        chosen = widgets.choose_runs(runs)
        if not chosen:
            st.info("Choose a run above.")
            return
        summary = cached_store.scores(chosen).summary
        games = sorted(summary["game"].unique())
        if not games:
            st.info("These runs have no games yet.")
            return
        game = widgets.choose_game(games)
        labels = summary[summary["game"] == game].sort_values("mean", ascending=False)["label"].unique()
        agents = widgets.choose_several("Agents", list(labels), "agents")
    widgets.refresh(lambda: _draw(chosen, game, agents), widgets.is_live(chosen))


def _draw(chosen: list[cached_store.Run], game: str, agents: list[str]) -> None:
    scores = of_agents(cached_store.scores(chosen), game, agents)
    if scores.summary.empty:
        st.info("Choose an agent above.")
        return
    widgets.show_table(cached_store.short_game(game), score_table(scores.summary))
    left, right = st.columns(2, gap="large")
    with left:
        widgets.show_figure(mean_scores(scores.summary))
    with right:
        costs = score_against_time(scores.summary)
        if costs:
            widgets.show_figure(costs)
    if (scores.summary["win_rate"].isna()).all():
        left, right = st.columns(2, gap="large")
        with left:
            view = widgets.choose_view("Distribution", VIEWS, "view")
            widgets.show_figure(score_distribution(scores, view == "cumulative"))
        milestones = milestone_shares(scores.summary)
        if milestones:
            with right:
                widgets.show_figure(milestones)
