"""Ratings and pairwise results, as tables for a terminal and as JSON."""

from __future__ import annotations

import itertools
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table

from turnier.agents.registry import label_of
from turnier.commands.tables import agent_table
from turnier.core.number_text import number
from turnier.results.frames.matches import json_rows
from turnier.statistics.intervals import share_interval

MAX_COLUMNS = 4  # agents of a matrix; of more agents only neighbours in the ranking are shown
SIGNIFICANT = 0.05


def print_standings(console: Console, ratings: pd.DataFrame, pairs: pd.DataFrame) -> None:
    """Prints both frames of `Standings`; nothing if no two agents can be compared."""
    for game, part in ratings[ratings["elo"].notna()].groupby("game"):
        console.print(_ratings(str(game), part))
    for game, part in pairs.groupby("game"):
        rated = ratings[ratings["game"] == game]
        console.print(_matrix(str(game), part, rated["agent"].tolist(), bool(rated["elo"].notna().any())))


def _ratings(game: str, part: pd.DataFrame) -> Table:
    live = bool(part["live_mu"].notna().any())
    headings = ("games", "Elo", "interval", *["openskill mu ± sigma"] * live)
    shown = agent_table(f"{game}: Elo relative to the field's mean, 95 % intervals", *headings, numbered=True)
    for place, row in enumerate(part.to_dict("records"), 1):
        interval = f"{row['elo_low']:+.0f} to {row['elo_high']:+.0f}"
        of_openskill = [f"{row['live_mu']:.1f} ± {row['live_sigma']:.1f}"] * live
        shown.add_row(str(place), row["label"], f"{row['games']:,}", f"{row['elo']:+.0f}", interval, *of_openskill)
    return shown


def _matrix(game: str, part: pd.DataFrame, order: list[str], versus: bool) -> Table:
    """Returns the results of rows against columns, both in the order of the ranking."""
    what = "games won against, %, 95 % intervals" if versus else "difference of scores on the same seeds ± 95 %"
    cells = {(row["first"], row["second"]): _cell(row, versus, 1) for row in part.to_dict("records")}
    cells |= {(row["second"], row["first"]): _cell(row, versus, -1) for row in part.to_dict("records")}
    caption = "* differs, p < 0.05 after Holm's correction" if (part["p_holm"] < SIGNIFICANT).any() else None
    if len(order) <= MAX_COLUMNS:
        places = [str(place) for place in range(1, len(order) + 1)]
        shown = agent_table(f"{game}: {what}", *places, caption=caption, numbered=True)
        for place, agent in zip(places, order, strict=True):
            shown.add_row(place, label_of(agent), *(cells.get((agent, other), "") for other in order))
        return shown
    shown = agent_table(f"{game}: {what}", caption=caption)
    shown.add_column("next in the ranking", overflow="fold", min_width=16)
    shown.add_column("first against second", justify="right", no_wrap=True)
    for agent, other in itertools.pairwise(order):
        shown.add_row(label_of(agent), label_of(other), cells.get((agent, other), "-"))
    return shown


def _cell(row: dict[Any, Any], versus: bool, sign: int) -> str:
    mark = "*" if row["p_holm"] < SIGNIFICANT else ""
    if not versus:
        half = (row["difference_high"] - row["difference_low"]) / 2
        value = sign * row["difference"]
        return ("+" if value > 0 else "") + number(value) + mark + ("" if pd.isna(half) else f" ± {number(half)}")
    rate, low, high = share_interval(int(row["wins" if sign > 0 else "losses"]), int(row["games"]))
    return f"{100 * rate:.0f}{mark} ({100 * low:.0f}-{100 * high:.0f})"


def with_standings(rows: list[dict[str, Any]], ratings: pd.DataFrame, pairs: pd.DataFrame) -> list[dict[str, Any]]:
    """Returns a summary's JSON rows with each agent's rating, and under `pairs` its results as the first of two."""
    rated = {(row["game"], row["agent"]): row for row in json_rows(ratings)}
    met: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in json_rows(pairs):
        met.setdefault((row.pop("game"), row.pop("first")), []).append(row)
    names = [name for name in ratings.columns if name.startswith(("elo", "live"))]
    rated_rows = []
    for row in rows:
        rating = rated.get((row["game"], row["agent"]), {})
        rated_rows.append(row | {n: rating.get(n) for n in names} | {"pairs": met.get((row["game"], row["agent"]), [])})
    return rated_rows
