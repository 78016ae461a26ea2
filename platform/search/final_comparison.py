"""The honest end of a study: what was claimed in the search beside what fresh games say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from turnier.agents.agent import Agent
from turnier.arena.workers.executor import Executor
from turnier.search.study import Study
from turnier.statistics.comparisons import paired_difference
from turnier.statistics.intervals import mean_interval

START, RECOMMENDED = "start", "recommended"
BEST = 3  # candidates, those with the largest values in the search


class Finalist(NamedTuple):
    """An agent that plays the fresh games, and what the search claimed of it, where it said anything."""

    agent: Agent
    claimed: float | None


@dataclass(frozen=True)
class Row:
    """One finalist's figures; half widths are those of 95 % intervals, NaN where there is none."""

    label: str
    agent: str
    claimed: float | None
    units: int  # fresh games, or rounds of games of one seed
    fresh: float
    half_width: float
    shrinkage: float | None  # claimed - fresh
    difference: float | None  # to the start, on the same seeds
    difference_half_width: float | None


def finalists(study: Study, start: str = START, baselines: Mapping[str, Agent] | None = None) -> dict[str, Finalist]:
    """Returns the start, baselines, the recommendation and the best candidates, by label."""
    found = {start: Finalist(study.agent, None)}
    found |= {label: Finalist(agent, None) for label, agent in (baselines or {}).items()}
    found[RECOMMENDED] = Finalist(study.recommended(), study.search.estimate())
    for place, (agent, claimed) in enumerate(study.best(BEST), 1):
        found[f"best candidate {place}"] = Finalist(agent, claimed)
    return found


def rows_of(
    claimed: Mapping[str, float | None],
    fresh: Mapping[str, Sequence[float]],
    start: str = START,
    agents: Mapping[str, str] | None = None,
) -> list[Row]:
    """Returns the figures of all finalists.

    Args:
        claimed: by label.
        fresh: values of fresh games by label, all on the same seeds in the same order.
        start: whose label the others are compared with.
        agents: texts by label.
    """
    rows = []
    for label, values in fresh.items():
        mean, half = mean_interval(values)
        said = claimed[label]
        pairs = paired_difference([a - b for a, b in zip(values, fresh[start], strict=True)])
        rows.append(
            Row(
                label=label,
                agent=(agents or {}).get(label, ""),
                claimed=said,
                units=len(values),
                fresh=mean,
                half_width=half,
                shrinkage=None if said is None else said - mean,
                difference=None if label == start else pairs.mean,
                difference_half_width=None if label == start else (pairs.high - pairs.low) / 2,
            )
        )
    return rows


def play_final(
    study: Study, chosen: Mapping[str, Finalist], units: int, executor: Executor
) -> tuple[list[Row], dict[str, list[float]]]:
    """Plays the fresh games of all finalists; returns their figures and values, the start's first."""
    fresh = study.play_held_out({label: one.agent for label, one in chosen.items()}, units, executor)
    claimed = {label: one.claimed for label, one in chosen.items()}
    return rows_of(claimed, fresh, next(iter(chosen)), {label: str(one.agent) for label, one in chosen.items()}), fresh


def print_rows(console: Console, rows: Sequence[Row], unit: str) -> None:
    """Prints the table; `unit` says what the values are."""
    start = rows[0].label
    digits = 0 if max(abs(row.fresh) for row in rows) >= 100 else 3
    table = Table(title=f"{unit}: claimed in the search, and in {rows[0].units:,} fresh games each")
    for heading in ("agent", "claimed", "fresh", "± 95 %", "claimed - fresh", f"fresh - {start}", "± 95 %"):
        table.add_column(heading, justify="left" if heading == "agent" else "right")

    def shown(value: float | None, sign: str = "") -> str:
        return "" if value is None or value != value else f"{value:{sign},.{digits}f}"

    for row in rows:
        figures = (shown(row.claimed), shown(row.fresh), shown(row.half_width), shown(row.shrinkage, "+"))
        table.add_row(row.label, *figures, shown(row.difference, "+"), shown(row.difference_half_width))
    console.print(table)
