"""Rating lists: the agents of a game, the best first, with their ratings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...agents.registry import label_of
from ...statistics.chosen_games import half_widths
from ...statistics.distributions import Floats, Ints
from ...statistics.intervals import mean_interval, shares_of_units
from ...statistics.nash import Nash
from ...statistics.ranks import beliefs, rank_intervals
from .fields import Note, RatedField, leader_note, notes_on
from .matches import counted
from .meetings import Meetings
from .terms import Terms

RATING_COLUMNS = (
    *("game", "rank", "rank_low", "rank_high", "agent", "label", "elo", "elo_low", "elo_high"),
    *("mean", "mean_low", "mean_high", "games"),
    *("points", "points_share", "points_share_low", "points_share_high", "wins", "draws", "losses", "draw_share"),
    *("superiority", "best_of_all", "nash", "nash_low", "nash_high", "nash_weight", "fit_p", "cyclic"),
    *("group", "live_mu", "live_sigma"),
)
_COUNTS = ("rank", "rank_low", "rank_high", "games", "wins", "draws", "losses", "group")
_UNRATED = (math.nan, math.nan)
CHOSEN_NOTE = Note(
    "choice",
    "Results chose these games: intervals of Elo allow for that; places, stars and probabilities are as if the games"
    " had been planned.",
)
USUAL_SHARE = 0.6  # standard deviation of true means in a usual field, as a share of one game's; like 200 Elo


def as_rating_list(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """Returns the rows of all games with the columns and types of a rating list."""
    table = pd.concat(
        [part.reindex(columns=list(RATING_COLUMNS)) for part in parts] or [pd.DataFrame(columns=RATING_COLUMNS)]
    )
    numbers = [name for name in RATING_COLUMNS if name not in ("game", "agent", "label")]
    types = {name: "Int64" if name in _COUNTS else "float64" for name in numbers}
    return table.reset_index(drop=True).astype(types)


def places_of(table: pd.DataFrame) -> list[str]:
    """Returns the possible places of each agent of a rating list, as text: 2, or 1-4."""
    ends = table[["rank_low", "rank_high"]].itertuples(index=False)
    return [str(low) if low == high else f"{low}-{high}" for low, high in ends]


def rated_by_games(
    part: pd.DataFrame, field: RatedField, min_games: int, terms: Terms
) -> tuple[pd.DataFrame, list[Note]]:
    """Returns the rows of a game of several seats, and notes on them.

    Args:
        part: its rows of `matches_frame`.
        field: its agents.
        min_games: agents with fewer are left out.
        terms: whose Elo is 0, and whether results chose the games.
    """
    met, n = field.met, len(field.met.agents)
    labels = [label_of(agent) for agent in met.agents]
    anchored = terms.anchor in met.agents
    ratings = field.ratings.anchored(met.agents.index(terms.anchor)) if anchored else field.ratings
    half = np.where(np.diag(ratings.covariance) > 0, half_widths(ratings, terms.format), 0.0)  # none of the anchor
    points = _points(met)
    games = points["games"]
    order = field.order()
    order = order[games[order] >= min_games]
    ranks, chances = field.ranks, field.beliefs
    live = _live(part[counted(part)]) if part["seats"].iloc[0] > 2 else {}
    nash = field.nash or Nash(*np.full((4, n), np.nan))
    table = pd.DataFrame(
        {
            "rank_low": ranks.low,
            "rank_high": ranks.high,
            "agent": met.agents,
            "label": labels,
            "elo": ratings.elo,
            "elo_low": ratings.elo - half,
            "elo_high": ratings.elo + half,
            **points,
            "best_of_all": chances.best,
            "nash": nash.share,
            "nash_low": nash.low,
            "nash_high": nash.high,
            "nash_weight": nash.weights,
            "fit_p": field.fit.p,
            "cyclic": field.fit.cyclic,
            "group": met.groups(),
            "live_mu": [live.get(agent, _UNRATED)[0] for agent in met.agents],
            "live_sigma": [live.get(agent, _UNRATED)[1] for agent in met.agents],
        }
    ).iloc[order]
    next_ones = np.append(chances.better[order[:-1], order[1:]], [np.nan] * bool(len(order)))
    notes = notes_on(field, labels)
    notes += [leader_note(labels, chances.best, ranks, order)] if len(order) > 1 else []
    notes += [CHOSEN_NOTE] if terms.format else []
    return table.assign(rank=np.arange(1, len(order) + 1), superiority=next_ones), notes


def _points(met: Meetings) -> dict[str, Floats | Ints]:
    """Returns the columns of agents' points, wins, draws and losses."""
    n, seats = len(met.agents), met.games.seats
    agent, points = seats.ravel(), met.seat_points.ravel()
    times = np.repeat(met.game_times, seats.shape[1])
    games, wins, lost = (
        np.bincount(agent, times * kept, n).astype(np.int64) for kept in (np.ones(1), points == 1, points == 0)
    )
    share = shares_of_units(points, np.repeat(met.games.clusters, seats.shape[1]), agent, n, times)
    return {
        "games": games,
        "points": np.asarray(np.bincount(agent, times * points, n), np.float64),
        "points_share": share.value,
        "points_share_low": share.low,
        "points_share_high": share.high,
        "wins": wins,
        "draws": games - wins - lost,
        "losses": lost,
        "draw_share": (games - wins - lost) / np.maximum(games, 1),
    }


