"""What pages read from the store, cached between reruns by run and number of matches. Nothing here writes."""

from __future__ import annotations

import contextlib
import shlex
import threading
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from turnier.arena.analysis.reanalysis import Reanalysis, Thought
from turnier.arena.repeated_search import SearchRecord
from turnier.core.errors import UserError
from turnier.core.number_text import number
from turnier.dashboards import run_glance, run_summary
from turnier.dashboards.app import board_server
from turnier.dashboards.app.optuna_server import OFFSET, serve_optuna_dashboard
from turnier.dashboards.opened_store import opened as _store
from turnier.dashboards.opened_store import option, url
from turnier.dashboards.run_glance import Glance
from turnier.dashboards.run_summary import Ranks, Scores
from turnier.games.registry import game_of
from turnier.results.match_list import full_ids, list_matches, newest_run_of
from turnier.results.store.annotations import SETTINGS
from turnier.results.store.curves import CurvePoint
from turnier.results.store.progress import LIVE, RunProgress, progress_of_runs, stored_command
from turnier.results.store.store import Run, Store
from turnier.runs.experiment import Experiment, Measurement, measurements
from turnier.runs.self_play import ratings
from turnier.runs.stored.collected import certainty_of_run
from turnier.runs.stored.comparison import ComparisonResults
from turnier.runs.stored.training import Evaluation, stored_evaluations
from turnier.search.front.points import Point, stored_points
from turnier.search.storage import trials
from turnier.search.storage.definitions import StudyFacts, agent_with, used_values
from turnier.search.storage.studies import run_id_of, stored_verdict
from turnier.search.verdict import StudyVerdict

__all__ = ["Run"]  # for annotations of pages

SMALL = 20_000  # matches; figures of a larger running run are renewed in steps of 5 % or more
_asking = threading.Lock()  # agents are asked for one page at a time
GLANCES = 2000  # cached runs in one line
KEPT = 32  # cached results of each kind


def store() -> Store:
    """Returns the store, opened read-only; raises UserError where it cannot be read."""
    return _store(url())


@st.cache_data(ttl=1.5, show_spinner=False)
def _progress(url: str) -> list[RunProgress]:
    return progress_of_runs(_store(url))


def progress() -> list[RunProgress]:
    """Returns the progress of all runs, the oldest first; at most two seconds old."""
    return _progress(url())


@st.cache_data(ttl=1.5, show_spinner=False)
def _runs(url: str) -> list[Run]:
    return _store(url).runs()


def all_runs() -> list[Run]:
    """Returns all runs, the oldest first."""
    return _runs(url())


@st.cache_data(max_entries=GLANCES, show_spinner=False)
def _glance(url: str, run: Run, state: tuple[int, bool], decided_by: str) -> Glance:
    return run_glance.glance(_store(url), run)


