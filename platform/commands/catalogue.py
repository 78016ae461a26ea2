"""`turnier games` and `turnier agents`: what there is to play with, read from the declarations of parameters."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from turnier.core.parameters import Declared, Registry


def games(name: Annotated[str, typer.Argument(help="one game in detail")] = "") -> None:
    """List the games, or the parameters of one.

    \b
    Examples:
      turnier games
      turnier games 2048
    """
    from turnier.games.registry import GAMES

    console = Console()
    if name:
        _print_parameters(console, GAMES.load(name))
    else:
        _print_declared(console, GAMES, "Games")


def agents(name: Annotated[str, typer.Argument(help="one agent or evaluator in detail")] = "") -> None:
    """List the agents and evaluators, or the parameters of one.

    \b
    Examples:
      turnier agents
      turnier agents mctse
    """
    from turnier.agents.registry import AGENTS, EVALUATORS

    console = Console()
    if not name:
        _print_declared(console, AGENTS, "Agents")
        _print_declared(console, EVALUATORS, "Evaluators")
        return
    registry: Registry[Any] = EVALUATORS if name in EVALUATORS.places else AGENTS
    _print_parameters(console, registry.load(name))


def _print_parameters(console: Console, cls: type[Declared]) -> None:
    """Prints the whole description of a game, agent or evaluator, and its parameters."""
    from turnier.core.parameters import Declared, parameters_of

    paragraphs = inspect.cleandoc(cls.__doc__ or "").split("\n\n")
    for paragraph in paragraphs:
        console.print(" ".join(paragraph.splitlines()) + "\n", markup=False, highlight=False)
    table = _table("parameter", "default", "range", "meaning")
    for field, info in parameters_of(cls):
        default = field.default
        text = f"{default:.6g}" if isinstance(default, float) else str(default)
        text = text.lower() if isinstance(default, bool) else text
        otherwise = "true | false" if isinstance(default, bool) else "text"
        ranges = f"any {default.kind}" if isinstance(default, Declared) else info.range_text() or otherwise
        table.add_row(field.name, text, ranges, info.help)
    if table.row_count:
        console.print(table)


def _print_declared(console: Console, registry: Registry[Any], title: str) -> None:
    """Prints one line for each name: what it is, and below it what can be set."""
    from turnier.core.parameters import parameters_of

    table = _table("name", "description and parameters", title=title)
    for name in registry.names():
        cls = registry.load(name)
        parameters = ", ".join(field.name for field, _ in parameters_of(cls))
        summary = (cls.__doc__ or "").strip().splitlines()[0]
        table.add_row(name, summary + (f"\n[dim]{parameters}" if parameters else ""))
    console.print(table)


def _table(*headings: str, title: str | None = None) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, heading in enumerate(headings):
        table.add_column(heading, no_wrap=number == 0)
    return table
