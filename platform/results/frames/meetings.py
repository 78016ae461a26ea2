"""Meetings of agents and their results: the matches of a game of several seats as arrays."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...statistics.distributions import Floats, Ints
from ...statistics.fit import groups_of
from ...statistics.plackett_luce import Games
from .matches import counted, times_of


class Meetings(NamedTuple):
    """Every two seats with different agents in every match with a result; agents are indices into `agents`."""

    agents: list[str]
    games: Games  # whose clusters are seeds: games of a seed share its chance, and each agent's random numbers
    first: Ints
    second: Ints
    points: Floats  # of the first against the second: 1 if it scored more, 0.5 if as much, 0 if less
    seats: Ints  # [meetings, 2] those of the two
    clusters: Ints  # those of the games
    seat_points: Floats  # [games, seats] see `MatchRecord.points`
    times: Floats  # [meetings] number of clusters like theirs, see `Games`
    game_times: Floats  # [games] the same

    def groups(self) -> Ints:
        """Returns the number of each agent's group, the largest first: no game links agents of two groups."""
        found = groups_of(len(self.agents), self.first, self.second)
        order = np.argsort(-np.bincount(found), kind="stable")
        return np.asarray(np.argsort(order)[found] + 1, np.int64)


def meetings_of(part: pd.DataFrame) -> Meetings:
    """Takes the rows of one game, in which the seats of a match are consecutive rows."""
    seats = int(part["seats"].iloc[0])
    codes = pd.factorize(part["agent"])[0].reshape(-1, seats)
    # An agent alone with itself says nothing of its strength.
    kept = counted(part).to_numpy(bool)[::seats] & (codes != codes[:, :1]).any(axis=1)
    part = part[np.repeat(kept, seats)]
    codes, names = pd.factorize(part["agent"], sort=True)
    agents = codes.reshape(-1, seats)
    scores = part["score"].to_numpy(np.float64).reshape(-1, seats)
    cluster = pd.factorize(part["seed"].to_numpy()[::seats])[0]
    alike = times_of(part)[::seats]
    first, second, points, places, clusters, times = [], [], [], [], [], []
    for a, b in itertools.combinations(range(seats), 2):
        met = agents[:, a] != agents[:, b]
        first.append(agents[met, a])
        second.append(agents[met, b])
        points.append(0.5 + 0.5 * np.sign(scores[met, a] - scores[met, b]))
        places.append(np.tile([a, b], (int(met.sum()), 1)))
        clusters.append(cluster[met])
        times.append(alike[met])
    best = scores == scores.max(axis=1, keepdims=True, initial=-np.inf)
    return Meetings(
        agents=[str(name) for name in names],
        games=Games(agents, scores, cluster, alike),
        first=np.concatenate(first),
        second=np.concatenate(second),
        points=np.concatenate(points),
        seats=np.concatenate(places),
        clusters=np.concatenate(clusters),
        seat_points=best / np.maximum(best.sum(axis=1, keepdims=True), 1),
        times=np.concatenate(times),
        game_times=alike,
    )
