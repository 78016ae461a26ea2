"""Training as figures: scores of the training games, evaluations and ratings of checkpoints, of one or several runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from turnier.agents.registry import label_of
from turnier.dashboards.figures import charts
from turnier.dashboards.figures.figure import Figure
from turnier.results.store.curves import CurvePoint
from turnier.runs.self_play.ratings import ZERO
from turnier.runs.stored.training import Evaluation
from turnier.statistics.intervals import CONFIDENCE, UNBOUNDED, Bounds

Seconds = Mapping[str, Mapping[int, float]]  # run -> number of games -> seconds of learning up to there
TIMES = (("hours", 3600), ("minutes", 60), ("seconds", 1))
MAX_DRAWN = 400  # points of a drawn curve; longer curves have neighbouring points merged


def curve_frame(points: Sequence[CurvePoint], bounds: Bounds = UNBOUNDED) -> pd.DataFrame:
    """Returns one row per point: games, count, mean, deviation, low and high (95 %, Student's t, within the bounds)."""
    frame = pd.DataFrame([asdict(point) for point in points], columns=["games", "count", "mean", "deviation"])
    if len(frame) > MAX_DRAWN:
        frame = _coarser(frame, -(-len(frame) // MAX_DRAWN))
    half = stats.t.ppf(0.5 + CONFIDENCE / 2, frame["count"] - 1) * frame["deviation"] / frame["count"] ** 0.5
    low, high = bounds.around(frame["mean"], half)
    return frame.assign(low=low, high=high)


def _coarser(frame: pd.DataFrame, step: int) -> pd.DataFrame:
    """Merges `step` neighbouring points into one: mean and deviation of all their games."""
    parts = frame.assign(
        block=frame.index // step,
        total=frame["count"] * frame["mean"],
        squares=(frame["count"] - 1) * frame["deviation"] ** 2 + frame["count"] * frame["mean"] ** 2,
    )
    block = parts.groupby("block").agg(
        games=("games", "last"), count=("count", "sum"), total=("total", "sum"), squares=("squares", "sum")
    )
    mean = block["total"] / block["count"]
    variance = (block["squares"] - block["count"] * mean**2).clip(lower=0) / (block["count"] - 1).clip(lower=1)
    points = block.assign(mean=mean, deviation=variance**0.5)
    return points[["games", "count", "mean", "deviation"]].reset_index(drop=True)


def _over(data: pd.DataFrame, columns: tuple[str, str, str], unit: str, seconds: Seconds | None) -> tuple[Any, Any]:
    """Returns a chart of values over the games trained, or over the time of learning if that is given; and its data.

    Runs without known times are left out.
    """
    chosen = ["replay"] if "replay" in data else []
    if seconds is None:
        return charts.lines(data, "games", *columns, "run", ("games trained", unit), chosen=chosen), data
    parts = []
    for name, part in data.groupby("run", sort=False):
        if known := sorted(seconds.get(str(name), {}).items()):
            games, spent = zip((0, 0.0), *known, strict=True)
            parts.append(part.assign(hours=np.interp(part["games"], games, spent) / 3600))
    timed = pd.concat(parts, ignore_index=True) if parts else data.head(0).assign(hours=0.0)
    most = 3600 * timed["hours"].max()
    x, size = next((unit for unit in TIMES if unit[1] <= most), TIMES[-1])
    drawn = timed.assign(**{x: 3600 * timed["hours"] / size})
    return charts.lines(drawn, x, *columns, "run", (f"{x} of learning", unit), chosen=chosen), timed


def training_curves(
    points_by_run: Mapping[str, Sequence[CurvePoint]], seconds: Seconds | None = None, bounds: Bounds = UNBOUNDED
) -> Figure | None:
    """Mean scores of the training games, by run; None if there are none. For `seconds` see `_over`."""
    parts = [curve_frame(points, bounds).assign(run=name) for name, points in points_by_run.items() if points]
    if not parts:
        return None
    data = pd.concat(parts, ignore_index=True)
    chart, data = _over(data, ("mean", "low", "high"), "mean score in training", seconds)
    return Figure(
        "Training games", chart, data, "Scores of the first seat, with exploration; 95 % intervals (Student's t)."
    )


def evaluation_curves(
    evaluations_by_run: Mapping[str, Sequence[Evaluation]],
    unit: str,
    opponents: Iterable[str] = (),
    seconds: Seconds | None = None,
    replays: Mapping[str, Mapping[int, str]] = MappingProxyType({}),
) -> Figure | None:
    """The strength during training, by run; None if nothing was evaluated.

    `opponents` are the agents in all other seats; none in games of one seat. `replays` are the addresses of evaluation
    games, by run and number of games trained.
    """
    rows = [
        asdict(evaluation) | {"run": name, "replay": replays.get(name, {}).get(evaluation.games, "")}
        for name, done in evaluations_by_run.items()
        for evaluation in done
    ]
    if not rows:
        return None
    chart, data = _over(pd.DataFrame(rows), ("value", "low", "high"), unit, seconds)
    names = " or ".join(dict.fromkeys(label_of(agent) for agent in opponents if agent))
    against = f" against {names}" if names else ""
    return Figure(
        "Evaluations during training",
        chart,
        data,
        f"What had been learned by then, tested in evaluation games{against}; 95 % intervals.",
    )


def rating_curve(checkpoints_by_run: Mapping[str, pd.DataFrame], seconds: Seconds | None = None) -> Figure:
    """The strength of the checkpoints of self-play, by run, see `rated_checkpoints`; all with the same zero of Elo."""
    data = pd.concat([frame.assign(run=name) for name, frame in checkpoints_by_run.items()], ignore_index=True)
    zero = next(iter(checkpoints_by_run.values())).attrs.get(ZERO, "")
    scale = f"beside {label_of(zero)}, which has 0 Elo" if zero else "beside each other; their mean is 0 Elo"
    chart, data = _over(data, ("elo", "elo_low", "elo_high"), "Elo", seconds)
    return Figure("Ratings of checkpoints", chart, data, f"Checkpoints {scale}; 95 % intervals.")
