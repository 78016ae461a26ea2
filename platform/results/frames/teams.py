"""Agents of games whose seats go out one after the other: one table over all variants and numbers of players."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable

import numpy as np
import pandas as pd

from ...arena.match import MatchRecord, moves_kept
from ...arena.play import replay_positions
from ...games.registry import game_of
from ...statistics.ratings import rated
from .matches import counted, win_share
from .meetings import meetings_of

TEAM_COLUMNS = ("agent", "label", "elo", "elo_low", "elo_high", "games", "wins", "draws", "losses", "place", "crowd")


def teams_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns a row per agent of a frame of `matches_frame`, the best first, for games that declare `out_fact`.

    Columns: agent, label; elo (Plackett-Luce over the order of a game; the mean is 0; NaN if no two agents met) with
    its 95 % interval elo_low and elo_high; games, wins, draws, losses; place (mean, 1 is the best; agents that went out
    in the same round share a place) and crowd (mean number of players). Stopped games do not count.
    """
    played = frame[counted(frame)]
    placed = played.assign(place=_places(played))
    shares = [
        {"agent": str(agent), "label": str(part["label"].iloc[0]), **win_share(part)}
        | {"place": part["place"].mean(), "crowd": part["seats"].mean()}
        for agent, part in placed.groupby("agent", observed=True)
    ]
    table = pd.DataFrame(shares, columns=[name for name in TEAM_COLUMNS if not name.startswith("elo")])
    return (
        table.merge(_ratings(played), on="agent", how="left")[list(TEAM_COLUMNS)]
        .sort_values(["elo", "wins"], ascending=False, kind="stable")
        .reset_index(drop=True)
    )


def _places(frame: pd.DataFrame) -> pd.Series:
    """Returns each seat's place by the round in which it went out; the last survivor never did."""
    if frame.empty:
        return pd.Series(dtype=float)
    facts = {game: game_of(str(game)).out_fact for game in frame["game"].unique()}
    died = np.array([row[f"{facts[row['game']]}{row['seat']}"] for row in frame.to_dict("records")])
    lasted = pd.Series(np.where(died == 0, np.inf, died), index=frame.index)
    return lasted.groupby(frame["match"]).rank(ascending=False, method="average")


def _ratings(frame: pd.DataFrame) -> pd.DataFrame:
    columns = ["agent", "elo", "elo_low", "elo_high"]
    met = [meetings_of(part) for _, part in frame.groupby("seats")]
    agents = sorted({agent for one in met for agent in one.agents})
    if not any(len(one.first) for one in met):
        return pd.DataFrame(columns=columns)
    place = {agent: index for index, agent in enumerate(agents)}
    games = []
    for one in met:
        index = np.array([place[agent] for agent in one.agents], np.int64)
        games.append(one.games._replace(seats=index[one.games.seats]))
    ratings = rated(len(agents), games)
    half = ratings.half_widths()
    values = (agents, ratings.elo, ratings.elo - half, ratings.elo + half)
    return pd.DataFrame(dict(zip(columns, values, strict=True)))


def death_reasons(records: Iterable[MatchRecord]) -> dict[str, Counter[str]]:
    """Returns each agent's reasons for going out, counted, by replaying the games whose moves were kept.

    Moves do not tell a missing answer from an invalid one.
    """
    found: dict[str, Counter[str]] = {}
    for record in records:
        if not moves_kept(record.plies):
            continue
        game = game_of(record.spec.game)
        states = (position.state for position in replay_positions(record.spec, record.plies))
        for before, after in itertools.pairwise(filter(game.shows, states)):
            for seat, reason in game.reasons(before, after).items():
                found.setdefault(record.spec.agents[seat], Counter())[reason] += 1
    return found
