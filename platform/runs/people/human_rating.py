"""Ratings of people from all stored games of a game, and the choice of the most informative next opponent."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

import pandas as pd

from ...agents.registry import agent_of
from ...core.errors import UserError
from ...games.game import Game
from ...results.frames.matches import matches_frame
from ...results.frames.standings import Standings
from ...results.frames.terms import Terms
from ...results.store.store import Store

AGAIN = 25.0  # Elo that each game against an agent adds to its distance, so that opponents change
CALIBRATED = 10  # games of an agent that make its rating good enough to rate a person


@dataclass(frozen=True)
class PersonRating:
    """A rating in Elo on the scale of the stored agents, whose mean is 0, with its 95 % interval."""

    elo: float
    low: float
    high: float
    games: int
    table: pd.DataFrame  # the rating list of the game, see `Standings`


def rating_list(store: Store, game: Game) -> Standings:
    """Returns the rating list of a game over all stored games of all runs; pairs of agents are left out."""
    return _rated(store, _games(store, game))


def rating_of(store: Store, game: Game, person: str) -> PersonRating | None:
    """Returns the rating of an agent's full text; None if it has no game against another agent."""
    return _rating(rating_list(store, game).ratings, person)


def next_opponent(store: Store, game: Game, person: str) -> str:
    """Returns the agent against which a game says most about a person: the nearest in strength.

    It can still play, has CALIBRATED games, and is in the largest group linked by games. For a person without games it
    is the middle one; agents that were met often count as further away.

    Raises:
        UserError: if there is none.
    """
    if game.num_seats != 2:
        raise UserError(f"a ladder is for games of two seats, got {game} with {game.num_seats}; name the opponents.")
    frame = _games(store, game)
    table = _rated(store, frame).ratings
    rated, known = _calibrated(table, game), _rating(table, person)
    strength = float(rated["elo"].median()) if known is None else known.elo
    met = frame[frame["match"].isin(set(frame.loc[frame["agent"] == person, "match"]))]["agent"].value_counts()
    distances: dict[str, float] = {
        str(agent): abs(elo - strength) + AGAIN * int(met.get(agent, 0))
        for agent, elo in zip(rated["agent"], rated["elo"].astype(float), strict=True)
    }
    return min(distances, key=lambda agent: (distances[agent], agent))


def _rated(store: Store, frame: pd.DataFrame) -> Standings:
    return Standings.of(frame, pairs=False, terms=Terms.of_runs(store, map(str, frame["run"].unique())))


def _games(store: Store, game: Game) -> pd.DataFrame:
    return matches_frame(store, kind=None, game=game.full_text(), ids=False)


def _rating(table: pd.DataFrame, person: str) -> PersonRating | None:
    row = table[table["agent"] == person]
    if row.empty or row["elo"].isna().all():
        return None
    elo, low, high = (float(row[name].iloc[0]) for name in ("elo", "elo_low", "elo_high"))
    return PersonRating(elo, low, high, int(row["games"].iloc[0]), table)


def _calibrated(table: pd.DataFrame, game: Game) -> pd.DataFrame:
    """Returns the rows of a rating list whose agents can rate a person."""
    table = table[(table["games"] >= CALIBRATED) & (table["group"] == 1)]
    table = table[[_can_play(str(agent), game) for agent in table["agent"]]]
    if table.empty:
        raise UserError(
            f"a ladder needs agents of {game} with at least {CALIBRATED} stored games, got none; play a tournament"
            f" first, such as: turnier tournament {shlex.quote(str(game))} random 'mcts(iterations=20)'"
            " 'mcts(iterations=200)'."
        )
    return table


def _can_play(agent: str, game: Game) -> bool:
    """Returns whether an agent still exists and plays the game; people are not asked."""
    try:
        return agent_of(agent).cannot_play(game) is None
    except UserError:
        return False
