"""The values of studies as people read them: shares of points in per cent, as in the verdict and on all other pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from turnier.search.front.points import Point
from turnier.search.storage import trials
from turnier.search.verdict import StudyVerdict
from turnier.statistics.intervals import PERCENT, Bounds

POINTS = "points, %"
_OF_TRIALS = ["value", "low", "high"]
_OF_GENERATIONS = ["mean", "best", "recommended", "half_width"]
_OF_FINALISTS = ("claimed", "held_out", "half_width", "shrinkage")
_OF_DIFFERENCES = tuple(f"{name}{end}" for name in ("difference", "gain") for end in ("", "_low", "_high"))


def shown_unit(unit: str) -> str:
    """Returns the unit in which pages show values of a stored unit, see `trials.unit`."""
    return POINTS if unit == trials.POINTS else unit


def shown_trials(frame: pd.DataFrame, unit: str) -> pd.DataFrame:
    """Returns trials, see `trials_frame`, with values in the shown unit."""
    if unit != trials.POINTS:
        return frame
    scaled = frame.assign(**{name: 100 * frame[name] for name in _OF_TRIALS})
    scaled.attrs = frame.attrs | {"bounds": PERCENT}
    return scaled


def within_bounds(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns trials whose intervals end at the bounds of their values; games that all end alike give no interval."""
    bounds: Bounds = frame.attrs["bounds"]
    varied = frame["high"] > frame["low"]
    low, high = frame["low"].clip(lower=bounds.least), frame["high"].clip(upper=bounds.most)
    return frame.assign(low=low.where(varied), high=high.where(varied))


def shown_generations(frame: pd.DataFrame, unit: str) -> pd.DataFrame:
    """Returns notes on generations, see `generations_frame`, with values in the shown unit."""
    return frame.assign(**{name: 100 * frame[name] for name in _OF_GENERATIONS}) if unit == trials.POINTS else frame


def shown_verdict(verdict: StudyVerdict, unit: str) -> StudyVerdict:
    """Returns a verdict whose finalists have values in the shown unit; its sentence is the same."""
    if unit != trials.POINTS:
        return verdict
    names = (*_OF_FINALISTS, *_OF_DIFFERENCES)
    percent = [
        {name: 100 * value for name in names if (value := getattr(row, name)) is not None} for row in verdict.figures
    ]
    return replace(
        verdict, figures=tuple(replace(row, **new) for row, new in zip(verdict.figures, percent, strict=True))
    )


def shown_points(points: Sequence[Point], unit: str) -> list[Point]:
    """Returns the points of a front with strengths in the shown unit."""
    scale = 100 if unit == trials.POINTS else 1
    return [
        point._replace(strength=scale * point.strength, strength_half_width=scale * point.strength_half_width)
        for point in points
    ]


def shown_scores(scores: Mapping[str, Sequence[float]], unit: str) -> dict[str, list[float]]:
    """Returns the values of agents in single games in the shown unit."""
    scale = 100 if unit == trials.POINTS else 1
    return {agent: [scale * value for value in values] for agent, values in scores.items()}


def measured(unit: str, text: str, of: str = "") -> str:
    """Returns a value with its unit, and what it is of, as in a sentence: points 73.4 ± 5.3 %, mean score 21,646."""
    name, comma, _ = unit.partition(", %")
    return f"{name}{of} {text}{' %' * bool(comma)}"
