"""Tournament: who beats whom, ratings, seats, and the number of games to separate two agents."""

from __future__ import annotations

import streamlit as st

from turnier.dashboards import cached_store, widgets
from turnier.dashboards.figures.tournament import PAIR_NOTE, pair_table, rating_points, seat_matrix, win_matrix
from turnier.dashboards.run_summary import COMPARED, of_game


def draw() -> None:
    runs = cached_store.runs(*COMPARED)
    if not runs:
        widgets.show_empty(
            "No tournament is stored here yet.",
            'turnier tournament yavalath mcts "alphabeta(depth=4)" random --games 20 --openings 1',
        )
        return
    with st.container(border=True):
        chosen = widgets.choose_runs(runs, several=False, label="Tournament")
        games = sorted(cached_store.ranks(chosen[0]).pairs["game"].unique())
        game = widgets.choose_game(games) if games else ""
    widgets.refresh(lambda: _draw(chosen, game), widgets.is_live(chosen))


def _draw(chosen: list[cached_store.Run], game: str) -> None:
    ranks = of_game(cached_store.ranks(chosen[0]), game)
    if ranks.pairs.empty:
        st.info("No two agents have met yet; in single-player games they are compared on the seeds that both played.")
        return
    left, right = st.columns([3, 2], gap="large")
    with left:
        widgets.show_figure(win_matrix(ranks))
    ratings, seats = rating_points(ranks), seat_matrix(ranks)
    with right:
        if ratings:
            widgets.show_figure(ratings)
        if seats:
            widgets.show_figure(seats)
    widgets.show_table("Every two agents", pair_table(ranks), PAIR_NOTE)