def _live(part: pd.DataFrame) -> dict[str, tuple[float, float]]:
    seats = int(part["seats"].iloc[0])
    first = np.argsort(part["match"].to_numpy()[::seats], kind="stable")[:MAX_GAMES]
    some = part.take((first[:, None] * seats + np.arange(seats)).ravel())
    agents = some["agent"].astype(object).to_numpy().reshape(-1, seats).tolist()
    scores = some["score"].to_numpy(np.float64).reshape(-1, seats).tolist()
    return {
        agent: (rating.mu, rating.sigma) for agent, rating in live_ratings(zip(agents, scores, strict=True)).items()
    }


def rated_by_scores(
    scores: pd.DataFrame, games: pd.DataFrame, min_games: int
) -> tuple[pd.DataFrame, list[Note], pd.DataFrame]:
    """Returns the rows of a single-player game by mean score, notes on them, and probabilities.

    Args:
        scores: [seeds, agents] mean scores, NaN if an agent has not played a seed.
        games: agent and score of its rows of `matches_frame` that count.
        min_games: agents with fewer are left out.

    The probabilities, [agents, agents] of all agents, are those that the row's agent has the higher mean.
    """
    ordered = games[["agent", "score"]].sort_values("score")  # not in the order of playing
    by_agent = ordered.groupby("agent", observed=True)["score"]
    found = by_agent.agg(["count", "mean", "std"])
    found = found.set_axis(found.index.astype(str)).sort_index().sort_values("mean", ascending=False, kind="stable")
    everyone, count = found.index.tolist(), found["count"].to_numpy(np.float64)
    covariance = _covariance(scores[everyone].to_numpy(np.float64), found)
    usual = USUAL_SHARE * float(np.sqrt(np.nanmean(found["std"].to_numpy(np.float64) ** 2)))
    estimates = found["mean"].to_numpy(np.float64), covariance, np.maximum(count - 1, 1)
    known = bool(usual > 0)
    chances = beliefs(*estimates, usual) if known else None
    better = np.full((len(found), len(found)), np.nan) if chances is None else chances.better
    listed = np.flatnonzero(count >= min_games)
    labels = [label_of(agent) for agent in everyone]
    ranks = rank_intervals(*estimates)
    half = np.array([mean_interval(by_agent.get_group(agent).to_numpy()).half_width for agent in everyone])
    table = pd.DataFrame(
        {
            "rank_low": ranks.low,
            "rank_high": ranks.high,
            "agent": everyone,
            "label": labels,
            "mean": estimates[0],
            "mean_low": estimates[0] - half,
            "mean_high": estimates[0] + half,
            "games": found["count"].to_numpy(),
            "best_of_all": np.nan if chances is None else chances.best,
            "superiority": np.append(np.diagonal(better, 1), np.nan),
        }
    ).iloc[listed]
    notes = [leader_note(labels, chances.best, ranks, listed)] if chances and len(listed) > 1 else []
    better_of = pd.DataFrame(better, index=everyone, columns=everyone)
    return table.assign(rank=np.arange(1, len(listed) + 1)), notes, better_of


