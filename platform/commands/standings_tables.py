"""Rating lists and pairwise results, as tables for a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from rich.table import Table

from turnier.agents.registry import label_of
from turnier.commands.tables import AgentText, agent_table, results_text
from turnier.core.number_text import number, plus_minus
from turnier.core.terminal.console import Console
from turnier.results.frames import Standings, json_rows
from turnier.results.frames.rating_list import places_of

TOP = 200  # agents that a rating list shows unless more are requested
SIGNIFICANT = 0.05
FULL_CELLS = 4  # agents up to which a crosstable has intervals
WIDE = 100  # characters of a terminal from which a rating list has the sum of the points
SLIM = 72  # and from which it has won-drawn-lost and the share of draws
ROW_HEAD = 26  # characters of the place and agent in a row of a crosstable
# Headings of columns that a narrow terminal may leave out; the summary above a run's list has won-drawn-lost, too.
POINTS, RESULTS, DRAWN, OPENSKILL, GROUP = "points", "won-drawn\n-lost", "drawn\n%", "openskill\nmu ± sigma", "group"
BETTER, BEST, NASH = "better\n%", "best\n%", "Nash\n%"
OF_RATINGS = (
    *("rank", "rank_low", "rank_high", "elo", "elo_low", "elo_high", "draw_share", "superiority", "best_of_all"),
    *("nash", "nash_low", "nash_high", "nash_weight", "fit_p", "cyclic", "group", "live_mu", "live_sigma"),
)


def print_standings(console: Console, standings: Standings, top: int = TOP, anchor: str = "") -> None:
    """Prints rating lists, and who beats whom; nothing if no two agents can be compared."""
    print_ratings(console, standings, top, anchor)
    for game, part in standings.pairs.groupby("game"):
        rated = standings.ratings[standings.ratings["game"] == game]
        _print_crosstable(console, str(game), part, rated)


def print_ratings(console: Console, standings: Standings, top: int = TOP, anchor: str = "") -> None:
    """Prints the rating list of each game with what to know of it; says what it leaves out.

    Args:
        standings: of the games.
        top: number of agents that are shown.
        anchor: full text of the agent whose Elo is 0; empty = the mean is.
    """
    ratings = standings.ratings
    for game, part in ratings.groupby("game"):
        rated = bool(part["elo"].notna().any())
        console.print(
            _by_elo(str(game), part.head(top), console.width) if rated else _by_mean(str(game), part.head(top))
        )
        notes = standings.notes_of(str(game))
        zero = label_of(anchor) if anchor in part["agent"].tolist() else "the mean of these agents"
        notes += [f"Elo: 0 is {zero}."] * rated
        notes += ["better: the probability that the agent is stronger than the next in the list."]
        notes += ["Nash: points against the mixture of agents that nobody beats; copies do not change it."] * bool(
            part["nash"].notna().any()
        )
        if len(part) > top:
            all_of_them = f"--top {len(part)} shows all."
            notes.append(f"{len(part):,} agents are rated, the first {top:,} are shown; {all_of_them}")
        if rated and (groups := int(part["group"].max())) > 1:
            notes.append(f"No game links the {groups} groups (last column): Elo can be compared within a group only.")
        if rated and console.width < WIDE and part["live_mu"].notna().any():
            notes.append(f"A terminal of {WIDE} columns shows won-drawn-lost here as well.")
        _print_notes(console, notes)


def _print_notes(console: Console, notes: Sequence[str]) -> None:
    for note in notes:
        console.print(f" {note}", highlight=False, markup=False)
    console.print()


def _by_elo(game: str, part: pd.DataFrame, width: int) -> Table:
    rows = [_elo_cells(row) for row in part.to_dict("records")]
    live, groups, narrow = part["live_mu"].notna().any(), part["group"].max() > 1, width < WIDE
    left_out = {OPENSKILL: not live, GROUP: not groups, POINTS: narrow, BEST: narrow, NASH: part["nash"].isna().all()}
    slim = width < SLIM
    left_out[BETTER] = slim and not left_out[NASH]
    left_out |= {RESULTS: slim or (narrow and live), DRAWN: slim or (narrow and (groups or not left_out[NASH]))}
    headings = [heading for heading in rows[0] if not left_out.get(heading)]
    shown = agent_table(f"{game}: rating list", *headings, numbered=True)
    for place, label, cells in zip(places_of(part), part["label"], rows, strict=True):
        shown.add_row(place, AgentText(label), *(cells[heading] for heading in headings))
    return shown


def _elo_cells(row: dict[Any, Any]) -> dict[str, str]:
    """Returns the cells of an agent by their headings."""
    return {
        "Elo ± 95 %": plus_minus(row["elo"], row["elo_high"] - row["elo"], signed=True),
        "games": f"{row['games']:,}",
        POINTS: f"{row['points']:,.1f}",
        "points\n%": f"{100 * row['points_share']:.1f}",
        RESULTS: results_text(row),
        DRAWN: _per_cent(row["draw_share"]),
        BETTER: _superiority(row["superiority"]),
        BEST: _superiority(row["best_of_all"]),
        NASH: "" if pd.isna(row["nash"]) else f"{100 * row['nash']:.0f}",
        OPENSKILL: plus_minus(row["live_mu"], row["live_sigma"]),
        GROUP: str(row["group"]),
    }


def _by_mean(game: str, part: pd.DataFrame) -> Table:
    headings = ("mean score ± 95 %", "games", "better, %", "best, %")
    shown = agent_table(f"{game}: rating list by mean score", *headings, numbered=True)
    for place, row in zip(places_of(part), part.to_dict("records"), strict=True):
        mean = plus_minus(row["mean"], row["mean_high"] - row["mean"])
        figures = (mean, f"{row['games']:,}", _superiority(row["superiority"]), _superiority(row["best_of_all"]))
        shown.add_row(place, AgentText(row["label"]), *figures)
    return shown


def _per_cent(share: float) -> str:
    return f"{100 * share:.0f}"


def _superiority(share: float) -> str:
    """Returns a probability in per cent; it never reads 100, because none is certain."""
    return "" if pd.isna(share) else ">99.9" if share > 0.999 else f"{100 * share:.1f}"


def _print_crosstable(console: Console, game: str, pairs: pd.DataFrame, ratings: pd.DataFrame) -> None:
    """Prints the results of rows against columns in the order of the ranking, or why the terminal cannot show them."""
    order, scored = ratings["agent"].tolist(), bool(ratings["elo"].isna().all())
    full = len(order) <= FULL_CELLS
    cells: dict[tuple[str, str], str] = {}
    for row in pairs.to_dict("records"):
        cells[row["first"], row["second"]] = _cell(row, scored, full)
        cells[row["second"], row["first"]] = _cell(_turned(row), scored, full)
    if not full and ROW_HEAD + len(order) * (1 + max(map(len, cells.values()))) > console.width:
        ways = "turnier show --crosstable FILE.csv writes it, turnier dashboard shows it."
        _print_notes(console, [f"{game}: the crosstable of {len(order)} agents is wider than this terminal; {ways}"])
        return
    what = "difference of mean scores on the same seeds" if scored else "points against, %"
    places = [str(place) for place in range(1, len(order) + 1)]
    shown = agent_table(f"{game}: {what}{', 95 % intervals' * full}", *places, numbered=True)
    for place, agent in zip(places, order, strict=True):
        shown.add_row(place, AgentText(label_of(agent)), *(cells.get((agent, other), "") for other in order))
    console.print(shown)
    least, most = f"{pairs['games'].min():,}", f"{pairs['games'].max():,}"
    notes = [f"Each cell: {least if least == most else f'{least} to {most}'} {'seeds' if scored else 'games'}."]
    notes += ["* differs: p < 0.05 after Holm's correction."] * bool((pairs["p_holm"] < SIGNIFICANT).any())
    notes += ["95 % intervals: turnier show --json."] * (not full)
    _print_notes(console, [" ".join(notes)])


def _turned(row: dict[Any, Any]) -> dict[Any, Any]:
    """Returns a row of `pairs` from the second agent's point of view."""
    return row | {
        "points_share": 1 - row["points_share"],
        "points_share_low": 1 - row["points_share_high"],
        "points_share_high": 1 - row["points_share_low"],
        "difference": -row["difference"],
        "difference_low": -row["difference_high"],
        "difference_high": -row["difference_low"],
    }


