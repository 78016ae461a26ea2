"""A run in a notebook: its head, its main table and its picture, which needs the packages that draw."""

from __future__ import annotations

import contextlib
from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from turnier.core.errors import UserError
from turnier.dashboards import markup
from turnier.dashboards.sections import Drawing, failed_table, flat, head, main_table, sections
from turnier.results.failures import list_failures
from turnier.results.store.store import Store
from turnier.runs.results import RunResults

if TYPE_CHECKING:
    from turnier.dashboards.figures.figure import Figure


def html_of(results: RunResults) -> str:
    """Returns a run as HTML; without the packages that draw it has no picture."""
    parts = [f"<h4>{escape(results.id)}</h4>", markup.banner(head(results))]
    failures = list_failures(results.store, [results.id])
    if failures.text:
        parts += [f"<p>{markup.failed(failures.text)}</p>", markup.table(failed_table(failures))]
    with contextlib.suppress(UserError):
        if figure := picture_of(results):
            parts.append(figure._repr_svg_())
    if (found := main_table(sections(results))) is not None:
        parts += [f"<h5>{escape(found.title)}</h5>", markup.table(found), f"<p><small>{escape(found.note)}</small></p>"]
    return "".join(parts)


def table_of(results: RunResults) -> pd.DataFrame:
    """Returns the frame of a run's main table, indexed by the key of its rows; empty if it has no table yet."""
    if (found := main_table(sections(results))) is None:
        return pd.DataFrame()
    keys = [column.name for column in found.columns if column.key]
    return found.frame.set_index(keys) if keys else found.frame


def picture_of(results: RunResults) -> Figure | None:
    """Returns the main figure of a run; None if nothing is stored yet. Raises UserError without the packages for it."""
    drawings = (section for section in flat(sections(results)) if isinstance(section, Drawing))
    return next(filter(None, (drawing.drawn for drawing in drawings)), None)


def figure_of(store: Store, run: str) -> Figure | None:
    """Returns the main figure of the run whose id begins with a text."""
    return picture_of(RunResults.find(store, run))
