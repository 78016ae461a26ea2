"""Rating lists: the agents of a game, the best first, with what they are rated by."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from turnier.agents.registry import label_of
from turnier.results.frames.matches import WITH_RESULT
from turnier.results.frames.meetings import Floats, Meetings
from turnier.statistics.distributions import t_probability
from turnier.statistics.intervals import mean_interval, points_intervals
from turnier.statistics.live_ratings import MAX_GAMES, live_ratings
from turnier.statistics.ratings import Ratings

RATING_COLUMNS = (
    *("game", "rank", "agent", "label", "elo", "elo_low", "elo_high", "mean", "mean_low", "mean_high", "games"),
    *("points", "points_share", "points_share_low", "points_share_high", "wins", "draws", "losses", "draw_share"),
    *("superiority", "group", "live_mu", "live_sigma"),
)
_COUNTS = ("rank", "games", "wins", "draws", "losses", "group")
_UNRATED = (math.nan, math.nan)


def as_rating_list(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """Returns the rows of all games with the columns and types of a rating list."""
    table = pd.concat(
        [part.reindex(columns=list(RATING_COLUMNS)) for part in parts] or [pd.DataFrame(columns=RATING_COLUMNS)]
    )
    numbers = [name for name in RATING_COLUMNS if name not in ("game", "agent", "label")]
    types = {name: "Int64" if name in _COUNTS else "float64" for name in numbers}
    return table.reset_index(drop=True).astype(types)


def rated_by_games(game: str, part: pd.DataFrame, met: Meetings, ratings: Ratings, min_games: int) -> pd.DataFrame:
    """Returns the rows of a game of several seats.

    Args:
        game: its text.
        part: its rows of `matches_frame`.
        met: the meetings in these.
        ratings: of the agents in `met`.
        min_games: agents with fewer are left out.
    """
    n, half = len(met.agents), ratings.half_widths()
    games = np.bincount(met.seat_agents, minlength=n)
    order = np.argsort(-ratings.elo, kind="stable")
    order = order[games[order] >= min_games]
    points = np.bincount(met.seat_agents, met.seat_points, n)
    wins, lost = (np.bincount(met.seat_agents[met.seat_points == end], minlength=n) for end in (1, 0))
    with np.errstate(invalid="ignore"):
        share = points / games
        variance = np.bincount(met.seat_agents, (met.seat_points - share[met.seat_agents]) ** 2, n) / games
        drawn = (games - wins - lost) / games
    low, high = points_intervals(share, variance, games)
    live = _live(part[part["termination"].isin(WITH_RESULT)]) if part["seats"].iloc[0] > 2 else {}
    table = pd.DataFrame(
        {
            "agent": met.agents,
            "label": [label_of(agent) for agent in met.agents],
            "elo": ratings.elo,
            "elo_low": ratings.elo - half,
            "elo_high": ratings.elo + half,
            "games": games,
            "points": points,
            "points_share": share,
            "points_share_low": low,
            "points_share_high": high,
            "wins": wins,
            "draws": games - wins - lost,
            "losses": lost,
            "draw_share": drawn,
            "group": met.groups(),
            "live_mu": [live.get(agent, _UNRATED)[0] for agent in met.agents],
            "live_sigma": [live.get(agent, _UNRATED)[1] for agent in met.agents],
        }
    ).iloc[order]
    return table.assign(game=game, rank=np.arange(1, len(order) + 1), superiority=ratings.superiority_over_next(order))


def _live(part: pd.DataFrame) -> dict[str, tuple[float, float]]:
    seats = int(part["seats"].iloc[0])
    first = np.argsort(part["match"].to_numpy()[::seats], kind="stable")[:MAX_GAMES]
    some = part.take((first[:, None] * seats + np.arange(seats)).ravel())
    agents = some["agent"].astype(object).to_numpy().reshape(-1, seats).tolist()
    scores = some["score"].to_numpy(np.float64).reshape(-1, seats).tolist()
    return {
        agent: (rating.mu, rating.sigma) for agent, rating in live_ratings(zip(agents, scores, strict=True)).items()
    }


def rated_by_scores(game: str, scores: pd.DataFrame, games: pd.DataFrame, min_games: int) -> pd.DataFrame:
    """Returns the rows of a single-player game, by mean score.

    Args:
        game: its text.
        scores: [seeds, agents] mean scores, NaN where an agent has not played a seed.
        games: its rows of `matches_frame` that have a result.
        min_games: agents with fewer are left out.
    """
    by_agent = games.assign(agent=games["agent"].astype(str)).groupby("agent")["score"]
    found = by_agent.agg(["count", "mean", "std"])
    found = found[found["count"] >= min_games].sort_values("mean", ascending=False, kind="stable")
    n, mean, deviation = (found[name].to_numpy(np.float64) for name in found)
    error, agents = deviation / np.sqrt(n), found.index.tolist()
    half = np.array([mean_interval(np.sort(by_agent.get_group(agent))).half_width for agent in agents])
    return pd.DataFrame(
        {
            "game": game,
            "rank": np.arange(1, len(agents) + 1),
            "agent": agents,
            "label": [label_of(agent) for agent in agents],
            "mean": mean,
            "mean_low": mean - half,
            "mean_high": mean + half,
            "games": found["count"].to_numpy(),
            "superiority": _mean_over_next(scores[agents].to_numpy(np.float64), mean, error, n),
        }
    )


def _mean_over_next(scores: Floats, mean: Floats, error: Floats, games: Floats) -> Floats:
    """Returns the likelihood [agents] that an agent's true mean is above the next one's.

    Two means vary together as far as their agents have played the same seeds. Student's t with the degrees of freedom
    of the agent with fewer games.
    """
    above, below = scores[:, :-1], scores[:, 1:]
    both = ~np.isnan(above + below)
    seeds = both.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        centred = [np.where(both, side, 0.0) - np.where(both, side, 0.0).sum(axis=0) / seeds for side in (above, below)]
        covariance = np.where(both, centred[0] * centred[1], 0.0).sum(axis=0) / (seeds - 1)
        together = np.where(seeds > 1, covariance * seeds / (games[:-1] * games[1:]), 0.0)
        variance = np.maximum(error[:-1] ** 2 + error[1:] ** 2 - 2 * together, 0.0)
        ahead = mean[:-1] - mean[1:]
        scaled = np.where(ahead > 0, ahead / np.sqrt(variance), 0.0)
    likely = t_probability(scaled, np.maximum(np.minimum(games[:-1], games[1:]) - 1, 1))
    return np.append(likely, [np.nan] * bool(len(mean)))
