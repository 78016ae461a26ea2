"""A run's matches condensed for pages: a few rows, whatever the number of games, computed once from the frame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from turnier.agents.registry import label_of
from turnier.dashboards.agent_names import with_names
from turnier.results.alike_games import results_frame
from turnier.results.frames.matches import matches_frame, seat_summary, summary
from turnier.results.frames.standings import Standings
from turnier.results.frames.terms import Terms
from turnier.results.store.store import Store
from turnier.statistics.comparisons import units_needed

MAX_BINS = 40  # of a distribution
EXTREMES = 25  # matches named on each side
COMPARED = ("tournament", "comparison")  # kinds whose agents are compared with each other
SHOWN = (*COMPARED, "experiment", "training", "certainty")  # kinds whose scores are shown; a study's agents are many


class Scores(NamedTuple):
    """What agents scored in some runs; every frame has the column `run`.

    summary: see `summary`. spread: the distribution of scores, see `spread`. extremes: the matches with the largest and
    the smallest scores of a game: game, match (a number in place of its id, see `matches_frame`), seat, agent, label,
    score, seed.
    """

    summary: pd.DataFrame
    spread: pd.DataFrame
    extremes: pd.DataFrame


class Ranks(NamedTuple):
    """How the agents of some runs compare; every frame has the column `run`.

    ratings, pairs, notes: see `Standings`; pairs also has `needed`, the pairs of games that separate two such agents
    with 80 % power at 5 %. seats: see `seat_summary`.
    """

    ratings: pd.DataFrame
    pairs: pd.DataFrame
    seats: pd.DataFrame
    notes: pd.DataFrame


def scores(store: Store, run: str) -> Scores:
    """Reads a run's matches and returns what its agents scored."""
    frame = matches_frame(store, run=run, ids=False)
    parts = Scores(summary(frame), spread(frame), extremes(frame))
    return Scores(*(part.assign(run=run) for part in parts))


def ranks(store: Store, run: str) -> Ranks:
    """Reads a run's matches and returns how its agents compare."""
    frame = results_frame(store, run)
    ratings, pairs, notes = Standings.of(frame, terms=Terms.of_runs(store, [run]))
    needed = units_needed(*(pairs[name] for name in ("difference", "difference_high", "pairs")))
    parts = Ranks(ratings, pairs.assign(needed=needed), seat_summary(frame), notes)
    return Ranks(*(part.assign(run=run) for part in parts))


def ratings_of_game(store: Store, game: str) -> Ranks:
    """Rates the agents of a game over all tournaments; pairs and seats are left empty."""
    frame = matches_frame(store, kind="tournament", game=game, ids=False)
    terms = Terms.of_runs(store, map(str, frame["run"].unique()))
    rated, pairs, notes = Standings.of(frame, pairs=False, terms=terms)
    rated, pairs, seats = with_names(rated, pairs, pd.DataFrame())
    return Ranks(rated, pairs, seats, notes)


def joined(summaries: Sequence[Scores]) -> Scores:
    """Returns the frames of several runs, concatenated."""
    return Scores(*(pd.concat(parts, ignore_index=True) for parts in zip(*summaries, strict=True)))


def of_game(ranks: Ranks, game: str) -> Ranks:
    """Returns the rows of one game; labels are names, see `with_names`."""
    ratings, pairs, seats, notes = (frame[frame["game"] == game].reset_index(drop=True) for frame in ranks)
    ratings, pairs, seats = with_names(ratings, pairs, seats)
    return Ranks(ratings, pairs, seats, notes)


def of_agents(found: Scores, game: str, names: Sequence[str] | None = None) -> Scores:
    """Returns the rows of one game and, if names are given, of these agents; labels are names, see `with_names`."""
    parts = with_names(*(frame[frame["game"] == game] for frame in found))
    if names is not None:
        parts = [frame[frame["label"].isin(names)] for frame in parts]
    return Scores(*(frame.reset_index(drop=True) for frame in parts))


def spread(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns the distribution of scores, in bins shared by all agents of a game."""
    rows = []
    for game, part in frame.groupby("game"):
        edges = np.histogram_bin_edges(part["score"].to_numpy(np.float64), _bins(part))
        for agent, games in part.groupby("agent"):
            counts, _ = np.histogram(games["score"].to_numpy(np.float64), edges)
            share = counts / len(games)
            one = {"game": game, "agent": agent, "label": label_of(str(agent)), "low": edges[:-1], "high": edges[1:]}
            rows.append(pd.DataFrame(one | {"games": counts, "share": share, "below": np.cumsum(share)}))
    columns = ["game", "agent", "label", "low", "high", "games", "share", "below"]
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=columns)


def _bins(part: pd.DataFrame) -> int:
    """Returns how many bins the games of a game's rarest agent support, by Rice's rule (D. Lane)."""
    fewest = int(part.groupby("agent").size().min())
    return max(1, min(MAX_BINS, math.ceil(2 * math.cbrt(fewest))))


def extremes(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns the matches with the largest and the smallest scores of every game, the largest first."""
    columns = ["game", "match", "seat", "agent", "label", "score", "seed"]
    parts = []
    for _, part in frame[columns].groupby("game"):
        largest = part.nlargest(EXTREMES, "score")
        parts.append(pd.concat([largest, part.nsmallest(EXTREMES, "score")[::-1]]).drop_duplicates(["match", "seat"]))
    return pd.concat(parts, ignore_index=True) if parts else frame[columns]
