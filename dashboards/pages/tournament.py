"""Tournament: who beats whom, ratings, seats, and how many games would separate two agents."""

from __future__ import annotations

import streamlit as st

from turnier.dashboards import cached_store as reading
from turnier.dashboards import widgets as parts
from turnier.dashboards.figures import tournament as tournament_figures
from turnier.dashboards.run_summary import COMPARED, of_game
from turnier.dashboards.widgets import show, show_table


def draw() -> None:
    runs = reading.runs(*COMPARED)
    if not runs:
        parts.empty(
            "No tournament is stored here yet.",
            'turnier tournament yavalath mcts "alphabeta(depth=4)" random --games 20 --openings 1',
        )
        return
    with st.container(border=True):
        chosen = parts.choose_runs(runs, several=False, label="Tournament")
        games = sorted(reading.ranks(chosen[0]).pairs["game"].unique())
        game = parts.choose_game(games) if games else ""
    parts.renewed(lambda: _draw(chosen, game), parts.is_live(chosen))


def _draw(chosen: list[reading.Run], game: str) -> None:
    found = of_game(reading.ranks(chosen[0]), game)
    if found.pairs.empty:
        st.info("No two agents have met yet; agents that play alone are compared on the seeds that both have played.")
        return
    left, right = st.columns([3, 2], gap="large")
    with left:
        show(tournament_figures.matrix(found))
    ratings, seats = tournament_figures.ratings(found), tournament_figures.seats(found)
    with right:
        if ratings:
            show(ratings)
        if seats:
            show(seats)
    show_table("Every two agents", tournament_figures.pair_table(found), tournament_figures.NEEDED)
