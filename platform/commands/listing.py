"""`turnier list`: all names and their parameters, read from the declarations."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich import box
from rich.table import Table

from ..core.terminal.console import Console
from .completion import REGISTRIES, proposing, registry_of

if TYPE_CHECKING:
    from ..core.parameters import Declared

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


def list_names(
    what: Annotated[
        str,
        typer.Argument(
            help="games, agents, evaluators, methods, samplers or noises; or the name of one to show in detail",
            autocompletion=proposing("listed"),
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
        for title in [what] if what else TITLES:
            _print_names(console, title)
        text = "turnier list NAME lists the parameters of one; FILE.py:CLASS names one of your own."
        console.print(text, highlight=False)
        return
    from ..core.errors import unknown
    from ..core.outside import classes

    wanted = ""
    if classes.is_outside(what):
        from ..agents.seats.standins import kind_of

        wanted = kind_of(what)
    registries = {title: registry_of(title) for title in TITLES}
    for title, registry in registries.items():
        if what in registry.places or registry.kind == wanted or what in registry.installed():
            found = _own(title)[what] if what in registry.places else _described(registry.load(what))
            break
    else:
        names = [name for registry in registries.values() for name in (*registry.places, *registry.installed())]
        raise unknown("game, agent or the like", what, [*TITLES, *names])
    _print_parameters(console, registry.kind, found)


class Described(NamedTuple):
    """A class that has a name, as it is listed."""

    text: str  # its whole description
    parameters: list[list[str]]  # name, default, range, range of a search, meaning


def _described(cls: type[Declared]) -> Described:
    from ..core.number_text import number
    from ..core.parameters import Declared, format_value, parameters_of

    rows = []
    for field, info in parameters_of(cls):
        default: Any = field.default
        is_number = isinstance(default, int | float) and not isinstance(default, bool)
        text = number(default, digits=6) if is_number else format_value(default)
        otherwise = "true | false" if isinstance(default, bool) else "file" if info.file else "text"
        ranges = f"any {default.kind}" if isinstance(default, Declared) else info.range_text() or otherwise
        limits = (text.removeprefix("from ") for text in (ranges, info.search_text()))
        rows.append([field.name, text, *limits, info.help])
    return Described(inspect.cleandoc(cls.__doc__ or ""), rows)


def _own(title: str) -> dict[str, Described]:
    """Returns our own classes of a kind by name.

    Importing the kernels of games and agents takes longer than all the rest of the command. The user's cache keeps what
    their present sources declare.
    """
    from ..core.compilation.code_digest import FLOORS, own_code
    from ..core.errors import MALFORMED
    from ..core.outputs import user_cache

    code = own_code() if REGISTRIES[title][0].split(".")[1] in FLOORS else ""
    note = user_cache() / "lists" / f"{title}.json"
    with contextlib.suppress(OSError, *MALFORMED):
        kept = json.loads(note.read_text())
        if kept["code"] == code:
            return {name: Described(*one) for name, one in kept["names"].items()}
    registry = registry_of(title)
    found = {name: _described(registry.load(name)) for name in registry.names()}
    if code:
        with contextlib.suppress(OSError):
            note.parent.mkdir(parents=True, exist_ok=True)
            part = note.with_suffix(f".{os.getpid()}")
            part.write_text(json.dumps({"code": code, "names": found}))
            part.replace(note)
    return found


def _print_parameters(console: Console, kind: str, found: Described) -> None:
    """Prints the whole description of a class, and its parameters."""
    for paragraph in found.text.split("\n\n"):
        console.print(" ".join(paragraph.splitlines()) + "\n", markup=False, highlight=False)
    searched = kind in SEARCHED
    table = _table("parameter", "default", "range", *["searched"] * searched, "meaning")
    for name, default, ranges, limits, meaning in found.parameters:
        table.add_row(name, default, ranges, *[limits] * searched, meaning)
    if table.row_count:
        _fit(table, console.width)
        console.print(table)


def _print_names(console: Console, title: str) -> None:
    """Prints a line per name, including those of installed packages: number of parameters and description."""
    from ..core.errors import UserError

    table = _table("name", "parameters", "description", title=TITLES[title])
    table.columns[1].justify = "right"
    registry, found = registry_of(title), _own(title)
    for name in sorted(registry.installed()):
        try:
            found[name] = _described(registry.load(name))
        except UserError as failure:  # a broken package must not hide the others
            found[name] = Described(str(failure), [])
    for name, one in found.items():
        table.add_row(name, str(len(one.parameters) or ""), one.text.splitlines()[0])
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
