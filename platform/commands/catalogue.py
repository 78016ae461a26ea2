"""`turnier games`, `agents`, `samplers` and `noises`: what there is, read from the declarations of parameters."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table

from turnier.core.terminal.console import Console

if TYPE_CHECKING:
    from turnier.core.parameters import Declared, Registry

SEARCHED = ("agent", "evaluator", "learning")  # kinds whose parameters are searched
WIDE = 100  # columns of a terminal that has room for whole ranges
FOLDED = 14


def games(name: Annotated[str, typer.Argument(help="a game to show in detail")] = "") -> None:
    """List the games, or the parameters of one.

    \b
    Examples:
      turnier games
      turnier games 2048
    """
    from turnier.games.registry import GAMES

    _print("games", "game", name, {"Games": GAMES})


def agents(
    name: Annotated[str, typer.Argument(help="an agent, evaluator or learning method to show in detail")] = "",
) -> None:
    """List the agents, evaluators and learning methods, or the parameters of one.

    \b
    Examples:
      turnier agents
      turnier agents mctse
      turnier agents td
    """
    from turnier.agents.ntuple.td import LEARNING
    from turnier.agents.registry import AGENTS, EVALUATORS

    registries: dict[str, Registry[Any]] = {
        "Agents": AGENTS,
        "Evaluators": EVALUATORS,
        "Learning methods, of turnier train": LEARNING,
    }
    _print("agents", "agent, evaluator or learning method", name, registries)


def samplers(name: Annotated[str, typer.Argument(help="a sampler to show in detail")] = "") -> None:
    """List the samplers of turnier tune, or the parameters of one.

    \b
    Examples:
      turnier samplers
      turnier samplers cmaes
    """
    from turnier.search.samplers.registry import SAMPLERS

    _print("samplers", "sampler", name, {"Samplers, of turnier tune": SAMPLERS})


def noises(name: Annotated[str, typer.Argument(help="a noise strategy to show in detail")] = "") -> None:
    """List the noise strategies of turnier tune, or the parameters of one.

    A noise strategy decides how many games each candidate plays.

    \b
    Examples:
      turnier noises
      turnier noises racing
    """
    from turnier.search.noise import NOISES

    _print("noises", "noise strategy", name, {"Noise strategies, of turnier tune": NOISES})


def _print(command: str, kind: str, name: str, registries: dict[str, Registry[Any]]) -> None:
    """Prints all names by title, or one in detail."""
    from turnier.agents.seats.standins import kind_of
    from turnier.core.errors import unknown
    from turnier.core.outside import classes

    console = Console()
    if name:
        wanted = kind_of(name) if classes.is_outside(name) else ""
        offering = (r for r in registries.values() if name in r.places or r.kind == wanted or name in r.installed())
        found = next(offering, None)
        if found is None:
            raise unknown(kind, name, [n for r in registries.values() for n in (*r.places, *r.installed())])
        _print_parameters(console, found.load(name))
        return
    for title, registry in registries.items():
        _print_names(console, registry, title)
    text = f"turnier {command} NAME lists the parameters of one; FILE.py:CLASS names one of your own."
    console.print(text, highlight=False)


def _print_parameters(console: Console, cls: type[Declared]) -> None:
    """Prints the whole description of a class, and its parameters."""
    from turnier.core.number_text import number
    from turnier.core.parameters import Declared, format_value, parameters_of

    paragraphs = inspect.cleandoc(cls.__doc__ or "").split("\n\n")
    for paragraph in paragraphs:
        console.print(" ".join(paragraph.splitlines()) + "\n", markup=False, highlight=False)
    searched = cls.kind in SEARCHED
    table = _table("parameter", "default", "range", *["searched"] * searched, "meaning")
    for field, info in parameters_of(cls):
        default: Any = field.default
        is_number = isinstance(default, int | float) and not isinstance(default, bool)
        text = number(default, digits=6) if is_number else format_value(default)
        otherwise = "true | false" if isinstance(default, bool) else "file" if info.file else "text"
        ranges = f"any {default.kind}" if isinstance(default, Declared) else info.range_text() or otherwise
        limits = [info.search_text().removeprefix("from ")] * searched
        table.add_row(field.name, text, ranges.removeprefix("from "), *limits, info.help)
    if table.row_count:
        _fit(table, console.width)
        console.print(table)


def _print_names(console: Console, registry: Registry[Any], title: str) -> None:
    """Prints one line for each name, also of installed packages: how many parameters it has, and what it is."""
    from turnier.core.errors import UserError
    from turnier.core.parameters import parameters_of

    table = _table("name", "parameters", "description", title=title)
    table.columns[1].justify = "right"
    for name in (*registry.names(), *sorted(registry.installed())):
        try:
            cls = registry.load(name)
        except UserError as failure:  # of somebody's package, which must not hide the others
            table.add_row(name, "", str(failure))
            continue
        table.add_row(name, str(len(parameters_of(cls)) or ""), inspect.cleandoc(cls.__doc__ or "").splitlines()[0])
    console.print(table)


def _table(*headings: str, title: str | None = None) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, heading in enumerate(headings):
        table.add_column(heading, no_wrap=number == 0, overflow="fold")
    return table


def _fit(table: Table, width: int) -> None:
    """Folds the columns between the first and the last, which a terminal of 80 columns has little room for."""
    if width < WIDE:
        for column in table.columns[1:-1]:
            column.max_width = FOLDED
