"""A parameter search as figures: best so far, generations, importance, slices, and candidates with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from turnier.core.number_text import estimate, number
from turnier.dashboards.colours import COLOURS
from turnier.dashboards.figures import charts
from turnier.dashboards.figures.figure import Figure
from turnier.dashboards.summaries.front import front_of
from turnier.search import MIN_SHOWN
from turnier.search.front.points import Point
from turnier.search.front.second_objective import TIME, SecondObjective
from turnier.search.storage.trials import MAX_EVALUATED, MIN_EVALUATED, RESAMPLES
from turnier.search.verdict import START, StudyVerdict
from turnier.statistics.intervals import UNBOUNDED, Bounds, mean_interval

MAX_RIVALS = 3  # parameters named in a sentence
TIP, BELOW = 110, 9  # the size of an arrow's tip, and px below the interval where it is drawn
RECENT = 20  # candidates in a mean if a search has no generations
STEPPING = ("cmaes", "cmaes_lr", "spsa")  # samplers with a step size
NOTE = "95 % intervals (Student's t, wider by the skewness)."


def search_history(trials: pd.DataFrame, unit: str) -> Figure:
    """Every candidate's value, and the mean of its generation, which depends less on luck than the best."""
    done = trials[trials["state"] == "COMPLETE"]
    if done["group"].notna().any():
        means, what = done.groupby("group")["value"].transform("mean"), "the mean of each generation"
    else:
        means, what = done["value"].rolling(RECENT, min_periods=1).mean(), f"the mean of the latest {RECENT}"
    data = done[["number", "value", "low", "high"]].assign(mean=means)
    chart = charts.cloud(data, "number", "value", ("candidate", unit), line="mean")
    return Figure("Candidates", chart, data, f"Dots are candidates; the line is {what}. The highest dots were lucky.")


def all_of_front(trials: pd.DataFrame, unit: str) -> Figure | None:
    """Strength against the second objective: all candidates, and the front that none beats at both; None without."""
    data = trials.loc[trials["other"].notna() & trials["value"].notna(), ["number", "other", "value"]]
    if data.empty:
        return None
    second: SecondObjective = trials.attrs["second"]
    data = data.sort_values(["other", "value"], ascending=[second.sign < 0, False], ignore_index=True)
    data = data.assign(best=data["value"].cummax(), front=data["number"].isin(front_of(trials)["number"]))
    step = "before" if second.sign > 0 else "after"  # if more is better, a value is the best up to its dot
    chart = charts.cloud(data, "other", "value", (second.title, unit), line="best", step=step, log=second is TIME)
    note = f"Dots are candidates; the line is the best value for the {second.name}."
    return Figure(f"Strength against {second.name}", chart, data, note)


def held_out_means(scores: Mapping[str, Sequence[float]], unit: str) -> Figure:
    """The scores of agents in games that the search has not seen."""
    intervals = {agent: mean_interval(values) for agent, values in scores.items()}
    rows = [
        {"agent": agent, "mean": mean, "low": mean - half, "high": mean + half, "games": len(scores[agent])}
        for agent, (mean, half) in intervals.items()
    ]
    data = pd.DataFrame(rows)
    chart = charts.points(data, "agent", "mean", "low", "high", unit)
    return Figure("Held-out games", chart, data, f"Means of {data['games'].max():,} games each. {NOTE}")


