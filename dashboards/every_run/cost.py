"""The cost of a run: CPU hours and time per move of every agent, and the cheapest agent about as strong as the best."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from turnier.agents.registry import make_agent
from turnier.core.number_text import duration, number
from turnier.dashboards.agent_names import with_names
from turnier.dashboards.links import games_address
from turnier.dashboards.sections import Facts, Section, Text
from turnier.dashboards.tables import MAIN, Column, Table

HOUR = 3600.0
CLOSE = 20.0  # Elo within which an agent is about as strong as another
CPU, WALL, TIME = "CPU time", "wall-clock time", "time"
CLOCKS = {
    CPU: "CPU time of the agents' own decisions.",
    WALL: "Wall-clock time of the agents' own decisions: their CPU time was not measured.",
    TIME: "CPU time where it was measured, otherwise the wall-clock time of the agent's own decisions.",
}


def sections(frame: pd.DataFrame, ratings: pd.DataFrame | None, run: str) -> Iterator[Section]:
    """Yields the cost of a run's games from its `matches_frame`, with the ratings of its agents if they have some."""
    costs = agent_costs(frame)
    if costs.empty:
        return
    seconds = frame.drop_duplicates("match")["seconds"]
    clock = clock_of(frame)
    facts = {"games": f"{frame['match'].nunique():,}", f"{clock} of its agents": duration(costs["spent"].sum())}
    if len(known := seconds.dropna()):
        facts[f"{WALL} of a game"] = duration(known.mean())
    yield Facts(facts)
    rated = ratings is not None and "elo" in ratings and ratings["elo"].notna().any()
    if rated and ratings is not None:
        elo = ratings.set_index("agent")["elo"]
        costs = costs.assign(elo=costs["agent"].map(elo))
        if said := cheapest(costs):
            yield Text(said)
    long = costs["spent"].sum() > HOUR
    columns = [
        Column("name", "agent", key=True),
        *([Column("elo", "Elo", signed=True, importance=MAIN)] if rated else []),
        Column("per_move", f"{clock} per move", "µs", said=True, importance=MAIN),
        Column("hours" if long else "spent", clock, "h" if long else "s", digits=3),
        Column("share", "share", "%", 100, digits=2),
        Column("games"),
        Column("moves"),
        Column("nodes", "nodes per move", digits=3),
        Column("replay", link=True),
    ]
    costs = costs.assign(replay=[games_address(run, agent) for agent in costs["agent"]])
    yield Table("Cost by agent", costs, columns, CLOCKS[clock])


def clock_of(frame: pd.DataFrame) -> str:
    """Returns what the times of a `matches_frame` are: CPU time, wall-clock time, or time of either kind."""
    measured = frame.loc[frame["seat_seconds"].notna() | frame["seat_cpu_seconds"].notna(), "seat_cpu_seconds"].notna()
    return CPU if measured.all() else TIME if measured.any() else WALL


def agent_costs(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns a row for each agent, the most expensive first: agent, name, games, moves, nodes, hours, per_move, share.

    `hours` and `per_move` (µs) are missing if no time was measured.
    """
    if frame.empty:
        return pd.DataFrame()
    spent = frame["seat_cpu_seconds"].where(frame["seat_cpu_seconds"].notna(), frame["seat_seconds"])
    rows = frame[["agent", "label", "match", "decisions", "nodes"]].assign(
        spent=spent, timed=frame["decisions"].where(spent.notna())
    )
    by = rows.groupby(["agent", "label"], observed=True, sort=False)
    found = by.agg(
        games=("match", "nunique"), moves=("decisions", "sum"), nodes=("nodes", "sum"), spent=("spent", "sum"),
        timed=("timed", "sum"), measured=("spent", "count"),
    ).reset_index()  # fmt: skip
    measured = found["measured"] > 0
    [found] = with_names(found)
    found = found.assign(
        agent=found["agent"].astype(str),
        name=found["label"],
        hours=(found["spent"] / HOUR).where(measured),
        per_move=(1e6 * found["spent"] / found["timed"].replace(0, np.nan)).where(measured),
        nodes=found["nodes"] / found["moves"].replace(0, np.nan),
        share=found["spent"] / max(found["spent"].sum(), 1e-12),
    )
    return found.sort_values("hours", ascending=False, ignore_index=True)


def cheapest(costs: pd.DataFrame) -> str:
    """Returns a sentence on the cheapest agent about as strong as the best; empty if that is the best itself."""
    known = costs[costs["elo"].notna() & costs["per_move"].notna()]
    if len(known) < 2:
        return ""
    best = known.loc[known["elo"].idxmax()]
    close = known[known["elo"] >= best["elo"] - CLOSE]
    least = close.loc[close["per_move"].idxmin()]
    if least["agent"] == best["agent"] or least["per_move"] <= 0:
        return ""
    times = number(best["per_move"] / least["per_move"])
    return (
        f"{least['name']} takes {number(least['per_move'])} µs per move and is rated within {CLOSE:g} Elo of"
        f" {best['name']}, which takes {times} times as long."
    )


def compared(frame: pd.DataFrame, agent: str, other: str, other_name: str) -> str:
    """Returns a sentence on how long an agent thinks per move beside another one; empty if that was not measured."""
    per_move = agent_costs(frame).set_index("agent")["per_move"] if len(frame) else pd.Series(dtype=float)
    texts = [make_agent(text).full_text() for text in (agent, other)]
    if texts[0] == texts[1] or not all(per_move.get(text, 0.0) > 0 for text in texts):
        return ""
    ours, theirs = (float(per_move[text]) for text in texts)
    times = f"{number(ours / theirs, digits=2)} times as long"
    spent = f"{duration(ours / 1e6)} against {duration(theirs / 1e6)} of {clock_of(frame)}"
    return f"It thinks {times} per move as {other_name}: {spent}."
