"""Studies: the verdict and the agent to use, what was tuned and how, held-out games, and how the search went."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from datetime import timedelta
from html import escape

import pandas as pd
import streamlit as st

from turnier.agents.registry import make_agent
from turnier.core.errors import UserError
from turnier.core.number_text import number
from turnier.dashboards import cached_store, widgets
from turnier.dashboards.figures.studies.landscape import contour, parallel_coordinates
from turnier.dashboards.figures.studies.search import (
    all_of_front,
    candidate_table,
    generation_means,
    held_out_front,
    histories,
    importance_bars,
    parameter_slice,
    search_history,
    step_sizes,
)
from turnier.dashboards.figures.studies.summary import (
    compared,
    front_table,
    headline,
    held_out_note,
    held_out_table,
    points_table,
)
from turnier.dashboards.links import games_address
from turnier.dashboards.run_failures import show_headline
from turnier.results.store.progress import RUNNING, RunProgress
from turnier.search.storage.commands import Again, to_play_on
from turnier.search.storage.definitions import StudyFacts, ranges_table
from turnier.search.storage.hints import hints
from turnier.search.storage.studies import run_id_of

_FACTS = "display: grid; grid-template-columns: minmax(4rem, auto) 1fr; gap: 0.3rem 1.2rem; overflow-wrap: anywhere"


def draw() -> None:
    names = cached_store.studies()
    if not names:
        widgets.show_empty("No study is stored here yet.", "make study", "python studies/cmaes_heuristics.py")
        return
    widgets.refuse_unknown("study", "study", names)
    with st.container(border=True):
        left, right = st.columns([3, 1], vertical_alignment="bottom")
        with left:
            study = st.selectbox("Study", names, key="study", **widgets.IN_ADDRESS)
        with right:
            link = cached_store.optuna_dashboard(study)
            st.link_button("This study in optuna-dashboard", link, icon=":material/open_in_new:")
    facts = cached_store.study_facts(study)
    widgets.show_title(f"{study} at {facts.game}" if facts.game else study, cached_store.runs_of_study(study))
    progress = next((run for run in cached_store.progress() if run.run == f"study:{study}"), None)
    widgets.refresh(lambda: _draw(study, facts), progress is not None and progress.state == RUNNING)
    others = [
        name for name in names if name != study and cached_store.study_unit(name) == cached_store.study_unit(study)
    ]
    if others:
        _compare(study, others)


def _draw(study: str, facts: StudyFacts) -> None:
    trials, noted = cached_store.study_trials(study), cached_store.study_generations(study)
    progress = next((run for run in cached_store.progress() if run.run == f"study:{study}"), None)
    if trials["value"].notna().sum() == 0:
        _show_progress(progress)
        show_headline(cached_store.runs_of_study(study))
        st.info("No candidate is finished yet.")
        _define(study, facts, trials)
        return
    unit, verdict = cached_store.study_unit(study), cached_store.study_verdict(study)
    agent, values = cached_store.recommended_agent(study)
    live = progress is not None and progress.state == RUNNING
    points = cached_store.front_points(study)
    first = headline(trials, noted, verdict, points, agent, unit, facts.unit_games, live)
    show_headline(cached_store.runs_of_study(study), first.html)
    if first.agent:
        st.code(first.agent, language=None, wrap_lines=True)
    if said := to_play_on(cached_store.store(), cached_store.study_definition(study), verdict):
        st.code(said, language=None, wrap_lines=True)
    _show_progress(progress)
    if verdict:
        table = held_out_table(verdict, facts.unit_games)
        widgets.show_table("Held-out games", table.assign(replay=_replays(study, table["agent"])), held_out_note(unit))
    elif points:
        table = points_table(points, unit)
        widgets.show_table("Held-out games", table.assign(replay=_replays(study, table["agent"])), "95 % intervals.")
        widgets.show_figure(held_out_front(points, unit))
    elif trials["other"].notna().any():
        note = f"Candidates that no other beats at both objectives; {unit} with 95 % intervals."
        widgets.show_table("The front", front_table(trials, unit, cached_store.study_definition(study)), note)
    again = Again.of(
        cached_store.store(), cached_store.study_definition(study), int(trials["games"].sum()) * facts.unit_games
    )
    for sentence in hints(trials, noted, cached_store.study_definition(study), values, verdict, again):
        st.warning(widgets.plain(sentence), icon=":material/lightbulb:")
    _define(study, facts, trials)
    _show_search(trials, noted, unit, facts)
    _show_parameters(study, trials, unit)
    table = candidate_table(trials, unit, facts.unit_games)
    if agents := cached_store.candidates_agents(study, table["candidate"]):
        table.insert(1, "replay", _replays(study, agents))
    note = f"The {len(table)} largest values of {len(trials):,} candidates: the larger, the luckier. Blank: a parameter"
    widgets.show_table("Candidates with the largest values", table, f"{note} that the candidate does not use.")


def _replays(study: str, agents: Iterable[str]) -> list[str]:
    """Returns the addresses of the games that some agents played in a study; all games where one is unknown here."""
    addresses = []
    for agent in agents:
        names: tuple[str, ...] = ()
        with contextlib.suppress(UserError):
            names = (make_agent(agent).full_text(),)
        addresses.append(games_address(run_id_of(study), *names))
    return addresses


def _show_progress(progress: RunProgress | None) -> None:
    """Shows how far the whole study is: the search and the held-out games."""
    if progress is None or progress.done is None or progress.planned is None:
        return
    done = f"{progress.done:,} of {progress.planned:,} {progress.unit}"
    if progress.state != RUNNING:
        st.caption(f"{progress.state.capitalize()}: {done} of the search and the held-out games.")
        return
    left = "" if progress.seconds_left is None else f", at most {timedelta(seconds=round(progress.seconds_left))} left"
    rate = "" if progress.rate is None else f", {number(progress.rate)} per second"
    share = min(1.0, progress.done / max(1, progress.planned))
    st.progress(share, f"Running: {done} of the search and the held-out games{rate}{left}")


def _define(study: str, facts: StudyFacts, trials: pd.DataFrame) -> None:
    """Shows what is tuned, against what, and how."""
    left, right = st.columns(2, gap="large")
    rows = "".join(f"<div>{escape(what)}</div><div>{escape(how)}</div>" for what, how in facts.rows().items())
    command = cached_store.study_command(study)
    with left:
        st.markdown("##### What is tuned, and how")
        st.html(f'<div style="{_FACTS}">{rows}</div>')
        if command:
            st.caption("Command to resume or repeat it:")
            st.code(command, language="bash", wrap_lines=True)
    ranges = ranges_table(trials.attrs.get("ranges", {}), cached_store.study_definition(study))
    if len(ranges):
        with right:
            widgets.show_table("Searched parameters", ranges)


def _show_search(trials: pd.DataFrame, noted: pd.DataFrame, unit: str, facts: StudyFacts) -> None:
    """Shows how the values developed."""
    first = generation_means(trials, noted, unit) or all_of_front(trials, unit)
    figures = [*filter(None, [first]), search_history(trials, unit), *step_sizes(noted, facts.sampler_name)]
    for pair in (figures[i : i + 2] for i in range(0, len(figures), 2)):
        for column, figure in zip(st.columns(2, gap="large"), pair, strict=False):
            with column:
                widgets.show_figure(figure)


def _show_parameters(study: str, trials: pd.DataFrame, unit: str) -> None:
    """Shows what the parameters do: their importance, one, two, and all of them."""
    shares = cached_store.study_importance(study)
    names = [*shares.index, *(name for name in trials.attrs["parameters"] if name not in shares.index)]
    if not names:
        return
    importance = importance_bars(shares, trials)
    left, right = st.columns(2, gap="large")
    with left:
        if importance:
            widgets.show_figure(importance)
        else:
            st.caption("Parameter importance needs at least eight candidates.")
    with right:
        parameter = widgets.choose("By parameter", names, "parameter")
        widgets.show_figure(parameter_slice(trials, parameter, unit))
    several = parallel_coordinates(trials, names, unit)
    others = [name for name in names if name != parameter]
    left, right = st.columns(2, gap="large")
    if others:
        with left:
            second = widgets.choose("and by a second", others, "second")
            widgets.show_figure(contour(trials, parameter, second, unit))
    if several:
        with right:
            widgets.show_figure(several)


def _compare(study: str, others: list[str]) -> None:
    """Shows the study beside others that people choose."""
    st.markdown("#### Compare with other studies")
    chosen = st.multiselect("Studies", others, key="compare", **widgets.IN_ADDRESS)
    if not chosen:
        return
    names = [study, *chosen]
    facts = {name: cached_store.study_facts(name) for name in names}
    trials = {name: cached_store.study_trials(name) for name in names}
    known = {name: (trials[name], facts[name].unit_games) for name in names}
    widgets.show_figure(histories(known, cached_store.study_unit(study)))
    rows = {
        name: (
            cached_store.study_verdict(name),
            cached_store.recommended_agent(name)[0],
            int(trials[name]["games"].sum()) * facts[name].unit_games,
        )
        for name in names
    }
    widgets.show_table("Verdicts", compared(rows), "Games are those of the candidates.")
