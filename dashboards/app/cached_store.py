"""The pages' data from the store, cached between reruns by run and number of results. Nothing here writes."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

from turnier.arena.analysis.reanalysis import Reanalysis, Thought
from turnier.arena.repeated_search import SearchRecord
from turnier.core.number_text import number
from turnier.dashboards import sections
from turnier.dashboards.agent_names import short_game
from turnier.dashboards.app import board_server
from turnier.dashboards.app.opened_store import opened as _store
from turnier.dashboards.app.opened_store import option, url
from turnier.dashboards.app.optuna_server import OFFSET, serve_optuna_dashboard
from turnier.dashboards.kinds.games import read as scores
from turnier.dashboards.sections import Head
from turnier.results.failures import Failures, failed_matches, list_failures
from turnier.results.match_list import list_matches, newest_run_of
from turnier.results.store.annotations import SETTINGS
from turnier.results.store.progress import LIVE, RunProgress, progress_of_runs, stored_command
from turnier.results.store.store import Run as Run
from turnier.results.store.store import Store
from turnier.runs.results import RunResults
from turnier.search.storage import trials

SMALL = 20_000  # matches; figures of a larger running run are renewed in steps of 5 % or more
HEADS = 2000  # cached heads of runs
KEPT = 32  # cached results of each kind
_asking = threading.Lock()  # agents are asked for one page at a time
State = tuple[int, bool, int, str]
T = TypeVar("T")


def store() -> Store:
    """Returns the store, opened read-only; raises UserError if it cannot be read."""
    return _store(url())


@st.cache_data(ttl=1.5, show_spinner=False)
def _progress(url: str) -> list[RunProgress]:
    return progress_of_runs(_store(url))


def progress() -> list[RunProgress]:
    """Returns the progress of all runs, the oldest first; at most two seconds old."""
    return _progress(url())


def progress_of(run: Run) -> RunProgress | None:
    return next((known for known in progress() if known.run == run.id), None)


@st.cache_data(ttl=1.5, show_spinner=False)
def _runs(url: str) -> list[Run]:
    return _store(url).runs()


def all_runs() -> list[Run]:
    """Returns all runs, the oldest first."""
    return _runs(url())


def runs(*kinds: str) -> list[Run]:
    """Returns the runs of these kinds, or of all, with stored results, the newest first."""
    stored = {run.run for run in progress() if run.stored}
    return [run for run in reversed(_runs(url())) if (not kinds or run.kind in kinds) and run.id in stored]


def state_of(run: Run) -> State:
    """Returns the cache key of a run's views: the number of results, whether it is running, its settings.

    While a large run is playing, numbers are rounded down, so that not every batch makes pages read it again.
    """
    known = progress_of(run)
    stored, running, done = (known.stored, known.state in LIVE, known.done or 0) if known else (0, False, 0)
    if running and stored > SMALL:
        step = 10 ** (len(str(stored)) - 2) * 5
        stored, done = stored // step * step, done // step * step
    kind, settings = sections.kind_of(run.kind), store().annotations.get(run.id, SETTINGS)
    return stored, running, done, settings + (kind.mark(RunResults(store(), run.id)) if hasattr(kind, "mark") else "")


@st.cache_resource(max_entries=8 * KEPT, show_spinner="Reading ...")  # cache_data drops frame.attrs
def _read(url: str, run: str, state: State, name: str, _read: Callable[[RunResults], Any]) -> Any:
    return _read(RunResults.find(_store(url), run))


def cached(read: Callable[[RunResults], T]) -> Callable[[Run], T]:
    """Returns a cached reader of runs, which reads only after changes; do not modify its results."""
    name = f"{read.__module__}.{read.__qualname__}"
    return lambda run: _read(url(), run.id, state_of(run), name, read)


def _failures_of(results: RunResults) -> Failures:
    return list_failures(results.store, [results.id])


def _failed_matches(results: RunResults) -> dict[str, str]:
    return failed_matches(results.store, results.id)


failures = cached(_failures_of)
matches_that_failed = cached(_failed_matches)  # the latest ones: id -> description


@st.cache_data(max_entries=HEADS, show_spinner=False)
def _head(url: str, run: str, state: State) -> tuple[Head, str]:
    results = RunResults.find(_store(url), run)
    return sections.head(results), _failures_of(results).text


def head(run: Run) -> tuple[Head, str]:
    """Returns a run in a sentence, and its failures; renewed for a running one whenever its second digit changes."""
    stored, running, done, settings = state_of(run)
    if running:
        step = 10 ** max(0, len(str(stored)) - 2)
        stored, done = stored // step * step, done // step * step
    return _head(url(), run.id, (stored, running, done, settings))


def command(run: Run) -> str:
    """Returns the command line that last played a run, for this store; empty if there was none."""
    words = stored_command(store(), run.id)
    return shlex.join(words) + option() if words else ""


@st.cache_data(ttl=10, show_spinner=False)
def _runs_with_searches(url: str) -> set[str]:
    return set(_store(url).searches.counts())


def has_searches(run: str) -> bool:
    """Returns whether a run has searched positions."""
    return run in _runs_with_searches(url())


def run_title(run: Run) -> str:
    """Returns a run's name for titles: a game in its short text form, otherwise the stored name."""
    return short_game(run.name)


