"""Headlines of runs' pages with what failed in red beside them, and the table of it below; every page begins so."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from turnier.dashboards import cached_store, widgets
from turnier.dashboards.figures.failures import FAILED_TITLE, failed_note, failed_table, with_failed
from turnier.dashboards.links import match_address
from turnier.dashboards.opened_store import opened, url
from turnier.results.failures import Failures, failed_matches, list_failures
from turnier.results.store.store import Run

MAX_ROWS = 5  # of a table that is not scrolled: results come after it
_SCROLLED = 215  # px


@st.cache_data(max_entries=cached_store.KEPT, show_spinner=False)
def _failures(url: str, run: str, state: tuple[int, bool]) -> Failures:
    return list_failures(opened(url), [run])


def failures(run: Run) -> Failures:
    """Returns what failed in a run."""
    return _failures(url(), run.id, cached_store.state_of(run.id))


@st.cache_data(max_entries=cached_store.KEPT, show_spinner=False)
def _matches(url: str, run: str, state: tuple[int, bool]) -> dict[str, str]:
    return failed_matches(opened(url), run)


def matches(run: Run) -> dict[str, str]:
    """Returns the latest matches of a run that failed or are void: id -> description."""
    return _matches(url(), run.id, cached_store.state_of(run.id))


def show_headline(runs: Sequence[Run], headline: str = "") -> None:
    """Shows a headline in HTML with what failed beside it, and below it who failed, how often and why."""
    found = [(run, known) for run in runs if (known := failures(run)).text]
    named = len(runs) > 1
    said = ", ".join(f"{cached_store.run_title(run)}: {known.text}" if named else known.text for run, known in found)
    if shown := with_failed(headline, said):
        st.html(shown)
    for run, known in found:
        table = failed_table(known)
        table.insert(0, "replay", [match_address(run.id, match) for match in known.table["match"]])
        title = f"{FAILED_TITLE}: {cached_store.run_title(run)}" if named else FAILED_TITLE
        height = "content" if len(table) <= MAX_ROWS else _SCROLLED
        widgets.show_table(title, table, failed_note(known), height=height)