def glance(run: Run) -> Glance:
    """Returns a run in one line; of a running one again whenever the second digit of its results changes."""
    stored, running = state_of(run.id)
    step = 10 ** max(0, len(str(stored)) - 2) if running else 1
    return _glance(url(), run, (stored // step * step, running), run_glance.decided_by(store(), run))


def runs(*kinds: str) -> list[Run]:
    """Returns the runs of these kinds with stored results, the newest first."""
    stored = {run.run for run in progress() if run.stored}
    return [run for run in reversed(_runs(url())) if run.kind in kinds and run.id in stored]


def state_of(run: str) -> tuple[int, bool]:
    """Returns the cache key of a run's figures: its number of stored results, and whether it is running.

    While a large run is playing the number is rounded down, so that not every batch makes pages read it again.
    """
    known = next((p for p in progress() if p.run == run), None)
    stored, running = (known.stored, known.state in LIVE) if known else (0, False)
    if running and stored > SMALL:
        step = 10 ** (len(str(stored)) - 2) * 5
        stored = stored // step * step
    return stored, running


@st.cache_data(max_entries=KEPT, show_spinner="Reading games ...")
def _scores(url: str, run: str, state: tuple[int, bool]) -> Scores:
    return run_summary.scores(_store(url), run)


def scores(chosen: Sequence[Run]) -> Scores:
    """Returns what agents scored in some runs."""
    return run_summary.joined([_scores(url(), run.id, state_of(run.id)) for run in chosen])


@st.cache_data(max_entries=KEPT, show_spinner="Comparing agents ...")
def _ranks(url: str, run: str, state: tuple[int, bool]) -> Ranks:
    return run_summary.ranks(_store(url), run)


def ranks(run: Run) -> Ranks:
    """Returns the comparison of a run's agents."""
    return _ranks(url(), run.id, state_of(run.id))


@st.cache_resource(max_entries=KEPT, show_spinner="Testing ...")
def _comparison(url: str, run: str, state: tuple[int, bool], settings: str) -> ComparisonResults:
    return ComparisonResults.find(_store(url), run)


def comparison(run: Run) -> ComparisonResults:
    """Returns what the games of a comparison say so far, by the settings that it was last played with."""
    settings = store().annotations.get(run.id, SETTINGS)
    return _comparison(url(), run.id, state_of(run.id), settings)


def command(run: Run) -> str:
    """Returns the command line that last played a run, for this store; empty if there was none."""
    words = stored_command(store(), run.id)
    return shlex.join(words) + option() if words else ""


@st.cache_data(max_entries=KEPT, show_spinner="Rating agents ...")
def _ratings_of_game(url: str, game: str, states: tuple[tuple[int, bool], ...]) -> Ranks:
    return run_summary.ratings_of_game(_store(url), game)


def ratings_of_game(game: str, tournaments: Sequence[Run]) -> Ranks:
    """Returns the rating list of a game over all its tournaments, which are those given."""
    return _ratings_of_game(url(), game, tuple(state_of(run.id) for run in tournaments))


@st.cache_data(max_entries=KEPT, show_spinner="Reading searches ...")
def _positions(url: str, run: str, state: tuple[int, bool]) -> pd.DataFrame:
    return certainty_of_run(_store(url), _store(url).run(run))


def positions(chosen: Sequence[Run]) -> pd.DataFrame:
    """Returns `position_certainty` of some runs, each with the column `run`."""
    return pd.concat([_positions(url(), r.id, state_of(r.id)).assign(run=r.id) for r in chosen], ignore_index=True)


@st.cache_data(ttl=10, show_spinner=False)
def _runs_with_searches(url: str) -> set[str]:
    return set(_store(url).searches.counts())


def has_searches(run: str) -> bool:
    """Returns whether a run has searched positions."""
    return run in _runs_with_searches(url())


def short_game(game: str) -> str:
    """Returns the short text form of a game; an unknown game keeps its stored text."""
    with contextlib.suppress(UserError):
        return str(game_of(game))
    return game


def run_title(run: Run) -> str:
    """Returns a run's name for titles: a game in its short text form, otherwise the name as it is stored."""
    return short_game(run.name)


def studies() -> list[str]:
    """Returns the names of all studies, the newest first."""
    return trials.study_names(store())[::-1]


@st.cache_data(ttl=1.5, show_spinner=False)
def _count(url: str, study: str) -> int:
    return trials.count_trials(_store(url), study)


@st.cache_resource(max_entries=KEPT, show_spinner="Reading candidates ...")  # cache_data drops frame.attrs
def _trials(url: str, study: str, count: int) -> pd.DataFrame:
    return trials.trials_frame(_store(url), study)


def study_trials(study: str) -> pd.DataFrame:
    """Returns `trials_frame` of a study; do not change it."""
    return _trials(url(), study, _count(url(), study))


def study_generations(study: str) -> pd.DataFrame:
    """Returns `generations_frame` of a study."""
    return trials.generations_frame(store(), study)


@st.cache_data(max_entries=KEPT, show_spinner="Weighing parameters ...")
def _importance(url: str, study: str, count: int) -> pd.Series:
    return trials.importance(_trials(url, study, count))


def study_importance(study: str) -> pd.Series:
    """Returns each parameter's share of the importance, the largest first; empty with few candidates."""
    return _importance(url(), study, _count(url(), study))


def runs_of_study(study: str) -> list[Run]:
    """Returns the run that holds a study's games; none where it is not one of Turnier's."""
    return [run for run in _runs(url()) if run.id == run_id_of(study)]


def study_command(study: str) -> str:
    """Returns the command line that last drove a study; empty if there was none."""
    return next((command(run) for run in runs_of_study(study)), "")


def study_definition(study: str) -> dict[str, Any]:
    """Returns what a study was begun with, as it is stored."""
    return trials.definition(store(), study)


def study_facts(study: str) -> StudyFacts:
    """Returns what a study tunes, against what, and how."""
    return StudyFacts.of(study_definition(study))


def recommended_agent(study: str) -> tuple[str, dict[str, Any]]:
    """Returns the agent that a search recommends now, and its searched parameters; empty where there is none."""
    values = trials.recommended_values(store(), study)
    return (agent_with(study_definition(study), values) if values else ""), values


def candidates_agents(study: str, numbers: Iterable[int]) -> list[str]:
    """Returns the agents of some candidates of a study; none where this version cannot build one of them."""
    frame, known = study_trials(study), study_definition(study)
    rows = frame.set_index("number").loc[list(numbers), frame.attrs["parameters"]].to_dict("records")
    agents = [agent_with(known, used_values(row, frame.attrs["ranges"])) for row in rows]
    return agents if all(agents) else []


def study_verdict(study: str) -> StudyVerdict | None:
    """Returns the verdict that a study ended with; None where it has none yet."""
    return stored_verdict(store(), study)


def front_points(study: str) -> list[Point]:
    """Returns the start and the front in held-out games; empty where a study has none."""
    return stored_points(store(), study)


def study_unit(study: str) -> str:
    """Returns the unit of a study's values."""
    return trials.unit(store(), study)


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


def runs_with_curves() -> list[Run]:
    """Returns the runs that train, the newest first."""
    return [run for run in reversed(_runs(url())) if run.kind == "training"]


def curve(run: str) -> list[CurvePoint]:
    """Returns the points of a training's curve."""
    return store().curves.points(run)


@st.cache_data(max_entries=KEPT, show_spinner="Reading evaluations ...")
def _evaluations(url: str, run: str, game: str, known: tuple[int, ...]) -> list[Evaluation]:
    return stored_evaluations(_store(url), run, game_of(game))


def evaluations(run: str, game: str) -> list[Evaluation]:
    """Returns the evaluations of a network during its training."""
    return _evaluations(url(), run, game, tuple(store().curves.evaluated(run)))


@st.cache_data(max_entries=KEPT, show_spinner="Rating checkpoints ...")
def _rated_checkpoints(url: str, run: str, known: tuple[int, ...]) -> pd.DataFrame:
    return ratings.rated_checkpoints(_store(url), run)


def rated_checkpoints(run: str) -> pd.DataFrame:
    """Returns the strength of a training's checkpoints by self-play, see `ratings.rated_checkpoints`."""
    return _rated_checkpoints(url(), run, tuple(store().curves.evaluated(run)))


@st.cache_data(ttl=5, max_entries=KEPT, show_spinner=False)
def _latest(url: str, run: str, agents: tuple[str, ...]) -> dict[str, str]:
    return {row.id: row.text for row in list_matches(_store(url), run, agents)}


def latest_matches(run: str, agents: tuple[str, ...] = ()) -> dict[str, str]:
    """Returns a run's latest matches, only those in which all of some agents play: id -> description."""
    return _latest(url(), run, agents)


def extreme_matches(run: Run, largest: bool) -> dict[str, str]:
    """Returns the matches with a run's largest or smallest scores: id -> description."""
    frame = scores([run]).extremes.sort_values("score", ascending=not largest, kind="stable")
    known = full_ids(store(), frame["match"].unique().tolist())
    texts = zip(frame["match"], frame["score"], frame["label"], frame["seed"], strict=True)
    return {
        known[short]: f"{number(score)} · {who} · seed {seed}" for short, score, who, seed in texts if short in known
    }


def run_of_match(match: str) -> str:
    """Returns the id of the newest run that has a match; raises UserError where no run has it."""
    return newest_run_of(store(), match)


@st.cache_data(max_entries=KEPT, show_spinner=False)
def _ids(url: str, numbers: tuple[int, ...]) -> dict[int, str]:
    return full_ids(_store(url), numbers)


def match_ids(extremes: pd.DataFrame) -> list[str]:
    """Returns the ids of the matches in the rows of `Scores.extremes`."""
    known = _ids(url(), tuple(extremes["match"].unique().tolist()))
    return [known[number] for number in extremes["match"]]


@st.cache_resource(max_entries=8, show_spinner="Replaying ...")
def _reanalysis(url: str, match: str) -> Reanalysis:
    return Reanalysis(_store(url).record(match))


def reanalysis(match: str) -> Reanalysis:
    """Returns a stored match as a replay; raises UserError where there is none."""
    return _reanalysis(url(), match)


@st.cache_resource(max_entries=512, show_spinner=False)
def _thought(match: str, number: int, patience: float, _reanalysis: Reanalysis) -> Thought:
    with _asking:
        return _reanalysis.think(number, patience)


def thought(reanalysis: Reanalysis, number: int, patience: float) -> Thought:
    """Returns the decision of a moment's agent when it is asked again."""
    return _thought(reanalysis.record.spec.id, number, patience, reanalysis)


@st.cache_resource(max_entries=512, show_spinner="Searching again ...")
def _searched(match: str, number: int, repeats: int, _reanalysis: Reanalysis) -> list[SearchRecord]:
    return _reanalysis.search_again(number, repeats)


def searched_again(reanalysis: Reanalysis, number: int, repeats: int) -> list[SearchRecord]:
    """Returns searches of a moment's position, each by a new player."""
    return _searched(reanalysis.record.spec.id, number, repeats, reanalysis)


@st.cache_data(max_entries=KEPT, show_spinner="Measuring ...")
def _measured(url: str, run: Run, state: tuple[int, bool]) -> list[Measurement]:
    return measurements(Experiment.from_run(run), _store(url))


def measured(run: Run) -> tuple[Experiment, list[Measurement]]:
    """Returns an experiment and the measurements of its rows."""
    return Experiment.from_run(run), _measured(url(), run, state_of(run.id))
