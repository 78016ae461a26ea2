"""Servers: a table of teams over all variants of a game, and their reasons for going out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pandas as pd

from turnier.dashboards.kinds import games as scores
from turnier.dashboards.sections import Section, Text
from turnier.dashboards.summaries.matches import Scores, scores_of
from turnier.dashboards.tables import MAIN, Column, Table
from turnier.games.registry import game_of
from turnier.results.frames import death_reasons, json_rows, matches_frame, teams_frame
from turnier.runs.results import RunResults

REPLAYED = 500  # the newest games, of which reasons are found by replaying


class Data(NamedTuple):
    """The data of a server's games."""

    scores: Scores
    teams: pd.DataFrame  # see `teams_frame`; empty if no team can go out
    out: dict[str, Counter[str]]  # reasons for going out
    games: int
    boards: int


def read(results: RunResults) -> Data:
    frame = matches_frame(results.store, run=results.id, ids=False)
    found = scores_of(results.store, results.id, frame)
    ours = matches_frame(results.store, run=results.id)
    goes_out = {game: bool(game_of(str(game)).out_fact) for game in ours["game"].unique()}
    ours = ours[ours["game"].map(goes_out).astype(bool)].reset_index(drop=True)
    if ours.empty:
        return Data(found, pd.DataFrame(), {}, 0, 0)
    newest = list(dict.fromkeys(ours["match"].astype(str)))[-REPLAYED:]
    out = death_reasons(results.store.records(newest))
    return Data(found, teams_frame(ours), out, ours["match"].nunique(), ours["game"].nunique())


head = scores.head


def sections(data: Data) -> Iterator[Section]:
    if len(data.teams):
        yield teams_table(data.teams)
        kinds = "kind" if data.boards == 1 else "kinds"
        note = f"{data.games:,} games on {data.boards:,} {kinds} of boards; place: mean, of so many players on average."
        yield Text(note)
        yield reasons_table(data)
        if data.games > REPLAYED:
            yield Text(f"Reasons are those of the newest {REPLAYED:,} games.")
    yield from scores.sections(data.scores)


def to_json(data: Data) -> Any:
    if data.teams.empty:
        return scores.to_json(data.scores)
    return [row | {"out": dict(data.out.get(row["agent"], Counter()))} for row in json_rows(data.teams)]


def teams_table(teams: pd.DataFrame) -> Table:
    frame = teams.assign(half_width=teams["elo_high"] - teams["elo"], rank=range(1, len(teams) + 1))
    columns = [
        Column("rank"),
        Column("label", "agent", key=True),
        Column("elo", "Elo", half_width="half_width", signed=True, importance=MAIN),
        scores.GAMES,
        *scores.SHARES[1:],
        Column("place", importance=MAIN),
        Column("crowd", "of players"),
    ]
    return Table("Teams", frame, columns)


def reasons_table(data: Data) -> Table:
    rows = [
        {"label": row["label"], "games": count, "reason": reason}
        for row in data.teams.to_dict("records")
        for reason, count in data.out.get(row["agent"], Counter()).most_common()
    ]
    columns = [Column("label", "agent", key=True), scores.GAMES, Column("reason", importance=MAIN)]
    return Table("Why they went out", pd.DataFrame(rows, columns=["label", "games", "reason"]), columns)
