"""The results of profiles: what a game is like at every strength, and what doubling the thought is worth."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ...agents.registry import label_of
from ...arena.analysis.choices import mean_choices
from ...results.frames.fields import RatedField
from ...results.frames.matches import counted, matches_frame, seat_summary, win_share
from ...results.frames.meetings import meetings_of
from ...statistics.intervals import (
    Interval,
    Mean,
    common_share,
    mean_interval,
    shares_of_units,
    weighted_sum,
)
from ..profile import PERFECT, Profile
from ..results import RunResults

REPLAYED = 500  # games of each strength whose legal actions are counted
UNKNOWN = Interval(math.nan, math.nan, math.nan)
FIRST, OTHERS, UNDECIDED = "first", "others", "undecided"


@dataclass(frozen=True, repr=False)
class ProfileResults(RunResults):
    """What a game is like; everything is computed from the stored games."""

    @cached_property
    def profile(self) -> Profile:
        """The latest plan; raises UserError if something that it names no longer exists."""
        return Profile.of_run(self.store, self.store.run(self.id))

    @property
    def num_seats(self) -> int:
        return self.profile.game.num_seats

    @cached_property
    def perfect(self) -> dict[str, Any]:
        """The name of a judge, and the value of the start to the seat that moves first; empty without a judge."""
        stored = self.store.annotations.get(self.id, PERFECT)
        with self.store.database.decoding(f"the judgement of {self.id}"):
            return dict(json.loads(stored or "{}"))

    @cached_property
    def _texts(self) -> list[str]:
        return [agent.full_text() for agent in self.profile.agents]

    @cached_property
    def _played(self) -> pd.DataFrame:
        """The rows of seats of the games that the plan names, with the step of each seat's agent."""
        frame = matches_frame(self.store, run=self.id)
        frame = frame.sort_values(["seed", "match", "seat"])  # sums must not depend on the order of playing
        step = frame["agent"].astype(str).map({text: step for step, text in enumerate(self._texts)})
        known = step.notna().groupby(frame["match"]).transform("all") if len(frame) else step.notna()
        frame = frame[known].assign(step=step[known].astype(np.int64))
        steps = frame.groupby("match")["step"]
        return frame.assign(lowest=steps.transform("min"), highest=steps.transform("max"))

    @property
    def greatest(self) -> int | None:
        """The greatest strength with a valid game against itself; None if there is none."""
        frame = self._played
        alone = frame[(frame["lowest"] == frame["highest"]) & counted(frame)]
        return int(alone["step"].max()) if len(alone) else None

    def _alone(self, step: int) -> pd.DataFrame:
        """The games of an agent against itself."""
        frame = self._played
        return frame[(frame["lowest"] == step) & (frame["highest"] == step)]

    def _met(self, step: int) -> pd.DataFrame:
        """The games of an agent and the next one; in one-seat games, those of either."""
        frame = self._played
        if self.num_seats == 1:
            return frame[frame["step"].isin([step, step + 1])]
        return frame[(frame["lowest"] == step) & (frame["highest"] == step + 1)]

    def strengths(self) -> pd.DataFrame:
        """Returns a row per strength, the weakest first.

        Columns, those of numbers each with its 95 % interval as NAME_low and NAME_high: step (from 0), agent, label,
        thought (what it may spend per move), games, different (those that repeat no other by construction), failures;
        seat_1, seat_2, ... (points of each seat, 0 to 1) and ahead (first, others, or undecided if the interval of the
        first seat holds an equal share), drawn (share of games); in one-seat games score in their place; moves (of all
        seats), choices (mean number of legal actions of the decisions of a game).
        """
        return pd.DataFrame([self.strength(step) for step in range(len(self._texts))])

    def strength(self, step: int) -> dict[str, Any]:
        """Returns the row of `strengths` of one strength."""
        part = self._alone(step)
        valid = part[counted(part)]
        first = valid[valid["seat"] == 0]
        row: dict[str, Any] = {
            "step": step,
            "agent": self._texts[step],
            "label": label_of(self._texts[step]),
            "thought": self.profile.thoughts[step],
            "games": int(part["match"].nunique()),
            "different": len(first),
            "failures": int(part["failed"].sum()),
        }
        if self.num_seats == 1:
            row |= _ends("score", _around(mean_interval(valid["score"])))
        else:
            shares = {int(one["seat"]): one for one in seat_summary(part).to_dict("records")}
            for seat in range(self.num_seats):
                known = shares.get(seat)
                ends = [known[f"points_share{end}"] for end in ("", "_low", "_high")] if known else UNKNOWN
                row |= _ends(f"seat_{seat + 1}", Interval(*map(float, ends)))
            row["ahead"] = ahead(self._first(row), 1 / self.num_seats)
            draws = (first["result"] == "draw").to_numpy(np.float64)
            shared = shares_of_units(draws, np.arange(len(draws)))
            row |= _ends("drawn", Interval(*(float(end[0]) for end in shared)) if len(draws) else UNKNOWN)
        moves = valid.groupby("match")["decisions"].sum()
        row |= _ends("moves", _around(mean_interval(moves.to_numpy(np.float64))))
        return row | _ends("choices", _around(mean_interval(self._choices(first["match"].tolist()))))

    @staticmethod
    def _first(row: dict[str, Any]) -> Interval:
        return Interval(row["seat_1"], row["seat_1_low"], row["seat_1_high"])

    def _choices(self, matches: Sequence[str]) -> list[float]:
        """Returns the mean number of choices of each of some games."""
        records = self.store.records(sorted(matches)[:REPLAYED])
        return [value for value in map(mean_choices, records) if not math.isnan(value)]

    def doublings(self) -> pd.DataFrame:
        """Returns a row per two neighbours, the weakest first.

        Columns, those of numbers each with its 95 % interval as NAME_low and NAME_high: step, agent and label (of the
        stronger), thought (of the stronger), games, different; gain (Elo; in one-seat games, the difference of scores
        on the same seeds); points (share of the stronger's points per game; not in one-seat games); chance (share of
        the variance of results that games of the same chance have in common, see `common_share`; NaN without chance).
        """
        return pd.DataFrame([self._doubling(step) for step in range(len(self._texts) - 1)])

    def _doubling(self, step: int) -> dict[str, Any]:
        part = self._met(step)
        own = part[part["step"] == step + 1]
        row: dict[str, Any] = {
            "step": step + 1,
            "agent": self._texts[step + 1],
            "label": label_of(self._texts[step + 1]),
            "thought": self.profile.thoughts[step + 1],
            "games": int(part["match"].nunique()),
            "different": int(part.loc[counted(part), "match"].nunique()),
        }
        row |= _ends("gain", self._gain(step, step + 1))
        if self.num_seats > 1:
            share = win_share(own) if len(own) else {}
            ends = [float(share.get(f"points_share{end}", math.nan)) for end in ("", "_low", "_high")]
            row |= _ends("points", Interval(*ends))
        return row | _ends("chance", self._common([step]))

    @cached_property
    def _field(self) -> RatedField | None:
        """The agents rated by the games of neighbours; None if there is none."""
        frame = self._played
        frame = frame[frame["lowest"] < frame["highest"]]
        met = meetings_of(frame) if len(frame) else None
        return RatedField.of(met) if met is not None and len(met.first) else None

    def _gain(self, low: int, high: int) -> Interval:
        """Returns by how much a strength is above another one."""
        if self.num_seats == 1:
            return self._score_gain(low, high)
        found = self._field
        if found is None or not {self._texts[low], self._texts[high]} <= set(found.met.agents):
            return UNKNOWN
        places = [found.met.agents.index(self._texts[step]) for step in (high, low)]
        values, halves = (float(part[places[0], places[1]]) for part in found.ratings.differences())
        return Interval(values, values - halves, values + halves)

    def _score_gain(self, low: int, high: int) -> Interval:
        valid = self._played[counted(self._played)]
        scores = [valid[valid["step"] == step].groupby("seed")["score"].mean() for step in (high, low)]
        return _around(mean_interval((scores[0] - scores[1]).dropna().to_numpy(np.float64)))

    def gain(self) -> Interval:
        """Returns the mean gain per doubling between the strengths with games, in Elo or points; NaN if unknown."""
        known = sorted(self._played["step"].unique().tolist()) if len(self._played) else []
        if len(known) < 2:
            return UNKNOWN
        steps = known[-1] - known[0]
        return Interval(*(end / steps for end in self._gain(known[0], known[-1])))

    def chance(self) -> Interval:
        """Returns the share of the variance of results that chance alone decides, over all neighbours.

        NaN without chance, see `Profile.has_chance`, and if results do not vary.
        """
        return self._common(range(len(self._texts) - 1))

    def _common(self, steps: Sequence[int]) -> Interval:
        if not self.profile.has_chance:
            return UNKNOWN
        frame = pd.concat([self._met(step) for step in steps]).drop_duplicates(["match", "seat"])
        frame = frame[counted(frame)]
        value = frame["score" if self.num_seats == 1 else "points"]
        lineup = frame["match"].map(frame.groupby("match")["step"].agg(tuple))
        strata, places, seeds = (
            pd.factorize(keys)[0]
            for keys in (pd.MultiIndex.from_arrays([lineup, frame["seat"]]), frame["seat"], frame["seed"])
        )
        return common_share(value.to_numpy(np.float64), strata, places, seeds)

    def trend(self) -> Interval:
        """Returns by how much the first seat's share of the points changes per doubling: the slope over all strengths.

        Of the shares and their intervals, see `weighted_sum`; NaN in one-seat games or if a strength has no games.
        """
        if self.num_seats == 1:
            return UNKNOWN
        shares = [self._first(row) for row in self.strengths().to_dict("records")]
        centred = np.arange(len(shares)) - (len(shares) - 1) / 2
        return weighted_sum((centred / (centred**2).sum()).tolist(), shares)

    def table(self) -> pd.DataFrame:
        return self.strengths().set_index("label").drop(columns="agent")


def ahead(first: Interval, equal: float) -> str:
    """Returns who is ahead if the first seat has this share of the points and an equal share is `equal`."""
    if math.isnan(first.low):
        return ""
    return FIRST if first.low > equal else OTHERS if first.high < equal else UNDECIDED


def _around(mean: Mean) -> Interval:
    return Interval(mean.mean, mean.mean - mean.half_width, mean.mean + mean.half_width)


def _ends(name: str, value: Interval) -> dict[str, float]:
    return {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
