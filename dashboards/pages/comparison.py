"""Comparison: the verdict on two agents, the evidence for it, pairs by outcome, and how many games are left."""

from __future__ import annotations

import streamlit as st

from turnier.dashboards import cached_store, widgets
from turnier.dashboards.figures.comparison import (
    EVIDENCE_NOTE,
    agents_table,
    comparison_facts,
    evidence_chart,
    evidence_table,
    outcome_bars,
    verdict_banner,
)
from turnier.dashboards.run_failures import show_headline
from turnier.dashboards.run_heading import agents_of
from turnier.runs.stored.comparison import KIND
from turnier.statistics.sprt import Verdict


def draw() -> None:
    runs = cached_store.runs(KIND)
    if not runs:
        widgets.show_empty(
            "No comparison is stored here yet.", 'turnier compare "mc(iterations=20)" random --game tictactoe'
        )
        return
    with st.container(border=True):
        [run] = widgets.choose_runs(runs, several=False, label="Comparison")
    against = " against ".join(agents_of(run).values())
    widgets.show_title(f"{against} at {cached_store.run_title(run)}", [run])
    widgets.refresh(lambda: _draw(run), widgets.is_live([run]))


def _draw(run: cached_store.Run) -> None:
    results = cached_store.comparison(run)
    show_headline([run], verdict_banner(results))
    widgets.show_facts(**comparison_facts(results))
    command = cached_store.command(run)
    if command and results.verdict is Verdict.UNDECIDED and not widgets.is_live([run]):
        st.caption("To resume:" if results.duel.round_size else "To play on, repeat this with more --games:")
        st.code(command, language="bash", wrap_lines=True)
    evidence, outcomes = evidence_chart(results), outcome_bars(results)
    if evidence is None or outcomes is None:
        st.info("No round of games has ended yet.")
        return
    left, right = st.columns([3, 2], gap="large")
    with left:
        widgets.show_figure(evidence)
        widgets.show_table("Tests", evidence_table(results), EVIDENCE_NOTE)
    with right:
        widgets.show_figure(outcomes)
        widgets.show_table("Agents", agents_table(results))
