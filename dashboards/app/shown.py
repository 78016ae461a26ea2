"""Sections on a page: tables over its width, figures side by side, and choices that are kept in its address."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import streamlit as st

from turnier.dashboards import markup
from turnier.dashboards.app import cached_store, widgets
from turnier.dashboards.figures.charts import Figure
from turnier.dashboards.links import match_address
from turnier.dashboards.sections import Among, Board, Choice, Copy, Drawing, Facts, Section, Text, failed_table
from turnier.dashboards.tables import Table
from turnier.results.store.store import Run

MAX_ROWS = 5  # of a table of failures that is not scrolled: results come after it
_SCROLLED = 215  # px
_FACTS = "display: grid; grid-template-columns: minmax(4rem, auto) 1fr; gap: 0.3rem 1.2rem; overflow-wrap: anywhere"


def show_head(runs: Sequence[Run]) -> None:
    """Shows each run's sentence with what failed beside it, and below it who failed, how often and why."""
    for run in runs:
        head, failed = cached_store.head(run)
        if shown := " ".join(filter(None, (markup.banner(head), markup.failed(failed)))):
            st.html(shown)
        if failed:
            found = cached_store.failures(run)
            table = failed_table(found)
            links = [match_address(run.id, match) for match in found.table["match"]]
            show_table(table, links, "content" if len(table.frame) <= MAX_ROWS else _SCROLLED)


def show(some: Iterable[Section]) -> None:
    """Shows sections; figures that follow each other stand side by side."""
    row: list[Figure] = []
    for section in some:
        if isinstance(section, Drawing):
            if section.drawn is not None:
                row.append(section.drawn)
            if section.wide:
                _show_row(row)
        elif not isinstance(section, Board):  # reports have these: replaying takes time
            _show_row(row)
            _show(section)
    _show_row(row)


def _show_row(row: list[Figure]) -> None:
    for first in range(0, len(row), 2):
        pair = row[first : first + 2]
        if len(pair) == 1:
            widgets.show_figure(pair[0])
        for column, figure in zip(st.columns(2, gap="large") if pair[1:] else (), pair, strict=False):
            with column:
                widgets.show_figure(figure)
    row.clear()


def _show(section: Section) -> None:
    if isinstance(section, Choice):
        names = section.names or {}
        words: dict[str, Any] = {"format_func": lambda option: names.get(option, option)}
        show(section.make(widgets.choose(section.label, section.options, section.key, **words)))
    elif isinstance(section, Among):
        chosen = widgets.choose_several(section.label, section.options, section.key, optional=section.optional)
        if chosen:
            show(section.make(chosen))
    elif isinstance(section, Table):
        if len(section.frame):
            show_table(section)
    elif isinstance(section, Copy):
        if section.meaning:
            st.caption(widgets.plain(section.meaning))
        st.code(section.text, language=None, wrap_lines=True)
    elif isinstance(section, Text):
        (st.warning if section.warning else st.markdown)(widgets.plain(section.text))
    elif isinstance(section, Facts) and section.title:
        st.markdown(f"##### {widgets.plain(section.title)}")
        st.html(markup.facts(section.rows))
    elif isinstance(section, Facts):
        widgets.show_facts(**section.rows)
    else:
        st.html(markup.written(section))


def show_table(table: Table, replays: Sequence[str] = (), height: Any = None) -> None:
    """Shows a table; `replays` are addresses for a column of their own."""
    frame = table.numbers()
    if replays:
        frame.insert(0, "replay", list(replays))
    widgets.show_table(table.title, frame, table.note, height=height or widgets.height(frame))
