"""Certainty from repeated searches: per position, per group of positions, per agent (Kutsch 2017, 2.4 and 9.1).

Three columns say how often searches of the same position agree, all from 0 to 1:

- `certainty`: the share of the most frequent action, C;
- `normalised`: (n C - 1) / (n - 1) with n legal actions, as Kutsch reports it. The most frequent of few random actions
  is more frequent than 1 / n, so a random agent gets more than 0: `chance_level`, for the number of searches;
- `agreement`: the same norm of the share of pairs of searches that chose the same action. Its expectation is exactly 0
  for a random agent and 1 for a deterministic one, with any number of searches.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...agents.registry import label_of
from ...arena.match import NO_ACTION
from ...arena.repeated_search import SearchRecord
from ...statistics.distributions import poisson_probability
from ...statistics.intervals import mean_over_groups, points_intervals
from ..outage import outlasting
from ..store.store import Store

CERTAINTY_MEASURES = ("certainty", "normalised", "agreement")
MAX_PLACES = 12  # of `certainty_over_game`
POOLED = 10  # positions of an agent for each of them
_AGENT = ["game", "agent", "label"]
_GROUP = [*_AGENT, "legal", "phase"]
_POSITION = [*_GROUP, "position", "source"]
_SEARCH = [*_POSITION, "seed", "action", "nodes", "seconds"]


def searches_frame(records: Iterable[SearchRecord]) -> pd.DataFrame:
    """Returns one row per search.

    Columns: game, agent, label (the agent's short text form), legal (the number of legal actions), phase, position (its
    id), source (the id of the match from which it was collected, empty if unknown), seed, action, nodes, seconds.
    """
    rows = []
    for record in records:
        spec, position = record.spec, record.spec.position
        group = (position.game, spec.agent, label_of(spec.agent), len(position.legal), position.phase)
        rows.append((*group, position.id, position.source, spec.seed, record.action, record.nodes, record.seconds))
    return pd.DataFrame(rows, columns=_SEARCH)


@outlasting
def searches_of_runs(
    store: Store, run_ids: Sequence[str], sources: Mapping[str, str] = MappingProxyType({})
) -> pd.DataFrame:
    """Returns the frame of `searches_frame` for all searches of some runs, each once.

    The store lacks the matches of positions; `sources` has them by position id, see `runs.collected.collected_from`.
    """
    records = {record.spec.id: record for run_id in run_ids for record in store.searches.of_run(run_id)}
    frame = searches_frame(records.values())
    return frame.assign(source=[sources.get(position, "") for position in frame["position"]])


def position_certainty(searches: pd.DataFrame) -> pd.DataFrame:
    """Returns one row per agent and position of a frame of searches; positions searched only once are left out.

    Columns: those of the group, position, source, searches, certainty, normalised, agreement, chance_level, seconds (of
    all searches).
    """
    by_action = searches.groupby([*_POSITION, "action"], as_index=False).agg(
        count=("action", "size"), seconds=("seconds", "sum")
    )
    agreeing = by_action["count"].where(by_action["action"] != NO_ACTION, 0)  # a failure agrees with nothing
    by_action["agreeing"], by_action["pairs"] = agreeing, agreeing * (agreeing - 1)
    table = by_action.groupby(_POSITION, as_index=False).agg(
        searches=("count", "sum"), largest=("agreeing", "max"), pairs=("pairs", "sum"), seconds=("seconds", "sum")
    )
    table = table[table["searches"] > 1].reset_index(drop=True)
    repeats, legal = table["searches"], table["legal"]
    chance = [chance_level(int(n), int(r)) for n, r in zip(legal, repeats, strict=True)]
    certainty = table["largest"] / repeats
    measured = table.assign(
        certainty=certainty,
        normalised=normalised(certainty, legal),
        agreement=normalised(table["pairs"] / (repeats * (repeats - 1)), legal),
        chance_level=np.array(chance, np.float64),
    )
    return measured[[*_POSITION, "searches", *CERTAINTY_MEASURES, "chance_level", "seconds"]]


def group_certainty(positions: pd.DataFrame) -> pd.DataFrame:
    """Returns one row per game, agent, number of legal actions and phase of a frame of `position_certainty`.

    Columns: game, agent, label, legal, phase; groups (1), states, searches; certainty, normalised and agreement, the
    means over the states, each with NAME_low and NAME_high (95 %; always within the range of the measure, see
    `intervals.points_intervals`; NaN if all states come from one game); chance_level; seconds (per search).
    """
    table = _table(positions, _GROUP)
    parts = [part for _, part in positions.groupby(_GROUP)]
    for name in CERTAINTY_MEASURES:
        ends = [
            _ends(part[name].to_numpy(np.float64), _games(part), _least(name, part["legal"].max())) for part in parts
        ]
        table[f"{name}_low"], table[f"{name}_high"] = zip(*ends, strict=True) if ends else ((), ())
    return table


def _games(positions: pd.DataFrame) -> npt.NDArray[np.int64]:
    """Returns the number of each position's game; a position of unknown source counts as a game of its own."""
    games, _ = pd.factorize(positions["source"].where(positions["source"] != "", positions["position"]))
    return np.asarray(games, np.int64)


