"""Scores as figures and a table: means, distributions, milestones such as tiles, and strength against its cost."""

from __future__ import annotations

import math

import pandas as pd

from turnier.dashboards.figures import charts
from turnier.dashboards.figures.charts import COLOURS, Figure
from turnier.dashboards.figures.ranked import MAX_NUMBERS, cost_scatter
from turnier.dashboards.figures.tables import rounded
from turnier.dashboards.run_summary import Scores
from turnier.results.frames.matches import shown_milestones

GAMES_NOTE = "95 % intervals: Student's t, wider by the skewness, for means; Wilson for shares."
POINTS = "points, %"
POINTS_NOTE = "Points: 1 for a win, 1/2 for a draw, in % of the games, with a 95 % interval."
MAX_LINES = len(COLOURS)  # agents of a chart whose lines have colours
MAX_ROWS = 50  # agents of a chart with a row for each
NODES, CPU, TIME = "nodes per move", "CPU time per move, µs", "wall clock per move, µs"
COSTS = (NODES, CPU, TIME)


def named(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns a frame with a `name` for each row: the agent's label, and its run where several runs have the agent."""
    several = frame.groupby("agent")["run"].transform("nunique") > 1 if len(frame) else pd.Series(dtype=bool)
    runs = " · " + frame["run"].astype(str).str.partition(":")[2].str[:8]
    return frame.assign(name=frame["label"].where(~several, frame["label"] + runs))


def value_of(summary: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Returns the summary with value, low and high, the best first: points, % with several seats, or mean scores."""
    if summary["points_share"].notna().any():
        ends = {"value": "points_share", "low": "points_share_low", "high": "points_share_high"}
        frame, unit = summary.assign(**{new: 100 * summary[old] for new, old in ends.items()}), POINTS
    else:
        low, high = summary["mean"] - summary["half_width"], summary["mean"] + summary["half_width"]
        frame, unit = summary.assign(value=summary["mean"], low=low, high=high), "mean score, points"
    return frame.sort_values("value", ascending=False, kind="stable", ignore_index=True), unit


def mean_scores(summary: pd.DataFrame) -> Figure:
    frame, unit = value_of(named(summary))
    data = frame[["name", "value", "low", "high", "games"]]
    places = [f"{rank}  {name}" for rank, name in enumerate(frame["name"], 1)]
    chart = charts.points(data.assign(name=places)[:MAX_ROWS], "name", "value", "low", "high", unit)
    title, note = ("Points", POINTS_NOTE) if unit == POINTS else ("Mean scores", GAMES_NOTE)
    return Figure(title, chart, data, note + _left_out(len(data), MAX_ROWS))


def best_of(summary: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Returns the best agents, as many as lines have colours, with names; and a sentence on the others."""
    frame, _ = value_of(named(summary))
    return frame[:MAX_LINES], _left_out(len(frame), MAX_LINES)


def _left_out(agents: int, shown: int) -> str:
    """Returns a sentence where a chart does not show all agents."""
    return f" The best {shown} of {agents} agents are drawn; use the filter for others." if agents > shown else ""


def score_distribution(found: Scores, cumulative: bool = False) -> Figure:
    """The distribution of scores, a line for each agent: shares of games by score, or below a score."""
    best, others = best_of(found.summary)
    spread = named(found.spread)
    spread = pd.concat([spread[spread["name"] == name] for name in best["name"]])
    data = spread[["name", "low", "high", "games", "share", "below"]].assign(
        percent=100 * spread["share"], percent_below=100 * spread["below"]
    )
    column, what = ("percent_below", "games below, %") if cumulative else ("percent", "games, %")
    data = data.rename(columns={"low": "score", "high": "score_to"})
    # A step needs an end: the last bin extends to its upper edge.
    last = data.groupby("name", sort=False).tail(1)
    drawn = pd.concat([data, last.assign(score=last["score_to"])], ignore_index=True)
    chart = charts.steps(drawn, "score", column, "name", ("score, points", what))
    return Figure(
        "Scores of single games", chart, data, f"{data['score'].nunique()} bins, shared by all agents.{others}"
    )


def milestone_shares(summary: pd.DataFrame) -> Figure | None:
    """Shares of games that reached a milestone, such as a tile; None in a game without milestones."""
    frame, others = best_of(summary)
    names = shown_milestones(frame)
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
    chart = charts.lines(data, "reached", "percent", "low", "high", "name", titles, ordinal=True)
    return Figure(
        f"How often the {fact} is reached", chart, data, f"Shares of games with Wilson's 95 % intervals.{others}"
    )


def costs_of(summary: pd.DataFrame) -> pd.DataFrame:
    """Returns the costs of a move for every row: COSTS, those in nodes first, because time depends on the machine."""
    nodes, cpu = summary["nodes_per_decision"], 1e6 * summary["cpu_seconds_per_decision"]
    rate = summary["decisions_per_second"].where(summary["decisions_per_second"] > 0)  # 0 of whoever never decided
    return pd.DataFrame({NODES: nodes, CPU: cpu, TIME: 1e6 / rate})


def score_against_cost(summary: pd.DataFrame, cost: str = NODES) -> Figure | None:
    """Strength against one of COSTS; None where no agent has that cost."""
    frame, unit = value_of(named(summary))
    frame = frame.assign(rank=range(1, len(frame) + 1), cost=costs_of(frame)[cost])
    data = frame.loc[frame["cost"] > 0, ["rank", "name", "cost", "value", "low", "high", "games"]]
    if data.empty:
        return None
    chart = cost_scatter(data, (cost, unit))
    many = len(data) > MAX_NUMBERS
    note = f"Numbers are ranks in the table{', shown for agents that no cheaper one beats' if many else ''}."
    if cost == CPU:
        note += " Mean CPU time, measured per batch of games, of agents that play in compiled code on one thread."
    if cost == TIME:
        note += " Mean wall-clock time on the machine that played; other programs may have slowed it."
    if len(data) < len(frame):
        without = ", ".join(frame.loc[~(frame["cost"] > 0), "name"][:3])
        why = "they search no nodes" if cost == NODES else "their cost was not measured"
        note += f" Not drawn because {why}: {without}{', ...' if len(frame) - len(data) > 3 else ''}."
    title = "Points against cost" if unit == POINTS else "Score against cost"
    return Figure(title, chart, data, f"{note} {POINTS_NOTE if unit == POINTS else GAMES_NOTE}")


def score_table(summary: pd.DataFrame) -> pd.DataFrame:
    """Returns a summary as a table for people by rank, with units in the headings; numbers stay numbers."""
    frame, unit = value_of(named(summary))
    half_width = (frame["high"] - frame["low"]) / 2
    shown = pd.DataFrame(
        {
            "rank": range(1, len(frame) + 1),
            "agent": frame["name"],
            unit: rounded(frame["value"], half_width),
        }
    )
    if unit == POINTS:
        shown["from, %"], shown["to, %"] = (rounded(frame[end], half_width) for end in ("low", "high"))
        shown["games"] = frame["games"]
        shown["won"], shown["drawn"], shown["lost"] = frame["wins"], frame["draws"], frame["losses"]
    else:
        shown["±"] = rounded(half_width, half_width)
        shown["games"] = frame["games"]
        shown["median"], shown["best"] = frame["median"], frame["best"]
    for heading, name in (("failed", "failures"), ("void", "void")):
        if frame[name].any():
            shown[heading] = frame[name]
    costs = costs_of(frame)
    for name in COSTS:
        if costs[name].notna().any():
            shown[name] = rounded(costs[name])
    return shown


def score_note(summary: pd.DataFrame) -> str:
    """Returns what the columns of a score table mean."""
    if summary["points_share"].isna().all():
        return "Mean scores; ± is half the 95 % interval (Student's t, wider by the skewness)."
    several = " Agents in different runs met different opponents." if summary["run"].nunique() > 1 else ""
    return POINTS_NOTE + several
