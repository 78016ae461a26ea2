"""Shared by the command lines of all scripts in studies/."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import typer

from turnier.commands.command_line import run_app
from turnier.core.errors import UserError, unknown


class Named(Protocol):
    """An experiment, or one whose agents are trained first."""

    @property
    def name(self) -> str: ...


P = TypeVar("P")
E = TypeVar("E", bound=Named)


def run_script(main: Callable[..., Any], description: str | None) -> None:
    """Runs a script from its command line: `main`, whose parameters are options, and the text of `--help`."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(help=description)(main)
    run_app(app)


def choose_preset(presets: Mapping[str, P], name: str) -> P:
    """Returns a preset; raises UserError for an unknown name."""
    if name not in presets:
        raise unknown("preset", name, presets)
    return presets[name]


def choose_experiments(experiments: Iterable[E], names: Sequence[str], preset: str) -> list[E]:
    """Returns the experiments with these names, which end with the preset; all of them if there are no names."""
    by_name = {experiment.name.removesuffix(f"-{preset}"): experiment for experiment in experiments}
    for name in names:
        if name not in by_name:
            raise unknown("experiment", name, by_name)
    return [experiment for name, experiment in by_name.items() if not names or name in names]


def with_table(text: str, table: str, start: str, end: str) -> str:
    """Returns a page with the table between two markers replaced; raises UserError if it lacks them."""
    before, first, rest = text.partition(start)
    _, last, after = rest.partition(end)
    if not first or not last:
        raise UserError(f"the page must have the lines {start} and {end}, between which the table is written.")
    return f"{before}{start}\n\n{table}\n\n{end}{after}"
