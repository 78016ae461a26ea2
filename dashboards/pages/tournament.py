"""Tournament: the rating list, who beats whom with the games of every two agents, seats, and closeness."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from turnier.agents.registry import label_of
from turnier.dashboards import cached_store, widgets
from turnier.dashboards.figures.ranked import CELL, MAX_AGENTS
from turnier.dashboards.figures.tournament import (
    PAIR_NOTE,
    crosstable,
    leader_text,
    list_note,
    pair_table,
    rating_list,
    rating_points,
    seat_points,
)
from turnier.dashboards.links import match_address
from turnier.dashboards.run_failures import show_headline
from turnier.dashboards.run_heading import titled
from turnier.dashboards.run_summary import Ranks, of_game

PAIR = {"Games of": "agent", "against": "against"}  # the two agents whose games are shown: title -> key
RATED_BY = ("this tournament", "all tournaments of the game")
PAIRS = "pairs"  # the key of the table of every two agents


def draw() -> None:
    runs = cached_store.runs("tournament")
    if not runs:
        widgets.show_empty(
            "No tournament is stored here yet.",
            'turnier tournament yavalath mcts "alphabeta(depth=4)" random --games 20 --openings 1',
        )
        return
    with st.container(border=True):
        run = widgets.choose_runs(runs, several=False, label="Tournament")[0]
    widgets.show_title(titled(run), [run])
    widgets.refresh(lambda: _draw(run), widgets.is_live([run]))


def _draw(run: cached_store.Run) -> None:
    ranks = cached_store.ranks(run)
    met = list(ranks.ratings["label"])
    widgets.show_state(run, met or list(cached_store.scores([run]).summary["label"]))
    if ranks.pairs.empty:
        show_headline([run])
        st.info("No two agents have met yet; in single-player games they are compared on the seeds that both played.")
        return
    game = widgets.choose_game(sorted(ranks.pairs["game"].unique()))
    ranks = of_game(ranks, game)
    show_headline([run], leader_text(ranks))
    _rating_list(game, ranks)
    _square(run, ranks)
    figures = [figure for figure in (rating_points(ranks), seat_points(ranks)) if figure]
    for column, figure in zip(st.columns(2, gap="large") if figures else (), figures, strict=False):
        with column:
            widgets.show_figure(figure)
    table = pair_table(ranks)
    choose_row = partial(_choose_row, table, ranks.ratings["label"].tolist())
    look: dict[str, Any] = {"key": PAIRS, "selection_mode": "single-row", "on_select": choose_row}
    widgets.show_table("All pairs of agents", table, PAIR_NOTE, **look)


def _rating_list(game: str, ranks: Ranks) -> None:
    """The rating list of the tournament, or of all tournaments of its game."""
    tournaments = [other for other in cached_store.runs("tournament") if other.definition.get("game") == game]
    if len(tournaments) > 1 and widgets.choose_view("Rated by the games of", RATED_BY, "rated") == RATED_BY[1]:
        ranks = cached_store.ratings_of_game(game, tournaments)
    table = rating_list(ranks)
    widgets.show_table("Rating list", table, list_note(ranks), height=widgets.height(table))


def _square(run: cached_store.Run, ranks: Ranks) -> None:
    """Who beats whom, and the games of two agents, whose cell or names are chosen."""
    labels = ranks.ratings["label"].tolist()
    first = 1
    if len(labels) > MAX_AGENTS:
        last = len(labels) - MAX_AGENTS + 1
        first = widgets.choose_number("First place in the chart below", 1, last, "place")
    widgets.show_figure(crosstable(ranks, first), key=CELL, on_select=_choose_cell, selection_mode=CELL)
    with st.container(horizontal=True):
        pair = [widgets.choose_or_none(title, labels, side, "an agent") for title, side in PAIR.items()]
    if None in pair or pair[0] == pair[1]:
        st.caption("Choose a cell, a row of the table below or two agents to see games.")
        return
    _games(run, ranks, [str(ranks.ratings["agent"].iloc[labels.index(label)]) for label in pair if label])


def _games(run: cached_store.Run, ranks: Ranks, agents: list[str]) -> None:
    """The games of two agents with each other; in single-player games those of each."""
    alone = ranks.ratings["elo"].isna().all()
    for some in [[agent] for agent in agents] if alone else [agents]:
        games = cached_store.latest_matches(run.id, tuple(some))
        frame = pd.DataFrame({"replay": [match_address(run.id, match) for match in games], "game": games.values()})
        widgets.show_table("Games of " + " and ".join(map(label_of, some)), frame, f"The latest {len(games)}.")


def _choose_cell() -> None:
    chosen = st.session_state[CELL]["selection"].get(CELL)
    if chosen:
        _choose_pair(chosen[-1])


def _choose_row(table: pd.DataFrame, labels: list[str]) -> None:
    rows = st.session_state[PAIRS]["selection"]["rows"]
    if rows:
        chosen = table.iloc[rows[0]]
        _choose_pair({"agent": labels[chosen["rank"] - 1], "against": labels[chosen["rank of other"] - 1]})


def _choose_pair(pair: Mapping[str, str]) -> None:
    for side in PAIR.values():
        st.session_state[side] = pair[side]
