"""Scores as figures: means, distributions, milestones such as tiles, and strength against time per move."""

from __future__ import annotations

import math

import pandas as pd

from turnier.dashboards.figures import charts
from turnier.dashboards.figures.charts import Figure
from turnier.dashboards.run_summary import Scores

GAMES_NOTE = "95 % intervals: Student's t for means, Wilson for shares."


def named(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns a frame with a `name` for each row: the agent's label, and its run where several runs have the agent."""
    several = frame.groupby("agent")["run"].transform("nunique") > 1 if len(frame) else pd.Series(dtype=bool)
    runs = " · " + frame["run"].astype(str).str.partition(":")[2].str[:8]
    return frame.assign(name=frame["label"].where(~several, frame["label"] + runs))


def value_of(summary: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Returns the summary with value, low and high: games won, % with several seats, otherwise mean scores."""
    if summary["win_rate"].notna().any():
        renamed = {"value": "win_rate", "low": "win_rate_low", "high": "win_rate_high"}
        return summary.assign(**{new: 100 * summary[old] for new, old in renamed.items()}), "games won, %"
    low, high = summary["mean"] - summary["half_width"], summary["mean"] + summary["half_width"]
    return summary.assign(value=summary["mean"], low=low, high=high), "mean score, points"


def mean_scores(summary: pd.DataFrame) -> Figure:
    frame, unit = value_of(named(summary))
    frame = frame.sort_values("value", ascending=False)
    data = frame[["name", "value", "low", "high", "games"]]
    title = "Games won" if unit.startswith("games") else "Mean scores"
    return Figure(title, charts.points(data, "name", "value", "low", "high", unit), data, GAMES_NOTE)


def score_distribution(scores: Scores, cumulative: bool = False) -> Figure:
    """The distribution of scores, a line for each agent: shares of games by score, or below a score."""
    spread = named(scores.spread)
    data = spread[["name", "low", "high", "games", "share", "below"]].assign(
        percent=100 * spread["share"], percent_below=100 * spread["below"]
    )
    column, what = ("percent_below", "games below, %") if cumulative else ("percent", "games, %")
    data = data.rename(columns={"low": "score", "high": "score_to"})
    # A step needs an end: the last bin extends to its upper edge.
    last = data.groupby("name", sort=False).tail(1)
    drawn = pd.concat([data, last.assign(score=last["score_to"])], ignore_index=True)
    chart = charts.steps(drawn, "score", column, "name", ("score, points", what))
    return Figure("Scores of single games", chart, data, f"{data['score'].nunique()} bins for all agents.")


def milestone_shares(summary: pd.DataFrame) -> Figure | None:
    """Shares of games that reached a milestone, such as a tile; None where there is none that an agent reached."""
    frame = named(summary)
    names = [c for c in frame if ">=" in c and not c.endswith(("_low", "_high")) and (frame[c].max() or 0) > 0]
    rows = [
        {
            "name": row["name"],
            "reached": float(column.split(">=")[1]),
            "percent": 100 * row[column],
            "low": 100 * row[f"{column}_low"],
            "high": 100 * row[f"{column}_high"],
        }
        for row in frame.to_dict("records")
        for column in names
        if not math.isnan(row[column])
    ]
    if not rows:
        return None
    fact = names[0].split(">=")[0].replace("_", " ")
    data = pd.DataFrame(rows)
    titles = (f"{fact} of at least", "games, %")
    chart = charts.lines(data, "reached", "percent", "low", "high", "name", titles, log=True)
    return Figure(f"How often the {fact} is reached", chart, data, "Shares of games with Wilson's 95 % intervals.")


def score_against_time(summary: pd.DataFrame) -> Figure | None:
    """Strength against the time per move."""
    frame, unit = value_of(named(summary))
    frame = frame.assign(ms=1000 / frame["decisions_per_second"])
    data = frame.loc[frame["ms"].notna(), ["name", "ms", "value", "low", "high", "games"]]
    if data.empty:
        return None
    titles = ("ms per move", unit)
    chart = charts.lines(data, "ms", "value", "low", "high", "name", titles, log=True, connected=False)
    title = "Games won against time" if unit.startswith("games") else "Score against time"
    return Figure(title, chart, data, f"Mean wall-clock time per move on the machine that played. {GAMES_NOTE}")


def score_table(summary: pd.DataFrame) -> pd.DataFrame:
    """Returns a summary as a table for people, with units in the headings."""
    frame, unit = value_of(named(summary))
    frame = frame.sort_values("value", ascending=False)
    shown = pd.DataFrame(
        {
            "agent": frame["name"].map(charts.shortened),
            "games": frame["games"],
            unit: frame["value"].round(2),
            "95 %": [interval(*row) for row in frame[["low", "high"]].itertuples(index=False)],
        }
    )
    if not unit.startswith("games"):
        shown["median"] = frame["median"]
        shown["median 95 %"] = [interval(*r) for r in frame[["median_low", "median_high"]].itertuples(index=False)]
        shown["best"] = frame["best"]
    else:
        shown["won"], shown["drawn"], shown["lost"] = frame["wins"], frame["draws"], frame["losses"]
    shown["ms per move"] = (1000 / frame["decisions_per_second"]).map(short)
    shown["nodes per move"] = frame["nodes_per_decision"].map(short)
    if frame["failures"].any():
        shown["failed"] = frame["failures"]
    return shown.reset_index(drop=True)


def interval(low: float, high: float, digits: int = 3) -> str:
    """Returns an interval as text, empty where it is missing."""
    if math.isnan(low) or math.isnan(high):
        return ""
    between = "–" if low >= 0 else " to "
    return f"{short(low, digits)}{between}{short(high, digits)}"


def short(value: float, digits: int = 3) -> str:
    """Returns a number for people: whole from 100 on, a few digits below."""
    if math.isnan(value):
        return ""
    if math.isinf(value):
        return "∞"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.{digits}g}"
