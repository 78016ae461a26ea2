"""Tables of searches: progress, parameters, finalists, and fronts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from turnier.agents.agent import Agent
from turnier.agents.registry import AGENTS
from turnier.core.number_text import number, plus_minus
from turnier.core.terminal.console import Console
from turnier.search import MIN_SHOWN
from turnier.search.front.points import Point
from turnier.search.space import Space, Value

if TYPE_CHECKING:  # what plays takes a second to import
    from turnier.search.storage.study_state import StudyState
    from turnier.search.study_run import StudyRun
    from turnier.search.verdict import StudyVerdict


def state_table(state: StudyState) -> Table:
    """Returns the progress of a study as a table."""
    table = Table(title=escape(f"study {state.study}: {state.state}"), show_header=False)
    left = "" if state.seconds_left is None else f", {timedelta(seconds=round(state.seconds_left))} left"
    if state.games is not None:
        table.add_row("games", f"{state.games:,} of {state.planned:,}{left}")
    table.add_row("generations", f"{state.generations:,}, {state.candidates:,} candidates")
    if state.best is not None:
        table.add_row("best so far (lucky)", f"{number(state.best)}   {_shown(state.best_parameters)}")
    if state.recommendation is not None:
        table.add_row("recommended", _shown(state.recommendation))
    if state.recommended_mean is not None and state.recommended_units is not None:
        shown = plus_minus(state.recommended_mean, state.recommended_half_width or math.nan)
        few = state.recommended_units < MIN_SHOWN
        table.add_row("  its idle-time games", "too few so far" if few else shown)
    if state.sigma is not None:
        table.add_row("sigma", number(state.sigma))
    return table


def _shown(values: Mapping[str, Any] | None) -> str:
    return "  ".join(
        f"{k} {number(v, digits=4)}" if isinstance(v, float) else f"{k} {v}" for k, v in (values or {}).items()
    )


def print_ranges(console: Console, agent: str, parameters: Sequence[str]) -> None:
    """Prints what a study is going to search, and the agent's own values, where it starts."""
    start = AGENTS.make(agent)
    space = Space.of(start, parameters)
    table = Table(title="searched ranges")
    table.add_column("parameter", no_wrap=True)
    for heading in ("from", "to", "scale", "start"):
        table.add_column(heading, justify="left" if heading == "scale" else "right")
    values = space.of_agent(start)
    for dimension in space.dimensions:
        searched: tuple[str, str, str] = (" | ".join(map(_value, dimension.options)), "", "choice")
        if not dimension.options or dimension.type is int:
            ends = dimension.range
            searched = _value(ends.low), _value(ends.high), "log" if ends.log else "linear"
        table.add_row(dimension.path, *searched, _value(values.get(dimension.path, "")))
    console.print(table)


def print_parameters(console: Console, study: StudyRun, agents: Mapping[str, Agent]) -> None:
    """Prints the searched parameters that the named agents use: a baseline may have another evaluator."""
    paths = [dimension.path for dimension in study.space.dimensions]
    owners = {path.rpartition(".")[0] for path in paths}
    shared = owners.pop() if len(owners) == 1 else ""
    title = f"searched parameters{f' of the {shared}' * bool(shared)}; blank: not used"
    table = Table(title=title, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("parameter", no_wrap=True)
    values = [study.space.of_agent(agent) for agent in agents.values()]
    for label in agents:
        table.add_column(label, justify="right")
    for path in paths:
        table.add_row(path.removeprefix(f"{shared}."), *(_value(v.get(path, "")) for v in values))
    console.print(table)


def _value(value: Value) -> str:
    """Returns a parameter's value: a switch, a choice, or a number with three significant digits."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else number(value)


def print_figures(console: Console, verdict: StudyVerdict, unit: str) -> None:
    """Prints the finalists' figures with their differences to the best reference; `unit` says what values are."""
    from turnier.dashboards.kinds.study import held_out_table
    from turnier.dashboards.terminal import print_table

    print_table(console, held_out_table(verdict, unit))


def print_games(console: Console, run: StudyRun) -> None:
    """Prints how many games a search has played, and what its workers did with their time."""
    idle = f", {run.idle_games:,} games of recommendations by idle workers" if run.idle_games else ""
    console.print(f"{run.games:,} games of candidates in {run.search.generation} generations{idle}.")
    if run.worked.offered:
        useful, busy = run.worked.useful_share, run.worked.busy_share
        console.print(
            f"Workers spent {useful:.0%} of their time on games of candidates; they were busy for {busy:.0%}."
        )


def print_verdict(console: Console, verdict: StudyVerdict, play_on: str = "") -> None:
    """Prints the sentence, the recommended agent, which can be copied, and how to play on, if there is a way."""
    console.print(verdict.sentence, markup=False, highlight=False)
    for line in filter(None, (verdict.agent, play_on)):
        console.print(line, soft_wrap=True, markup=False, highlight=False)


def print_points(console: Console, points: Sequence[Point], unit: str, unit_games: int) -> None:
    """Prints the start and the front in held-out games, the best one at the second objective first.

    Args:
        console: of the table.
        points: of the start and the front.
        unit: of strength.
        unit_games: games per unit, see `Objective`.
    """
    from turnier.dashboards.kinds.study import points_table
    from turnier.dashboards.terminal import print_table

    print_table(console, points_table(points, unit, unit_games))