def luck_arrows(verdict: StudyVerdict, unit: str, bounds: Bounds = UNBOUNDED) -> Figure | None:
    """An arrow per finalist from the value that the search claimed to its mean in held-out games.

    Finalists without a claim, such as the start, are points; None if nothing is claimed.
    """
    rows = [
        {
            "finalist": row.label,
            "claimed": row.claimed,
            "held_out": row.held_out,
            "low": low,
            "high": high,
            "luck": row.shrinkage,
        }
        for place, row in enumerate(verdict.figures)
        for low, high in [bounds.around(row.held_out, row.half_width if place >= verdict.free else float("nan"))]
    ]
    data = pd.DataFrame(rows).astype({"claimed": float, "luck": float}).dropna(subset="held_out")
    claimed = data.dropna(subset="claimed")
    if claimed.empty:
        return None
    chart = charts.points(data, "finalist", "held_out", "low", "high", unit)
    half = (claimed["high"] - claimed["low"]) / 2
    told = {
        f"{name} ": [
            number(value, width, signed=name == "luck") for value, width in zip(claimed[name], half, strict=True)
        ]
        for name in ("claimed", "held_out", "luck")
    }
    arrows = alt.Chart(claimed.assign(finalist=claimed["finalist"].map(charts.wrapped), **told)).encode(
        y=alt.Y("finalist:N", sort=data["finalist"].map(charts.wrapped).tolist()),
        tooltip=["finalist:N", *(alt.Tooltip(f"{name}:N", title=name.strip().replace("_", "-")) for name in told)],
    )
    arrow = COLOURS[3]
    chart.layer += [
        arrows.mark_rule(strokeWidth=3, color=arrow, yOffset=BELOW).encode(x="claimed:Q", x2="held_out:Q"),
        arrows.mark_point(size=50, color=arrow, strokeWidth=2, opacity=1, yOffset=BELOW).encode(x="claimed:Q"),
        *(  # below the interval, so that the tip is seen; it ends where the mean is
            arrows.transform_filter(f"datum.luck {side} 0")
            .mark_point(filled=True, size=TIP, color=arrow, opacity=1, shape=shape, xOffset=dx, yOffset=BELOW)
            .encode(x="held_out:Q")
            for side, shape, dx in ((">", "triangle-left", 5), ("<=", "triangle-right", -5))
        ),
    ]
    note = f"From the search's claim (ring) to the mean in held-out games (tip): the length of an arrow is luck. {NOTE}"
    return Figure("Luck", chart, data, note)


def held_out_front(points: Sequence[Point], unit: str) -> Figure:
    """Strength against the second objective of the start and the front, in games that the search has not seen."""
    second = points[0].objective
    rows = [
        {
            "agent": "start" if point.label == START else "front",
            "other": point.other,
            "other_low": point.other - point.other_half_width,
            "other_high": point.other + point.other_half_width,
            "value": point.strength,
            "low": point.strength - point.strength_half_width,
            "high": point.strength + point.strength_half_width,
            "units": point.units,
        }
        for point in reversed(points)  # the start is on top
    ]
    data = pd.DataFrame(rows)
    across, titles, drawn = ("other_low", "other_high"), (second.title, unit), data
    if logarithmic := second == TIME:
        drawn = data.assign(other_low=data["other_low"].clip(lower=data["other"].min() / 2))  # its axis has no zero
    chart = charts.lines(
        drawn, "other", "value", "low", "high", "agent", titles, log=logarithmic, connected=False, across=across
    )
    title = f"Strength against {second.name} in held-out games"
    return Figure(title, chart, data, f"The start and the front. {NOTE}")


def generation_means(trials: pd.DataFrame, noted: pd.DataFrame, unit: str) -> Figure | None:
    """Each generation's mean with its interval, and that of the previous recommendation if it has played games.

    Means that are all alike, as of candidates that play each other, are left out. None if nothing is left.
    """
    grouped = trials.dropna(subset=["group", "value"])
    if grouped["group"].nunique() < 2:
        return None
    rows, bounds = [], trials.attrs["bounds"]
    for group, part in grouped.groupby("group"):
        mean, half = mean_interval(part["value"].tolist())
        low, high = bounds.around(mean, half)
        best = float(part["value"].max())
        rows.append({"generation": int(group) + 1, "mean": mean, "low": low, "high": high, "best": best})
    data = pd.DataFrame(rows).assign(what="candidates")
    data = data if _varies(data["mean"]) else data.head(0)
    known = noted[noted["idle_games"] >= MIN_SHOWN]
    low, high = bounds.around(known["recommended"], known["half_width"])
    previous = {"generation": known["generation"] + 1, "mean": known["recommended"], "low": low, "high": high}
    data = pd.concat([data, pd.DataFrame(previous).assign(what="previous recommendation")], ignore_index=True)
    if data.empty:
        return None
    chart = charts.lines(data, "generation", "mean", "low", "high", "what", ("generation", unit))
    return Figure("Generations", chart, data, f"Means with {NOTE}")


def _varies(values: pd.Series) -> bool:
    return bool(values.round(9).nunique() > 1)


