"""`turnier list`: all names and their parameters, read from the declarations."""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table

from ..core.terminal.console import Console

if TYPE_CHECKING:
    from ..core.parameters import Declared, Registry

SEARCHED = ("agent", "evaluator", "learning")  # kinds whose parameters are searched
WIDE = 100  # columns of a terminal that has room for whole ranges
FOLDED = 14
TITLES = {
    "games": "Games",
    "agents": "Agents",
    "evaluators": "Evaluators",
    "methods": "Learning methods, of turnier train",
    "samplers": "Samplers, of turnier tune",
    "noises": "Noise strategies, of turnier tune",
}
_REGISTRIES = {  # by the same words; each is imported when it is listed
    "games": ("turnier.games.registry", "GAMES"),
    "agents": ("turnier.agents.registry", "AGENTS"),
    "evaluators": ("turnier.agents.registry", "EVALUATORS"),
    "methods": ("turnier.agents.ntuple.td", "LEARNING"),
    "samplers": ("turnier.search.samplers.registry", "SAMPLERS"),
    "noises": ("turnier.search.noise", "NOISES"),
}


def list_names(
    what: Annotated[
        str,
        typer.Argument(
            help="games, agents, evaluators, methods, samplers or noises; or the name of one to show in detail",
            autocompletion=lambda incomplete: _proposals(incomplete),
        ),
    ] = "",
) -> None:
    """List games, agents and everything else that has a name, or the parameters of one.

    Methods are the ways to learn of turnier train. Samplers and noise strategies belong to turnier tune; a noise
    strategy decides how many games each candidate plays.

    \b
    Examples:
      turnier list
      turnier list games
      turnier list mctse
    """
    console = Console()
    if what in TITLES or not what:
        for name in [what] if what else TITLES:
            _print_names(console, _registry(name), TITLES[name])
        text = "turnier list NAME lists the parameters of one; FILE.py:CLASS names one of your own."
        console.print(text, highlight=False)
        return
    from ..agents.seats.standins import kind_of
    from ..core.errors import unknown
    from ..core.outside import classes

    wanted = kind_of(what) if classes.is_outside(what) else ""
    registries = [_registry(name) for name in TITLES]
    offering = (r for r in registries if what in r.places or r.kind == wanted or what in r.installed())
    found = next(offering, None)
    if found is None:
        names = [name for registry in registries for name in (*registry.places, *registry.installed())]
        raise unknown("game, agent or the like", what, [*TITLES, *names])
    _print_parameters(console, found.load(what))


def _registry(title: str) -> Registry[Any]:
    place, name = _REGISTRIES[title]
    found: Registry[Any] = getattr(importlib.import_module(place), name)
    return found


def _proposals(incomplete: str) -> list[str]:
    names = [*TITLES, *(name for title in TITLES for name in _registry(title).places)]
    return [name for name in names if name.startswith(incomplete)]


def _print_parameters(console: Console, cls: type[Declared]) -> None:
    """Prints the whole description of a class, and its parameters."""
    from ..core.number_text import number
    from ..core.parameters import Declared, format_value, parameters_of

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
    """Prints a line per name, including those of installed packages: number of parameters and description."""
    from ..core.errors import UserError
    from ..core.parameters import parameters_of

    table = _table("name", "parameters", "description", title=title)
    table.columns[1].justify = "right"
    for name in (*registry.names(), *sorted(registry.installed())):
        try:
            cls = registry.load(name)
        except UserError as failure:  # a broken package must not hide the others
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
    """Folds the middle columns, for which a terminal of 80 columns has little room."""
    if width < WIDE:
        for column in table.columns[1:-1]:
            column.max_width = FOLDED
