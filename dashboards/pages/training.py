"""Training: curves of the training games and evaluations during the training, for one or several runs."""

from __future__ import annotations

import streamlit as st

from turnier.agents.ntuple.td import LEARNING
from turnier.agents.registry import AGENTS, EVALUATORS
from turnier.core.parameters import Declared
from turnier.dashboards import cached_store, widgets
from turnier.dashboards.agent_names import shortened
from turnier.dashboards.figures.training import evaluation_curves, evaluation_table, rating_curves, training_curves
from turnier.dashboards.run_failures import show_headline
from turnier.games.registry import game_of
from turnier.runs.stored.training import evaluation_unit


def draw() -> None:
    runs = cached_store.runs_with_curves()
    if not runs:
        widgets.show_empty(
            "No training is stored here yet.",
            "turnier train tictactoe ntuple --games 2000 --out t.npz --evaluate-every 500 --against random",
        )
        return
    with st.container(border=True):
        games = sorted({str(run.definition["game"]) for run in runs})
        game = widgets.choose_game(games)
        chosen = widgets.choose_runs([run for run in runs if run.definition["game"] == game])
    widgets.show_title(cached_store.short_game(game), chosen)
    if not chosen:
        st.info("Choose a run above.")
        return
    widgets.refresh(lambda: _draw(chosen, game), widgets.is_live(chosen))


def _draw(chosen: list[cached_store.Run], game: str) -> None:
    show_headline(chosen)
    names = {run.id: run_name(run) for run in chosen}
    curves = training_curves({names[run.id]: cached_store.curve(run.id) for run in chosen})
    unit = evaluation_unit(game_of(game))
    opponents = [str(run.definition.get("against", "")) for run in chosen]
    evaluated = evaluation_curves({names[r.id]: cached_store.evaluations(r.id, game) for r in chosen}, unit, opponents)
    left, right = st.columns(2, gap="large")
    with left:
        if curves:
            widgets.show_figure(curves)
        else:
            st.info("No point of the curve is stored yet.")
    with right:
        if evaluated:
            widgets.show_figure(evaluated)
    playing = {names[r.id]: cached_store.rated_checkpoints(r.id) for r in chosen if "agent" in r.definition}
    for rated in rating_curves(playing):
        widgets.show_figure(rated)
    if evaluated:
        widgets.show_table("Evaluations", evaluation_table(evaluated.data, unit))


def run_name(run: cached_store.Run) -> str:
    """Returns a name that distinguishes a training: what learns how, with which seed."""
    plan = run.definition
    playing = plan.get("agent") or plan.get("network")  # of self-play with search, or a deep network
    what: Declared = AGENTS.make(playing) if playing else EVALUATORS.make(plan["evaluator"])
    how = LEARNING.make(plan["learning"])
    return f"{shortened(str(what))}, {how}, seed {plan['seed']} ({run.id.partition(':')[2][:6]})"