def _least(name: str, legal: int) -> float:
    """Returns the least value of a measure with at least `legal` actions: agreement may be lower than by chance.

    If neighbouring numbers were merged, there may seem to be fewer than two.
    """
    return -1 / (max(2, legal) - 1) if name == "agreement" else 0.0


def _ends(values: npt.NDArray[np.float64], games: npt.NDArray[np.int64], least: float) -> tuple[float, float]:
    """Returns the 95 % interval of the mean of values from `least` to 1, within these ends; NaN for one game.

    The games' contributions to the mean are independent; their variance counts.
    """
    number = games.max() + 1
    if number < 2:
        return math.nan, math.nan
    scaled = (values - least) / (1 - least)
    mean = scaled.mean()
    added = np.bincount(games, scaled - mean) * number / len(values)
    low, high = points_intervals(mean, (added**2).mean(), number)
    return least + (1 - least) * float(low), least + (1 - least) * float(high)


def agent_certainty(positions: pd.DataFrame) -> pd.DataFrame:
    """Returns one row per game and agent: means over the groups regardless of their sizes, as Kutsch reports them.

    Columns: as `group_certainty` without legal and phase. The 95 % intervals count games, because positions of a game
    are alike, see `intervals.mean_over_groups`; NaN if all positions come from one game.
    """
    return _table(positions, _AGENT)