def _covariance(scores: Floats, found: pd.DataFrame) -> Floats:
    """Returns the covariance [agents, agents] of mean scores: they covary by common seeds."""
    known = ~np.isnan(scores)
    values, both = np.where(known, scores - np.nanmean(scores, axis=0), 0.0), known.T.astype(np.float64) @ known
    sums = values.T @ known  # [agents, agents] of the row's scores on the seeds of both
    games = found["count"].to_numpy(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        together = (values.T @ values - sums * sums.T / both) / (both - 1) * both / np.outer(games, games)
    covariance = np.where(both > 1, together, 0.0)
    np.fill_diagonal(covariance, np.nan_to_num(found["std"].to_numpy(np.float64) ** 2) / games)
    return covariance


MAX_GAMES = 5000  # maximum number of rated games
MU, SIGMA = 25.0, 25.0 / 3.0
BETA = SIGMA / 2  # deviation of the play in one game from the strength
TAU = SIGMA / 100  # deviation of a change of strength between two games
LEAST = 0.0001  # minimum share of a variance that a game leaves


class LiveRating(NamedTuple):
    mu: float  # MU before the first game
    sigma: float  # SIGMA before the first game

    @property
    def ordinal(self) -> float:
        """The strength for ranking, which the agent almost surely exceeds: mu - 3 sigma."""
        return self.mu - 3 * self.sigma


def live_ratings(games: Iterable[tuple[Sequence[str], Sequence[float]]]) -> dict[str, LiveRating]:
    """Rates agents by the whole orders of games; Bradley and Terry's model uses pairs of seats.

    Source: R. C. Weng and C.-J. Lin, A Bayesian approximation method for online ranking, JMLR 12, 2011, algorithm 4,
    with the constants of openskill, whose ratings these are.

    Args:
        games: agents by seat and scores by seat, at most MAX_GAMES. Their order matters: ordered by match id, which is
            a hash, ratings depend neither on workers nor on time, and the first games are a fair sample. An agent with
            several seats in a game takes part with the first one.
    """
    known: dict[str, LiveRating] = {}
    for agents, scores in games:
        seats = [agents.index(agent) for agent in dict.fromkeys(agents)]
        if len(seats) < 2:
            continue
        before = [known.setdefault(agents[seat], LiveRating(MU, SIGMA)) for seat in seats]
        after = _after(before, [scores[seat] for seat in seats])
        known |= {agents[seat]: rating for seat, rating in zip(seats, after, strict=True)}
    return known


def _after(before: list[LiveRating], scores: list[float]) -> list[LiveRating]:
    """Returns the ratings of a game's participants after it."""
    variances = [rating.sigma**2 + TAU**2 for rating in before]
    c = math.sqrt(sum(variances) + len(before) * BETA**2)
    weights = [math.exp(rating.mu / c) for rating in before]
    # For each place: the weights of all that did not do better, and the number of agents sharing it.
    behind = [sum(w for w, other in zip(weights, scores, strict=True) if other <= score) for score in scores]
    shared = [scores.count(score) for score in scores]
    after = []
    for rating, variance, weight, score in zip(before, variances, weights, scores, strict=True):
        chances = [(weight / b, n) for b, n, other in zip(behind, shared, scores, strict=True) if other >= score]
        omega = 1 / scores.count(score) - sum(p / n for p, n in chances)
        delta = sum(p * (1 - p) / n for p, n in chances) * math.sqrt(variance) / c
        sigma = math.sqrt(variance * max(1 - delta * variance / c**2, LEAST))
        after.append(LiveRating(rating.mu + omega * variance / c, sigma))
    return after
