"""Studies: candidates, generations, what matters, and a way to optuna-dashboard on the same storage."""

from __future__ import annotations

import streamlit as st

from turnier.dashboards import cached_store as reading
from turnier.dashboards import widgets as parts
from turnier.dashboards.figures import studies as study_figures
from turnier.dashboards.widgets import show, show_table
from turnier.results.store.progress import RUNNING


def draw() -> None:
    names = reading.studies()
    if not names:
        parts.empty("No study is stored here yet.", "make study", "python studies/cmaes_heuristics.py")
        return
    with st.container(border=True):
        left, right = st.columns([3, 1], vertical_alignment="bottom")
        with left:
            study = st.selectbox("Study", names, key="study", **parts.IN_ADDRESS)
        with right:
            st.link_button("optuna-dashboard", reading.optuna_dashboard(study), icon=":material/open_in_new:")
    live = any(run.run == f"study:{study}" and run.state == RUNNING for run in reading.progress())
    parts.renewed(lambda: _draw(study), live)


def _draw(study: str) -> None:
    trials, noted = reading.trials(study), reading.generations(study)
    if trials["value"].notna().sum() == 0:
        st.info("No candidate is finished yet.")
        return
    unit = reading.study_unit(study)
    done = int((trials["state"] == "COMPLETE").sum())
    best = trials.loc[trials["value"].idxmax()]
    words = {f"best_{unit}": f"{best['value']:,.1f}", "as_candidate": f"{int(best['number']):,}"}
    parts.facts(candidates=f"{len(trials):,}", to_the_end=f"{done:,}", **words)
    left, right = st.columns(2, gap="large")
    with left:
        show(study_figures.history(trials, unit))
    beside = study_figures.generations(trials, noted, unit) or study_figures.front(trials, unit)
    with right:
        if beside:
            show(beside)
    steps = study_figures.step_sizes(noted)
    for column, figure in zip(st.columns(2, gap="large"), steps, strict=False):
        with column:
            show(figure)
    shares = reading.importance(study)
    left, right = st.columns(2, gap="large")
    importance = study_figures.importance(shares)
    with left:
        if importance:
            show(importance)
        else:
            st.caption("The importance of parameters needs at least eight candidates.")
    with right:
        by_importance = [*shares.index, *(n for n in trials.attrs["parameters"] if n not in shares.index)]
        parameter = parts.choose("Slice by", by_importance, "parameter")
        show(study_figures.slice_of(trials, parameter, unit))
    show_table("Best candidates", study_figures.candidate_table(trials, unit), f"{unit}, with 95 % intervals.")
