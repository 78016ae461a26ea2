"""Judging: how often agents play the moves of a perfect judge, and how much their other moves lose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from turnier.core.number_text import estimate, number
from turnier.dashboards.agent_names import distinct, planned, with_names
from turnier.dashboards.sections import Drawing, Head, Section, Text
from turnier.dashboards.tables import MAIN, Column, Table
from turnier.results.frames import json_rows
from turnier.runs.results import RunResults
from turnier.runs.stored.judging import JudgingResults
from turnier.statistics.intervals import COUNT

BEGIN = 'turnier judge tictactoe random "mcts(iterations=100)"'
ONCE = True  # see `turnier.dashboards.sections`


def read(results: RunResults) -> JudgingResults:
    return results if isinstance(results, JudgingResults) else JudgingResults.find(results.store, results.id)


def head(results: RunResults) -> Head:
    """Returns the agent that loses least."""
    found = read(results)
    if not any(found.actions.values()) or not found.judgements:
        return Head(agents=planned(found.store.run(found.id)))
    table = found.agents()
    agents, first = tuple(distinct(table["label"]).values()), table.iloc[0]
    share, low, high = (100 * first[f"optimal{end}"] for end in ("", "_low", "_high"))
    value = estimate(share, low, high, " %")
    said = f"{agents[0]} loses least: {value} of its moves are optimal, {first['positions']:,} positions"
    return Head(said, agents=agents)


def sections(results: JudgingResults) -> Iterator[Section]:
    if not any(results.actions.values()) or not results.judgements:
        yield Text("No position has been judged yet.")
        return
    [agents] = with_names(results.agents())
    columns = [
        Column("label", "agent", key=True),
        Column("optimal", unit="%", scale=100, low="optimal_low", high="optimal_high", importance=MAIN),
        Column("kept", "optimal where it matters", "%", 100, low="kept_low", high="kept_high", importance=MAIN),
        Column("positions"),
        Column("loss", "loss of value", half_width="loss_half_width", bounds=COUNT, importance=MAIN),
        *([Column("failed")] if agents["failed"].any() else []),
    ]
    yield Table("Optimal moves", agents, columns, "95 % intervals.")
    judged, contested = len(results.judgements), int(agents["contested"].iloc[0])
    chance = [number(100 * share) for share in (results.chance, results.contested_chance)]
    matters = f", {chance[1]} % in the {contested:,} where it matters" if contested else ""
    yield Text(f"Judge: {results.judge}. Random play: {chance[0]} % optimal in {judged:,} positions{matters}.")
    yield Drawing("judging.optimal_moves", (agents,))


def to_json(results: JudgingResults) -> Any:
    chance = {"optimal": results.chance, "kept": results.contested_chance}
    return {"judge": results.judge, "random": chance, "agents": json_rows(results.agents())}
