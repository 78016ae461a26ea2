"""Scores: ranks, means, distributions, milestones and the cost of a move, for one or several runs."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from turnier.dashboards import cached_store, widgets
from turnier.dashboards.figures.scores import (
    COSTS,
    mean_scores,
    milestone_shares,
    score_against_cost,
    score_distribution,
    score_note,
    score_table,
    value_of,
)
from turnier.dashboards.links import games_address, match_address
from turnier.dashboards.run_failures import show_headline
from turnier.dashboards.run_heading import titled
from turnier.dashboards.run_summary import SHOWN, of_agents

VIEWS = ("histogram", "cumulative")
EXTREMES = 5  # games with the largest scores, and with the smallest


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
    widgets.show_title(" and ".join(dict.fromkeys(map(titled, chosen))), chosen)
    widgets.refresh(lambda: _draw(chosen), widgets.is_live(chosen))


def _draw(chosen: list[cached_store.Run]) -> None:
    found = cached_store.scores(chosen)
    for run in chosen:
        widgets.show_state(run, found.summary.loc[found.summary["run"] == run.id, "label"].tolist())
    show_headline(chosen)
    games = sorted(found.summary["game"].unique())
    if not games:
        st.info("These runs have no games yet.")
        return
    with st.container(border=True, horizontal=True):
        game = widgets.choose_game(games)
        ranked, _ = value_of(of_agents(found, game).summary)
        agents = widgets.choose_several("Agents", list(ranked["label"].unique()), "agents")
    found = of_agents(found, game, agents)
    rows, _ = value_of(found.summary)
    replays = [games_address(run, agent) for run, agent in zip(rows["run"], rows["agent"], strict=True)]
    table = score_table(found.summary).assign(replay=replays)
    widgets.show_table("Ranks", table, score_note(found.summary), height=widgets.height(table))
    left, right = st.columns(2, gap="large")
    with left:
        widgets.show_figure(mean_scores(found.summary))
    with right:
        drawn = {cost: score_against_cost(found.summary, cost) for cost in COSTS}
        costs = {cost: figure for cost, figure in drawn.items() if figure}
        if costs:
            widgets.show_figure(costs[widgets.choose_view("Cost of a move", list(costs), "cost")])
    if not found.summary["points_share"].isna().all():
        return
    left, right = st.columns(2, gap="large")
    with left:
        view = widgets.choose_view("Distribution", VIEWS, "view")
        widgets.show_figure(score_distribution(found, view == "cumulative"))
    milestones = milestone_shares(found.summary)
    if milestones:
        with right:
            widgets.show_figure(milestones)
    _extremes(found.extremes)


def _extremes(found: pd.DataFrame) -> None:
    """The games with the largest and the smallest scores, with their replays."""
    found = found.sort_values("score", ascending=False, kind="stable")
    rows = pd.concat([found[:EXTREMES], found[-EXTREMES:]]).drop_duplicates(["match", "seat", "run"])
    pairs = zip(rows["run"], cached_store.match_ids(rows), strict=True)
    shown = pd.DataFrame(
        {
            "replay": [match_address(run, match) for run, match in pairs],
            "score": rows["score"],
            "agent": rows["label"],
            "seed": rows["seed"].astype(str),  # a name, not a quantity
        }
    )
    widgets.show_table("Largest and smallest scores", shown)