def _cell(row: dict[Any, Any], scored: bool, full: bool) -> str:
    mark = "*" if row["p_holm"] < SIGNIFICANT else ""
    if scored:
        half = (row["difference_high"] - row["difference_low"]) / 2
        return (plus_minus if full else number)(row["difference"], half, signed=True) + mark
    share = _per_cent(row["points_share"]) + mark
    return f"{share} ({_per_cent(row['points_share_low'])}-{_per_cent(row['points_share_high'])})" if full else share


def rating_rows(standings: Standings) -> list[dict[str, Any]]:
    """Returns the rows of rating lists for JSON, each with the notes on its game."""
    return [row | {"notes": standings.notes_of(row["game"])} for row in json_rows(standings.ratings)]


def with_standings(rows: Sequence[dict[str, Any]], standings: Standings) -> list[dict[str, Any]]:
    """Returns a summary's JSON rows with each agent's rating, the notes on its game, and its results by opponent.

    The notes are under `notes`, the results under `pairs` of the first of two agents.
    """
    rated = {(row["game"], row["agent"]): row for row in json_rows(standings.ratings)}
    met: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in json_rows(standings.pairs):
        met.setdefault((row.pop("game"), row.pop("first")), []).append(row)
    rated_rows = []
    for row in rows:
        rating = rated.get((row["game"], row["agent"]), {})
        results = {"notes": standings.notes_of(row["game"]), "pairs": met.get((row["game"], row["agent"]), [])}
        rated_rows.append(row | {name: rating.get(name) for name in OF_RATINGS} | results)
    return rated_rows
