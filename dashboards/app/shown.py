"""Sections on a page: tables across its width, figures side by side, and choices kept in its address."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import partial
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from turnier.core.number_text import number
from turnier.dashboards import markup
from turnier.dashboards.app import cached_store, widgets
from turnier.dashboards.figures.ranked import CELL
from turnier.dashboards.links import match_address
from turnier.dashboards.run_heading import named_agents
from turnier.dashboards.sections import (
    Among,
    Board,
    Choice,
    Copy,
    Drawing,
    Facts,
    Meetings,
    Section,
    Text,
    failed_table,
)
from turnier.dashboards.tables import Table
from turnier.results.store.progress import FINISHED, LIVE
from turnier.results.store.store import Run

PAIR = {"Games of": "agent", "against": "against"}  # the two agents of the listed games: title -> key
MAX_ROWS = 5  # of a table of failures without scrolling: results follow it
FEW = 3  # maximum number of options side by side
_SCROLLED = 215  # px
_FACTS = "display: grid; grid-template-columns: minmax(4rem, auto) 1fr; gap: 0.3rem 1.2rem; overflow-wrap: anywhere"


def show_state(run: Run) -> None:
    """Shows the progress of a run that has not ended, and its agents without games."""
    progress, parts = cached_store.progress_of(run), []
    head, _ = cached_store.head(run)
    if progress and progress.state != FINISHED and progress.done is not None and progress.planned is not None:
        done = f"{progress.done:,} of {progress.planned:,} {progress.unit}"
        left = (
            "" if progress.seconds_left is None else f", at most {timedelta(seconds=round(progress.seconds_left))} left"
        )
        rate = "" if progress.rate is None else f", {number(progress.rate)} per second"
        if progress.state in LIVE:
            st.progress(min(1.0, progress.done / max(1, progress.planned)), f"Still running: {done}{rate}{left}")
        else:
            parts.append(f"Stopped: {done} done.")
    if head.unplayed:
        parts.append(f"No games yet: {named_agents(head.unplayed)}.")
    if parts:
        st.info(widgets.plain(" ".join(parts)), icon=":material/hourglass_top:")


def show_head(runs: Sequence[Run]) -> None:
    """Shows each run's sentence with its failures beside it, and below it a table of the failures."""
    for run in runs:
        head, failed = cached_store.head(run)
        if shown := " ".join(filter(None, (markup.banner(head), markup.failed(failed)))):
            st.html(shown)
        if failed:
            found = cached_store.failures(run)
            table = failed_table(found)
            links = [match_address(run.id, match) for match in found.table["match"]]
            show_table(table, links, "content" if len(table.frame) <= MAX_ROWS else _SCROLLED)


def show(some: Iterable[Section], narrow: bool = False) -> None:
    """Shows sections; successive figures stand side by side, unless the page is narrow."""
    row: list[Callable[[], None]] = []
    for section in some:
        if isinstance(section, Drawing):
            if (figure := section.drawn) is None:
                continue
            if section.cells:
                _show_row(row, narrow)
                widgets.show_figure(figure, key=CELL, on_select=_choose_cell, selection_mode=CELL)
            else:
                row.append(partial(widgets.show_figure, figure))
        elif isinstance(section, Choice) and section.beside:
            row.append(partial(_show, section, True))
        elif not isinstance(section, Board):  # only for reports: replaying takes time
            _show_row(row, narrow)
            _show(section)
    _show_row(row, narrow)


def _show_row(row: list[Callable[[], None]], narrow: bool) -> None:
    for first in range(0, len(row), 2):
        pair = row[first : first + 2]
        columns = [st.container() for _ in pair] if narrow or len(row) == 1 else st.columns(2, gap="large")
        for column, draw in zip(columns, pair, strict=False):
            with column:
                draw()
    row.clear()


def _show(section: Section, narrow: bool = False) -> None:
    if isinstance(section, Choice):
        show(section.make(_chosen(section)), narrow)
    elif isinstance(section, Among):
        chosen = widgets.choose_several(section.label, section.options, section.key, optional=section.optional)
        if chosen:
            show(section.make(chosen))
    elif isinstance(section, Meetings):
        _show_meetings(section)
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
        rows = "".join(f"<div>{escape(what)}</div><div>{escape(how)}</div>" for what, how in section.rows.items())
        st.html(f'<div style="{_FACTS}">{rows}</div>')
    elif isinstance(section, Facts):
        widgets.show_facts(**section.rows)
    else:
        st.html(markup.written(section))


def _chosen(choice: Choice) -> str:
    if len(choice.options) == 1:
        return choice.options[0]
    if len(choice.options) <= FEW and not choice.names:
        return widgets.choose_view(choice.label, choice.options, choice.key)
    names = choice.names or {}
    words: dict[str, Any] = {"format_func": lambda option: names.get(option, option)}
    return widgets.choose(choice.label, choice.options, choice.key, **words)


def _show_meetings(met: Meetings) -> None:
    """Shows the games of two agents, chosen by cell or by name."""
    with st.container(horizontal=True):
        pair = [widgets.choose_or_none(title, list(met.agents), key, "an agent") for title, key in PAIR.items()]
    chosen = [name for name in pair if name]
    if len(set(chosen)) < 2:
        st.caption("Choose a cell or two agents to see games.")
        return
    for some in [[name] for name in chosen] if met.alone else [chosen]:
        games = cached_store.latest_matches(met.run, tuple(met.agents[name] for name in some))
        frame = pd.DataFrame({"replay": [match_address(met.run, match) for match in games], "game": games.values()})
        widgets.show_table("Games of " + " and ".join(some), frame, f"The latest {len(games)}.")


def _choose_cell() -> None:
    chosen = st.session_state[CELL]["selection"].get(CELL)
    if chosen:
        for side in PAIR.values():
            st.session_state[side] = chosen[-1][side]


def show_table(table: Table, replays: Sequence[str] = (), height: Any = None) -> None:
    """Shows a table; `replays` are addresses for an additional column."""
    frame = table.numbers()
    if replays:
        frame.insert(0, "replay", list(replays))
    widgets.show_table(table.title, frame, table.note, height=height or widgets.height(frame))
