"""A run of a kind, or several: what `kinds/KIND.py` says of it, live while it is playing."""

from __future__ import annotations

import streamlit as st

from turnier.dashboards.app import cached_store, shown, widgets
from turnier.dashboards.run_heading import titled
from turnier.dashboards.sections import kind_of
from turnier.results.store.store import Run

ALWAYS = ("study", "training")  # kinds whose runs are shown before they have games
BEGUN_BY = {  # kind -> a command that begins a run of it
    "tournament": 'turnier tournament yavalath mcts "alphabeta(depth=4)" random --games 20 --openings 1',
    "comparison": 'turnier compare "mc(iterations=20)" random --game tictactoe',
    "certainty": 'turnier certainty 2048 random "mc(iterations=100)" --states 5',
    "judging": 'turnier judge tictactoe random "mcts(iterations=100)"',
    "study": "make study\npython studies/cmaes_heuristics.py",
    "training": "turnier train tictactoe ntuple --games 2000 --out t.npz --evaluate-every 500 --against random",
}


def draw(kind: str) -> None:
    runs = _runs(kind)
    if not runs:
        widgets.show_empty(f"No {kind} is stored here yet.", *BEGUN_BY.get(kind, "").splitlines())
        return
    several = hasattr(kind_of(kind), "together")
    with st.container(border=True):
        chosen = widgets.choose_runs(runs, several, kind.capitalize())
    if not chosen:
        st.info("Choose a run above.")
        return
    widgets.show_title(" and ".join(dict.fromkeys(map(titled, chosen))), chosen)
    if kind == "study":
        link = cached_store.optuna_dashboard(chosen[0].name)
        st.link_button("This study in optuna-dashboard", link, icon=":material/open_in_new:")
    widgets.refresh(lambda: _draw(chosen), widgets.is_live(chosen))


def _runs(kind: str) -> list[Run]:
    """Returns the runs that the page of a kind shows, the newest first."""
    if kind in ALWAYS:
        return [run for run in reversed(cached_store.all_runs()) if run.kind == kind]
    if kind != "certainty":
        return cached_store.runs(kind)
    found = cached_store.runs(kind, "experiment")
    return [run for run in found if run.kind == kind or cached_store.has_searches(run.id)]


def _draw(chosen: list[Run]) -> None:
    for run in chosen:
        shown.show_state(run)
    shown.show_head(chosen)
    shown.show(cached_store.described(chosen))
    for run in chosen:
        if command := cached_store.command(run):
            st.caption("Command to resume or repeat it:")
            st.code(command, language="bash", wrap_lines=True)
