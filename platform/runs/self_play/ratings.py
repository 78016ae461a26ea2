"""Ratings of the checkpoints of a training by self-play, on one scale with their opponents."""

from __future__ import annotations

import json

import pandas as pd

from ...results.frames.matches import matches_frame
from ...results.frames.standings import Standings
from ...results.frames.terms import Terms
from ...results.store.store import Store

BEST = "best"  # annotation: number of games of the best checkpoint so far
SECONDS = "seconds"  # annotation: JSON, learning time of any training at each evaluated checkpoint and the newest
COLUMNS = ("games", "minutes", "elo", "elo_low", "elo_high")
ZERO = "zero"  # attribute of the frame: the agent whose Elo is 0


def best_checkpoint(store: Store, run_id: str) -> int | None:
    """Returns the number of games of the best checkpoint; None if there is none yet."""
    best = store.annotations.get(run_id, BEST)
    return int(best) if best else None


def seconds_of(store: Store, run_id: str) -> dict[int, float]:
    """Returns the learning time, without evaluations, at each evaluated checkpoint and at the newest."""
    seconds = json.loads(store.annotations.get(run_id, SECONDS) or "{}")
    return {int(games): float(value) for games, value in seconds.items()}


def rated_checkpoints(store: Store, run_id: str) -> pd.DataFrame:
    """Returns one row per evaluated checkpoint: games and minutes of learning, and Elo with its 95 % interval.

    The opponent of all checkpoints, `attrs[ZERO]`, has 0 Elo: runs with the same opponent can be compared.
    """
    checkpoints, seconds = store.curves.evaluated(run_id), seconds_of(store, run_id)
    if not checkpoints:
        return pd.DataFrame(columns=list(COLUMNS))
    matches = matches_frame(store, run=run_id, ids=False)
    others = [str(agent) for agent in matches["agent"].unique() if agent not in set(checkpoints.values())]
    zero = others[0] if len(others) == 1 else ""
    ratings = Standings.of(matches, pairs=False, terms=Terms(zero)).ratings.set_index("agent")
    frame = ratings.loc[list(checkpoints.values()), list(COLUMNS[2:])].reset_index(drop=True)
    frame.insert(0, "games", list(checkpoints))
    frame.insert(1, "minutes", [seconds.get(games, float("nan")) / 60 for games in checkpoints])
    frame.attrs[ZERO] = zero
    return frame