@st.cache_resource(show_spinner=False)
def _optuna_dashboard(url: str) -> str:
    return serve_optuna_dashboard(_store(url), int(st.get_option("server.port")) + OFFSET)


def optuna_dashboard(study: str) -> str:
    """Returns the address of a study in optuna-dashboard, on the same storage; the first call starts it."""
    return f"{_optuna_dashboard(url())}/studies/{trials.optuna_number(store(), study)}"


@st.cache_resource(show_spinner=False)
def _board(url: str) -> str:
    return board_server.serve_board(url, int(st.get_option("server.port")) + board_server.OFFSET)


def board(match: str, move: int) -> str:
    """Returns the address of a move of a match on the board; the first call starts it."""
    return f"{_board(url())}/match/{match}#move={move}"


@st.cache_data(ttl=5, max_entries=KEPT, show_spinner=False)
def _latest(url: str, run: str, agents: tuple[str, ...]) -> dict[str, str]:
    return {row.id: row.text for row in list_matches(_store(url), run, agents)}


def latest_matches(run: str, agents: tuple[str, ...] = ()) -> dict[str, str]:
    """Returns a run's latest matches, only those with all of some agents: id -> description."""
    return _latest(url(), run, agents)


def extreme_matches(run: Run, largest: bool) -> dict[str, str]:
    """Returns the matches with a run's largest or smallest scores: id -> description."""
    frame = cached(scores)(run).extremes.sort_values("score", ascending=not largest, kind="stable")
    texts = zip(frame["id"], frame["score"], frame["label"], frame["seed"], strict=True)
    return {match: f"{number(score)} · {who} · seed {seed}" for match, score, who, seed in texts if match == match}


def run_of_match(match: str) -> str:
    """Returns the id of the newest run that has a match; raises UserError if no run has it."""
    return newest_run_of(store(), match)


@st.cache_resource(max_entries=8, show_spinner="Replaying ...")
def _reanalysis(url: str, match: str) -> Reanalysis:
    return Reanalysis(_store(url).record(match))


def reanalysis(match: str) -> Reanalysis:
    """Returns a stored match as a replay; raises UserError if there is none."""
    return _reanalysis(url(), match)


@st.cache_resource(max_entries=512, show_spinner=False)
def _thought(match: str, number: int, patience: float, _reanalysis: Reanalysis) -> Thought:
    with _asking:
        return _reanalysis.think(number, patience)


def thought(reanalysis: Reanalysis, number: int, patience: float) -> Thought:
    """Returns the decision of a moment's agent, asked again."""
    return _thought(reanalysis.record.spec.id, number, patience, reanalysis)


@st.cache_resource(max_entries=512, show_spinner="Searching again ...")
def _searched(match: str, number: int, repeats: int, _reanalysis: Reanalysis) -> list[SearchRecord]:
    return _reanalysis.search_again(number, repeats)


def searched_again(reanalysis: Reanalysis, number: int, repeats: int) -> list[SearchRecord]:
    """Returns searches of a moment's position, each by a new player."""
    return _searched(reanalysis.record.spec.id, number, repeats, reanalysis)


def described(chosen: Sequence[Run]) -> Any:
    """Returns the sections of one run, or of several of a kind, shown together."""
    kind = sections.kind_of(chosen[0].kind)
    found = [cached(kind.read)(run) for run in chosen]
    return kind.sections(kind.together(*found) if len(found) > 1 else found[0])
