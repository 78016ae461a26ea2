"""Several runs side by side: their results, the settings in which they differ, and their scores or curves together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape

import pandas as pd
from starlette.datastructures import QueryParams

from turnier.core.errors import UserError
from turnier.dashboards.app.shown_store import ShownStore
from turnier.dashboards.every_run.origin import settings
from turnier.dashboards.links import HOME, run_address
from turnier.dashboards.markup import unbroken
from turnier.dashboards.pages.drawn import RESULT, Control, View
from turnier.dashboards.pages.page import Block, Page
from turnier.dashboards.pages.tables import table_html
from turnier.dashboards.run_heading import titled
from turnier.dashboards.sections import Section, kind_of, kinds_with, main_table
from turnier.dashboards.tables import Column, Table
from turnier.results.store.store import Run

PATH = "/compare"


class TooFewRuns(UserError):
    """An address that must name runs names fewer than two: it can be of no page, whatever is stored."""


def page(shown: ShownStore, query: QueryParams) -> Page:
    """Returns the page of the runs that an address names; raises UserError if they are not at least two."""
    runs = _asked(shown, query)
    live = "/api/live" if any(map(shown.is_live, runs)) else ""
    return Page("Side by side", list(_blocks(shown, query, runs)), live=live, above=(("Runs", HOME),))


def file(shown: ShownStore, query: QueryParams, name: str) -> tuple[bytes, str]:
    """Returns the file of a figure or table of the page, with its media type."""
    return View(PATH, query).content(_together(shown, query, _asked(shown, query)), name)


def _asked(shown: ShownStore, query: QueryParams) -> list[Run]:
    runs = {run.id: run for run in map(shown.run, query.getlist("run"))}
    if len(runs) < 2:
        raise TooFewRuns(f"Two or more runs stand side by side, got {len(runs)}; tick them on the page Runs.")
    return list(runs.values())


def _blocks(shown: ShownStore, query: QueryParams, runs: Sequence[Run]) -> Iterator[Block]:
    rows = "".join(
        f'<li><a href="{escape(run_address(run.id))}">{escape(titled(run))}</a> <small>{escape(run.id)}</small><br>'
        f"{unbroken(shown.head(run)[0].sentence)}</li>"
        for run in runs
    )
    yield Block("runs", f'<ul class="list">{rows}</ul>')
    yield Block("settings", table_html(differences(runs)))
    yield from View(PATH, query).blocks(_together(shown, query, runs))


def differences(runs: Sequence[Run]) -> Table:
    """Returns the settings in which runs differ, a row for each."""
    known = [settings(run.definition) for run in runs]
    names = list(dict.fromkeys(name for one in known for name in one))
    columns = {run.id: [one.get(name, "") for name in names] for run, one in zip(runs, known, strict=True)}
    frame = pd.DataFrame({"setting": names, **columns})
    frame = frame[frame.drop(columns="setting").nunique(axis=1) > 1].reset_index(drop=True)
    note = "" if len(frame) else "All of their settings are the same."
    return Table("Settings that differ", frame, [Column("setting", key=True), *map(Column, columns)], note)


def _together(shown: ShownStore, query: QueryParams, runs: Sequence[Run]) -> list[Section | Control]:
    """Returns the views of runs of one kind together, the scores of agents that are compared, or each main table."""
    kinds = {run.kind for run in runs}
    kind = kind_of(next(iter(kinds))) if len(kinds) == 1 else None
    if kind is None or not hasattr(kind, "together"):
        if not kinds <= {*kinds_with("COMPARES")}:
            return [table for run in runs if (table := _main_table(shown, run))]
        kind = kind_of("games")
    data = kind.together(*(shown.read(run, kind.read) for run in runs))
    return View(PATH, query).chosen(kind.sections(data)).get(RESULT, [])


def _main_table(shown: ShownStore, run: Run) -> Table | None:
    kind = kind_of(run.kind)
    table = main_table(kind.sections(shown.read(run, kind.read)))
    return table and replace(table, title=f"{titled(run)}: {table.title}")
