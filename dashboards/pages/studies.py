"""Studies: candidates, generations, importance of parameters, and a link to optuna-dashboard on the same storage."""

from __future__ import annotations

import streamlit as st

from turnier.dashboards import cached_store, widgets
from turnier.dashboards.figures.studies import (
    candidate_table,
    generation_means,
    importance_bars,
    parameter_slice,
    search_history,
    step_sizes,
    strength_against_time,
)
from turnier.results.store.progress import RUNNING


def draw() -> None:
    names = cached_store.studies()
    if not names:
        widgets.show_empty("No study is stored here yet.", "make study", "python studies/cmaes_heuristics.py")
        return
    with st.container(border=True):
        left, right = st.columns([3, 1], vertical_alignment="bottom")
        with left:
            study = st.selectbox("Study", names, key="study", **widgets.IN_ADDRESS)
        with right:
            st.link_button("optuna-dashboard", cached_store.optuna_dashboard(study), icon=":material/open_in_new:")
    live = any(run.run == f"study:{study}" and run.state == RUNNING for run in cached_store.progress())
    widgets.refresh(lambda: _draw(study), live)


def _draw(study: str) -> None:
    trials, noted = cached_store.study_trials(study), cached_store.study_generations(study)
    if trials["value"].notna().sum() == 0:
        st.info("No candidate is finished yet.")
        return
    unit = cached_store.study_unit(study)
    done = int((trials["state"] == "COMPLETE").sum())
    best = trials.loc[trials["value"].idxmax()]
    words = {f"best_{unit}": f"{best['value']:,.1f}", "as_candidate": f"{int(best['number']):,}"}
    widgets.show_facts(candidates=f"{len(trials):,}", completed=f"{done:,}", **words)
    left, right = st.columns(2, gap="large")
    with left:
        widgets.show_figure(search_history(trials, unit))
    second = generation_means(trials, noted, unit) or strength_against_time(trials, unit)
    with right:
        if second:
            widgets.show_figure(second)
    steps = step_sizes(noted)
    for column, figure in zip(st.columns(2, gap="large"), steps, strict=False):
        with column:
            widgets.show_figure(figure)
    shares = cached_store.study_importance(study)
    left, right = st.columns(2, gap="large")
    importance = importance_bars(shares)
    with left:
        if importance:
            widgets.show_figure(importance)
        else:
            st.caption("The importance of parameters needs at least eight candidates.")
    with right:
        by_importance = [*shares.index, *(n for n in trials.attrs["parameters"] if n not in shares.index)]
        parameter = widgets.choose("Slice by", by_importance, "parameter")
        widgets.show_figure(parameter_slice(trials, parameter, unit))
    widgets.show_table("Best candidates", candidate_table(trials, unit), f"{unit}, with 95 % intervals.")
