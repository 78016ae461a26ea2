"""A parameter search as figures: best so far, generations, importance, slices, and candidates with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from turnier.dashboards.figures import charts
from turnier.dashboards.figures.charts import Figure
from turnier.dashboards.figures.scores import interval, short
from turnier.search.final_comparison import START
from turnier.search.pareto import Point
from turnier.statistics.intervals import mean_interval

TABLE_ROWS = 25  # candidates of the table
NOTE = "95 % intervals (Student's t)."


def search_history(trials: pd.DataFrame, unit: str) -> Figure:
    """Every candidate's value, and the best so far."""
    done = trials[trials["state"] == "COMPLETE"]
    data = done[["number", "value", "low", "high"]].assign(best=done["value"].cummax())
    chart = charts.cloud(data, "number", "value", ("candidate", unit), line="best")
    note = "Dots are candidates, the line is the best so far: mostly lucky where the search is noisy."
    return Figure("Best so far", chart, data, note)


def strength_against_time(trials: pd.DataFrame, unit: str) -> Figure | None:
    """Strength against time: all candidates, and the front that none beats at both; None with one objective."""
    data = trials.loc[trials["cost"].notna() & trials["value"].notna(), ["number", "cost", "value"]]
    if data.empty:
        return None
    data = data.sort_values(["cost", "value"], ascending=[True, False], ignore_index=True)
    data = data.assign(best=data["value"].cummax())
    data = data.assign(front=(data["value"] == data["best"]) & ~data.duplicated("best"))
    chart = charts.cloud(data, "cost", "value", ("ms per decision", unit), line="best")
    return Figure("Strength against time", chart, data, "Dots are candidates, the line is the best value for the time.")


def held_out_means(scores: Mapping[str, Sequence[float]], unit: str) -> Figure:
    """What agents score in games that the search has not seen."""
    intervals = {agent: mean_interval(values) for agent, values in scores.items()}
    rows = [
        {"agent": agent, "mean": mean, "low": mean - half, "high": mean + half, "games": len(scores[agent])}
        for agent, (mean, half) in intervals.items()
    ]
    data = pd.DataFrame(rows)
    chart = charts.points(data, "agent", "mean", "low", "high", unit)
    return Figure("Held-out games", chart, data, f"Means of {data['games'].max():,} games each. {NOTE}")


def held_out_front(points: Sequence[Point], unit: str) -> Figure:
    """Strength against time of the start and the front, in games that the search has not seen."""
    rows = [
        {
            "agent": "start" if point.label == START else "front",
            "ms": point.milliseconds,
            "ms_low": point.milliseconds - point.milliseconds_half_width,
            "ms_high": point.milliseconds + point.milliseconds_half_width,
            "value": point.strength,
            "low": point.strength - point.strength_half_width,
            "high": point.strength + point.strength_half_width,
            "units": point.units,
        }
        for point in reversed(points)  # the start lies on top
    ]
    data = pd.DataFrame(rows)
    across, titles = ("ms_low", "ms_high"), ("ms per decision", unit)
    drawn = data.assign(ms_low=data["ms_low"].clip(lower=data["ms"].min() / 2))  # a logarithmic axis has no zero
    chart = charts.lines(drawn, "ms", "value", "low", "high", "agent", titles, log=True, connected=False, across=across)
    return Figure("Strength against time in held-out games", chart, data, f"The start and the front. {NOTE}")


MIN_IDLE_GAMES = 8  # of a previous recommendation: the interval of fewer would dwarf everything else


def generation_means(trials: pd.DataFrame, noted: pd.DataFrame, unit: str) -> Figure | None:
    """Each generation's mean with its interval, and that of the previous recommendation where it has played games.

    None where the search has no generations.
    """
    grouped = trials.dropna(subset=["group", "value"])
    if grouped["group"].nunique() < 2:
        return None
    rows = []
    for group, part in grouped.groupby("group"):
        mean, half = mean_interval(part["value"].tolist())
        best = float(part["value"].max())
        rows.append({"generation": int(group) + 1, "mean": mean, "low": mean - half, "high": mean + half, "best": best})
    data = pd.DataFrame(rows).assign(what="candidates")
    known = noted[noted["idle_games"] >= MIN_IDLE_GAMES]
    half = known["half_width"]
    low, high = known["recommended"] - half, known["recommended"] + half
    previous = {"generation": known["generation"] + 1, "mean": known["recommended"], "low": low, "high": high}
    data = pd.concat([data, pd.DataFrame(previous).assign(what="previous recommendation")], ignore_index=True)
    chart = charts.lines(data, "generation", "mean", "low", "high", "what", ("generation", unit))
    return Figure("Generations", chart, data, f"Means with {NOTE}")


def step_sizes(noted: pd.DataFrame) -> list[Figure]:
    """CMA-ES: sigma, and the ratio of the longest to the shortest axis, by generation."""
    figures = []
    for column, title in (("sigma", "Step size sigma"), ("axis_ratio", "Ratio of axes")):
        if not noted[column].notna().any():
            continue
        data = noted[["generation", column]].assign(generation=noted["generation"] + 1, what=title)
        data = data.assign(low=data[column], high=data[column])
        chart = charts.lines(data, "generation", column, "low", "high", "what", ("generation", title.lower()))
        figures.append(Figure(title, chart, data[["generation", column]], "After each generation."))
    return figures


def importance_bars(shares: pd.Series) -> Figure | None:
    """The share of each parameter in what makes candidates good; None with too few candidates."""
    if shares.empty:
        return None
    data = pd.DataFrame({"parameter": shares.index, "percent": 100 * shares.to_numpy()})
    chart = charts.bars(data, "parameter", "percent", "importance, %")
    return Figure(
        "Importance of parameters",
        chart,
        data,
        "PED-ANOVA: shares in what separates the best tenth of the candidates.",
    )


def parameter_slice(trials: pd.DataFrame, parameter: str, unit: str) -> Figure:
    """Every candidate's value by one of its parameters."""
    data = trials[["number", parameter, "value", "low", "high"]].dropna(subset=[parameter, "value"])
    drawn = data.rename(columns={parameter: "chosen"})
    chart = charts.cloud(drawn, "chosen", "value", (parameter, unit))
    return Figure(f"By {parameter}", chart, data, "Each dot is a candidate.")


def candidate_table(trials: pd.DataFrame, unit: str) -> pd.DataFrame:
    """Returns the candidates with the largest values, with their intervals and parameters."""
    done = trials[trials["state"] == "COMPLETE"].nlargest(TABLE_ROWS, "value")
    shown = pd.DataFrame(
        {
            "candidate": done["number"],
            unit: done["value"].map(short),
            "95 %": [interval(*row) for row in done[["low", "high"]].itertuples(index=False)],
            "games": done["games"],
        }
    )
    if done["group"].notna().any():
        shown["generation"] = done["group"] + 1
    for name in trials.attrs["parameters"]:
        shown[name] = done[name].round(4) if pd.api.types.is_float_dtype(done[name]) else done[name].astype(str)
    return shown.reset_index(drop=True)