def _table(positions: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    rows = [dict(zip(keys, key, strict=True)) | estimates(part) for key, part in positions.groupby(keys)]
    return pd.DataFrame(rows) if rows else pd.DataFrame(columns=[*keys, *estimates(positions)])


def estimates(positions: pd.DataFrame) -> dict[str, Any]:
    """Returns the columns of `agent_certainty` for the positions of one agent: means over their groups."""
    groups, games = positions.groupby(["legal", "phase"]).ngroup().to_numpy(), _games(positions)
    row: dict[str, Any] = {
        "groups": len(np.unique(groups)),
        "states": len(positions),
        "searches": int(positions["searches"].sum()),
    }
    for name in CERTAINTY_MEASURES:
        mean, half = mean_over_groups(positions[name].to_numpy(np.float64), groups, games)
        row |= {name: mean, f"{name}_low": mean - half, f"{name}_high": mean + half}
    row["chance_level"] = mean_over_groups(positions["chance_level"].to_numpy(np.float64), groups, games).mean
    row["seconds"] = float(positions["seconds"].sum()) / max(1, row["searches"])
    return row


class Lead(NamedTuple):
    """By how much the most certain agent is more certain than the second, in the same positions."""

    first: str  # full text forms
    second: str
    mean: float
    half_width: float  # of the 95 % interval; NaN if all positions come from one game
    positions: int
    games: int


def certainty_lead(positions: pd.DataFrame, measure: str) -> Lead | None:
    """Returns the lead of the most certain agent of a game; None if no position was searched by it and the second.

    Differences are paired by position; games are clusters, and groups count alike, as in `agent_certainty`. To test
    the first only against the second needs no correction for the choice of the first: S. Gutmann and Z. Maymin, Is the
    selected population the best?, Annals of Statistics 15, 1987.
    """
    order = agent_certainty(positions).sort_values(measure, ascending=False, kind="stable")["agent"].tolist()
    if len(order) < 2:
        return None
    own, other = (positions[positions["agent"] == agent].set_index("position") for agent in order[:2])
    common = own.index.intersection(other.index)
    if common.empty:
        return None
    own, apart = own.loc[common].reset_index(), own.loc[common, measure] - other.loc[common, measure]
    games = _games(own)
    found = mean_over_groups(apart.to_numpy(np.float64), own.groupby(["legal", "phase"]).ngroup().to_numpy(), games)
    return Lead(order[0], order[1], found.mean, found.half_width, len(common), int(games.max()) + 1)


def certainty_over_game(positions: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Returns the certainty of a game's agents over the phases of the game, a row per agent and place.

    Neighbouring phases are pooled into at most MAX_PLACES places with about the same number of positions, on average
    at least POOLED of each agent. Columns: agent, label, phase (the mean of the place's positions), value (of the
    measure, the mean of the positions), low and high (95 %, counting games, see `intervals.mean_over_groups`; NaN if
    all positions of the place come from one game), chance (the measure's expectation for random actions), states, first
    and last (phases of the place).
    """
    columns = ["agent", "label", "phase", "value", "low", "high", "chance", "states", "first", "last"]
    sizes = positions.groupby("phase").size().sort_index()
    number = min(MAX_PLACES, len(sizes), len(positions) // (POOLED * max(1, positions["agent"].nunique())))
    middle = (sizes.cumsum() - sizes / 2) / max(1, len(positions))
    place = positions["phase"].map((middle * max(1, number)).astype(int))
    phases = positions["phase"].groupby(place).agg(["mean", "min", "max"])
    rows = []
    for (agent, label, at), part in positions.groupby(["agent", "label", place.rename("place")]):
        values = part[measure].to_numpy(np.float64)
        mean, half = mean_over_groups(values, np.zeros(len(part)), _games(part))
        low, high = max(mean - half, _least(measure, part["legal"].max())), min(mean + half, 1.0)
        middle_phase, first, last = phases.loc[at]
        chance = _by_chance(part, measure).mean()
        rows.append((agent, label, middle_phase, mean, low, high, chance, len(part), int(first), int(last)))
    return pd.DataFrame(rows, columns=columns)


def _by_chance(positions: pd.DataFrame, measure: str) -> pd.Series:
    """Returns a measure's expectation for random actions at each position."""
    if measure == "agreement":
        return 0.0 * positions["chance_level"]
    if measure == "normalised":
        return positions["chance_level"]
    return (positions["chance_level"] * (positions["legal"] - 1) + 1) / positions["legal"]


def normalised(share: Any, legal: Any) -> Any:
    """Returns a share among n legal actions scaled so that 1 / n becomes 0 and 1 stays 1 (Kutsch 2017, formula 10)."""
    return (legal * share - 1) / (legal - 1)


@functools.lru_cache(maxsize=1024)
def chance_level(legal: int, searches: int) -> float:
    """Returns the expected normalised certainty of an agent that chooses all legal actions equally often."""
    # Given their sum, the counts of the actions are independent Poisson numbers, so the probability that none exceeds a
    # limit is a power, by convolution, of a truncated distribution.
    counts = np.arange(searches + 1)
    chance = poisson_probability(counts, searches / legal)
    given = poisson_probability(searches, searches)
    within = [_power(np.where(counts <= limit, chance, 0.0), legal)[searches] / given for limit in range(searches)]
    return float(normalised(sum(1.0 - p for p in within) / searches, legal))


def _power(chance: Any, times: int) -> Any:
    """Returns the distribution of the sum of `times` independent numbers, truncated to the length of `chance`."""
    result, square = None, chance
    while True:
        if times & 1:
            result = square if result is None else np.convolve(result, square)[: len(chance)]
        times >>= 1
        if not times:
            return result
        square = np.convolve(square, square)[: len(chance)]
