"""The end of a study: finalists play held-out games, which the search has not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from turnier.agents.agent import Agent
from turnier.arena.match import MatchRecord, MatchSpec
from turnier.arena.workers.executor import Executor
from turnier.runs.play import play_into
from turnier.search.objective import Objective, Unit
from turnier.search.storage.studies import StoredStudy
from turnier.statistics.comparisons import paired_difference
from turnier.statistics.intervals import mean_interval

START, RECOMMENDED = "start", "recommended"
MIN_HELD_OUT, MAX_HELD_OUT = 20, 500  # held-out games of each finalist, by default
HELD_OUT_SHARE = 50  # games of the budget per held-out game of a finalist
BEST_CANDIDATES = 3  # finalists by their values in the search


class Finalist(NamedTuple):
    """An agent that plays held-out games, and its value in the search, if it has one."""

    agent: Agent
    claimed: float | None


@dataclass(frozen=True)
class HeldOutFigures:
    """One finalist's figures; half widths are those of 95 % intervals, NaN where there is none."""

    label: str
    agent: str
    claimed: float | None
    units: int  # held-out games, or rounds of games of one seed
    held_out: float
    half_width: float
    shrinkage: float | None  # claimed - held_out
    difference: float | None  # to the start, on the same seeds
    difference_half_width: float | None


def figures_of(
    chosen: Mapping[str, Finalist], held_out: Mapping[str, Sequence[float]], start: str
) -> list[HeldOutFigures]:
    """Returns the figures of all finalists.

    Args:
        chosen: the finalists by label.
        held_out: values of held-out games by label, all on the same seeds in the same order.
        start: the label that the others are compared with.
    """
    figures = []
    for label, values in held_out.items():
        finalist, interval = chosen[label], mean_interval(values)
        pairs = paired_difference([a - b for a, b in zip(values, held_out[start], strict=True)])
        figures.append(
            HeldOutFigures(
                label=label,
                agent=str(finalist.agent),
                claimed=finalist.claimed,
                units=len(values),
                held_out=interval.mean,
                half_width=interval.half_width,
                shrinkage=None if finalist.claimed is None else finalist.claimed - interval.mean,
                difference=None if label == start else pairs.mean,
                difference_half_width=None if label == start else (pairs.high - pairs.low) / 2,
            )
        )
    return figures


def held_out_units(requested: int, budget: int, objective: Objective) -> int:
    """Returns the held-out units of a finalist: those of the requested games, or, with 0, of what suits the budget."""
    games = requested or max(MIN_HELD_OUT, min(MAX_HELD_OUT, budget // HELD_OUT_SHARE))
    return max(2, games // objective.unit_games)


class HeldOutGames(NamedTuple):
    """Held-out units by label, in seed order, and the records of their games by match id."""

    units: dict[str, list[Unit]]
    records: dict[str, MatchRecord]


def play_held_out(
    study: StoredStudy, objective: Objective, agents: Mapping[str, Agent], units: int, executor: Executor
) -> HeldOutGames:
    """Plays the same held-out units for every agent."""
    by_label = {
        label: [objective.held_out_unit(agent.full_text(), n) for n in range(units)] for label, agent in agents.items()
    }
    specs: dict[str, MatchSpec] = {spec.id: spec for group in by_label.values() for unit in group for spec in unit}
    records: dict[str, MatchRecord] = {}
    with study.phase("held-out games", len(specs)) as bar:
        for batch in play_into(study.store, study.run_id, list(specs.values()), executor):
            records |= {record.spec.id: record for record in batch}
            bar.advance(len(batch))
    return HeldOutGames(by_label, records)


class FinalComparison(NamedTuple):
    """The results of the held-out games of all finalists, the start first."""

    figures: list[HeldOutFigures]
    values: dict[str, list[float]]  # by label, in seed order


def same_scores(finalists: Mapping[str, Finalist], values: Mapping[str, Sequence[float]]) -> str:
    """Returns a sentence where most of what the search found scores the same, game for game; else nothing."""
    found = {str(one.agent): label for label, one in reversed(finalists.items()) if one.claimed is not None}
    labels = [label for label in finalists if label in found.values()]  # one for each agent
    games = min((len(values[label]) for label in labels), default=0)
    by_scores: dict[tuple[float, ...], list[str]] = {}
    for label in labels:
        by_scores.setdefault(tuple(values[label][:games]), []).append(label)
    alike = max(by_scores.values(), key=len, default=[])
    if len(alike) < max(2, len(labels) / 2):
        return ""
    return (
        f"A plateau: {', '.join(alike[:-1])} and {alike[-1]} differ, but score the same in each of {games:,} held-out"
        " games; search narrower ranges, other parameters, or against stronger opponents."
    )