def histories(studies: Mapping[str, tuple[pd.DataFrame, int]], unit: str) -> Figure:
    """The means of several studies' generations, or of tenths of their candidates, by the number of games.

    Args:
        studies: trials by name, with the number of games per unit of a candidate.
        unit: of the values, the same in all.
    """
    rows = []
    for name, (trials, unit_games) in studies.items():
        done = trials.dropna(subset=["value"])
        tenths = pd.Series(range(len(done)), done.index) * 10 // max(1, len(done))
        games = (done["games"].fillna(1) * unit_games).cumsum()
        for _, values in done["value"].groupby(done["group"] if done["group"].nunique() > 1 else tenths):
            mean, half = mean_interval(values.tolist())
            low, high = trials.attrs["bounds"].around(mean, half)
            at = int(games.loc[values.index].max())
            rows.append({"study": name, "games": at, "mean": mean, "low": low, "high": high})
    data = pd.DataFrame(rows, columns=["study", "games", "mean", "low", "high"])
    chart = charts.lines(data, "games", "mean", "low", "high", "study", ("games of candidates", unit))
    note = f"Means of each generation's candidates, or, without generations, of each tenth of them. {NOTE}"
    return Figure("Studies by games played", chart, data, note)


def step_size(noted: pd.DataFrame, sampler: str, column: str = "sigma") -> Figure | None:
    """The spread of a search after each generation (sigma), or the axis ratio of its distribution (axis_ratio).

    None if it is always the same.
    """
    if not _varies(noted[column]):
        return None
    title, note = "Spread of the candidates", "Mean standard deviation of the latest 64, as a share of the ranges."
    if sampler in STEPPING:
        title, note = "Step size sigma", "Standard deviation of the next candidates, as a share of the ranges."
    if column == "axis_ratio":
        title, note = "Axis ratio", "Longest to shortest axis of the distribution."
    data = noted[["generation", column]].assign(generation=noted["generation"] + 1, what=title)
    data = data.assign(low=data[column], high=data[column])
    chart = charts.lines(data, "generation", column, "low", "high", "what", ("generation", title.lower()))
    return Figure(title, chart, data[["generation", column]], note)


def importance_bars(shares: pd.Series, trials: pd.DataFrame, spread: pd.DataFrame) -> Figure | None:
    """The share of each parameter in making candidates good, with its spread, see `importance_spread`.

    None with too few candidates.
    """
    if shares.empty:
        return None
    ends = 100 * spread.reindex(shares.index, fill_value=0.0)
    data = (100 * shares).rename_axis("parameter").reset_index(name="percent")
    data = data.assign(
        low=np.minimum(ends["low"].to_numpy(), data["percent"]),
        high=np.maximum(ends["high"].to_numpy(), data["percent"]),
        candidates=[int(trials[name].notna().sum()) for name in shares.index],
    )
    chart = charts.bars(data, "parameter", "percent", "importance, %", ("low", "high"))
    note = (
        "PED-ANOVA, as in optuna-dashboard: shares in what sets the best tenth of the candidates apart. Lines: 95 % of"
        f" {RESAMPLES} samples of the candidates, drawn with replacement."
    )
    if len(trials) > MAX_EVALUATED:
        note += f" Computed here from {MAX_EVALUATED:,} evenly chosen candidates, there from all."
    few = data.loc[data["candidates"] < MIN_EVALUATED, "parameter"].tolist()
    if few:
        note += f" Unreliable, because fewer than {MIN_EVALUATED} candidates use them: {', '.join(few)}."
    return Figure("Importance of parameters", chart, data, note, what_matters(data))


def what_matters(shares: pd.DataFrame) -> str:
    """Returns a sentence on the parameters that matter most, and on those that are not told apart from the first.

    Args:
        shares: a row for each parameter, the most important first: parameter, percent, low and high.
    """
    first, *others = shares.to_dict("records")
    value = estimate(first["percent"], first["low"], first["high"], " %")
    rivals = [row["parameter"] for row in others if row["high"] >= first["low"]]
    if not rivals:
        return f"{first['parameter']} matters most: {value}." if others else ""
    named = ", ".join(rivals[:MAX_RIVALS]) + f" and {len(rivals) - MAX_RIVALS} others" * (len(rivals) > MAX_RIVALS)
    return (
        f"Which parameters matter is not certain: {first['parameter']} has the largest share, {value}, but these"
        f" candidates do not tell it apart from {named}."
    )


def parameter_slice(trials: pd.DataFrame, parameter: str, unit: str) -> Figure:
    """Every candidate's value by one of its parameters."""
    data = trials[["number", parameter, "value", "low", "high"]].dropna(subset=[parameter, "value"])
    drawn = data.rename(columns={parameter: "chosen"})
    chart = charts.cloud(drawn, "chosen", "value", (parameter, unit))
    return Figure(f"By {parameter}", chart, data, "Each dot is a candidate.")
