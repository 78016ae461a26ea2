"""Tables of searches: parameters, finalists, and fronts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table

from turnier.agents.agent import Agent
from turnier.commands.tables import agent_table
from turnier.core.number_text import half_width_text, number, plus_minus
from turnier.core.terminal.console import Console
from turnier.search.front.points import Point, best_first, dominated
from turnier.search.space import Space, Value

if TYPE_CHECKING:  # what plays takes a second to import
    from turnier.search.verdict import StudyVerdict


def print_parameters(console: Console, space: Space, agents: Mapping[str, Agent]) -> None:
    """Prints the searched parameters that the named agents use: a baseline may have another evaluator."""
    paths = [dimension.path for dimension in space.dimensions]
    owners = {path.rpartition(".")[0] for path in paths}
    shared = owners.pop() if len(owners) == 1 else ""
    title = f"searched parameters{f' of the {shared}' * bool(shared)}; blank: not used"
    table = Table(title=title, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("parameter", no_wrap=True)
    values = [space.of_agent(agent) for agent in agents.values()]
    for label in agents:
        table.add_column(label, justify="right")
    for path in paths:
        table.add_row(path.removeprefix(f"{shared}."), *(_value(v.get(path, "")) for v in values))
    console.print(table)


def print_hints(console: Console, hints: Sequence[str]) -> None:
    for hint in hints:
        console.print(hint, soft_wrap=True, markup=False, highlight=False)


def _value(value: Value) -> str:
    """Returns a parameter's value: a switch, a choice, or a number with three significant digits."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else number(value)


def print_figures(console: Console, verdict: StudyVerdict, unit: str) -> None:
    """Prints the finalists' figures with their differences to the best reference; `unit` says what values are."""
    table = Table(title=f"{unit} in held-out games, and as claimed in the search", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("agent", no_wrap=True)
    for heading in ("games", "claimed", "held-out", "luck", f"minus {verdict.reference}"):
        table.add_column(heading, justify="right")
    for row in verdict.figures:
        claimed, luck = (
            "" if value is None else number(value, row.half_width, signed=signed)
            for value, signed in ((row.claimed, False), (row.shrinkage, True))
        )
        gain = "" if row.gain is None else plus_minus(row.gain, row.gain_half_width or math.nan, signed=True)
        games, held_out = row.units * verdict.unit_games, plus_minus(row.held_out, row.half_width)
        table.add_row(row.label, f"{games:,}", claimed, held_out, luck, gain)
    console.print(table)


def print_verdict(console: Console, verdict: StudyVerdict, play_on: str = "") -> None:
    """Prints the sentence, the recommended agent, which can be copied, and how to play on, if there is a way."""
    console.print(verdict.sentence, markup=False, highlight=False)
    for line in filter(None, (verdict.agent, play_on)):
        console.print(line, soft_wrap=True, markup=False, highlight=False)


def print_points(console: Console, points: Sequence[Point], unit: str, unit_games: int) -> None:
    """Prints the start and the front in held-out games, the best one at the second objective first.

    Args:
        points: of the start and the front.
        unit: of strength.
        unit_games: games per unit, see `Objective`.
    """
    second = points[0].objective
    title = f"{unit} and {second.name} in {points[0].sample(unit_games)} each; * not dominated"
    table = agent_table(title, unit, "± 95 %", second.title, "± 95 %", "*", numbered=True)
    beaten = dict(zip((p.label for p in points), dominated(points), strict=True))
    for point in best_first(points):
        strength = _in_two_columns(point.strength, point.strength_half_width)
        other = _in_two_columns(point.other, point.other_half_width)
        table.add_row(point.label, str(point.agent), *strength, *other, "" if beaten[point.label] else "*")
    console.print(table)


def _in_two_columns(value: float, half_width: float) -> tuple[str, str]:
    return number(value, half_width), half_width_text(half_width, value)
