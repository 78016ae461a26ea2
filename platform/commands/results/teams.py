"""What `turnier show` shows of servers: a table of teams over all variants of a game, and why they went out."""

from __future__ import annotations

import json
from collections import Counter

import pandas as pd

from turnier.commands.results.result_tables import Shown
from turnier.commands.tables import AgentText, agent_table, results_text
from turnier.core.number_text import number, plus_minus
from turnier.core.terminal.console import Console
from turnier.games.registry import game_of
from turnier.results.frames import death_reasons, json_rows, matches_frame, teams_frame
from turnier.results.frames.matches import PLAYED
from turnier.results.store.store import Run, Store

SERVER = "server"
REPLAYED = 500  # games whose reasons are looked for, as each one is replayed: the newest ones


def games_of_servers(store: Store, run: Run | None, shown: Shown) -> pd.DataFrame | None:
    """Returns the games that are shown as a table of teams: a server's, or all servers' where no tournament is stored.

    None where something else is to be shown, such as a tournament or a crosstable.
    """
    if shown.crosstable is not None or (run is not None and run.kind != SERVER):
        return None
    counts = store.match_counts()
    if run is None and any(one.kind in PLAYED and counts.get(one.id) for one in store.runs()):
        return None
    frame = matches_frame(store, run=run.id if run else None, kind=SERVER)
    goes_out = {game: bool(game_of(str(game)).out_fact) for game in frame["game"].unique()}
    frame = frame[frame["game"].map(goes_out).astype(bool)].reset_index(drop=True)
    return None if frame.empty else frame


def show_teams(store: Store, frame: pd.DataFrame, shown: Shown) -> None:
    """Shows the teams of servers' games."""
    teams = teams_frame(frame)
    newest = list(dict.fromkeys(frame["match"].astype(str)))[-REPLAYED:]
    out = death_reasons(store.records(newest))
    if shown.as_json:
        rows = [row | {"out": dict(out.get(row["agent"], Counter()))} for row in json_rows(teams)]
        print(json.dumps(rows, indent=2))
        return
    console = Console()
    _print(console, teams.head(shown.top), out)
    games = frame["match"].nunique()
    boards = frame["game"].nunique()
    note = f" {games:,} games on {boards:,} kinds of boards; place: mean, of so many players on average."
    console.print(note, highlight=False)
    if games > REPLAYED:
        console.print(f" Reasons are those of the newest {REPLAYED:,} games.", highlight=False)


def _print(console: Console, teams: pd.DataFrame, out: dict[str, Counter[str]]) -> None:
    table = agent_table("teams", "Elo ± 95 %", "games", "won-drawn\n-lost", "place", numbered=True)
    for rank, row in enumerate(teams.to_dict("records"), 1):
        elo = plus_minus(row["elo"], row["elo_high"] - row["elo"], signed=True) if row["elo"] == row["elo"] else "-"
        place = f"{number(row['place'])} of {number(row['crowd'])}"
        table.add_row(str(rank), AgentText(row["label"]), elo, f"{row['games']:,}", results_text(row), place)
    console.print(table)
    reasons = agent_table("why they went out", "games", "reason")
    for row in teams.to_dict("records"):
        for reason, count in out.get(row["agent"], Counter()).most_common():
            reasons.add_row(AgentText(row["label"]), f"{count:,}", reason)
    console.print(reasons)
