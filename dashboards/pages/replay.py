"""Replay: any stored match of any game, move by move, with the agents' searches. Arrow keys go back and forth."""

from __future__ import annotations

import math
from html import escape
from typing import Any

import streamlit as st

from turnier.agents.registry import agent_of, label_of
from turnier.arena.analysis.reanalysis import Reanalysis, Thought
from turnier.core import number_text
from turnier.core.errors import UserError
from turnier.dashboards import markup
from turnier.dashboards.agent_names import distinct
from turnier.dashboards.app import cached_store, widgets
from turnier.dashboards.app.widgets import IN_ADDRESS, plain
from turnier.dashboards.figures.replay import action_frame, board_svg, match_name, mean_time, visit_bars
from turnier.dashboards.links import address
from turnier.dashboards.run_heading import agents_of
from turnier.dashboards.sections import kind_of, kinds_with
from turnier.games.drawing import Overlay
from turnier.games.game import Game
from turnier.results.frames.certainty import position_certainty, searches_frame

FAILED = "failed"
ORDERS = ("latest", "largest score", "smallest score")
PATIENCE = 1.5  # s for asking an agent for all of its moves again
REPEATS = 20
PROBABILITIES = "What the agent computed for each cell, such as how likely others are to enter it in the next rounds."
PATHS = "Some of the agent's own longest paths, paler further ahead."
COLUMNS: dict[str, Any] = {
    "percent": st.column_config.NumberColumn("visits, %", format="%.1f"),
    "visits": st.column_config.NumberColumn(format="%d"),
    "value": st.column_config.NumberColumn(format="localized"),
}


def draw() -> None:
    runs = [run for run in cached_store.runs() if getattr(kind_of(run.kind), "REPLAYS", True)]
    if not runs:
        widgets.show_empty("No match is stored here yet.", "turnier tournament tictactoe random greedy --games 10")
        return
    with st.container(border=True):
        run, reanalysis = _choose(runs)
    widgets.show_title(cached_store.run_title(run), [run])
    if failed := markup.failed(cached_store.head(run)[1]):
        st.html(failed)
    if reanalysis is None:
        return
    last = len(reanalysis.moments) - 1
    if st.session_state.get("move", 0) > last:
        st.session_state["move"] = last
    st.markdown(f"##### {plain(f'{reanalysis.game}: {match_name(reanalysis.record)}')}")
    number = _move(last)
    link = cached_store.board(reanalysis.record.spec.id, number + 1)
    st.link_button("Open on the board: keys, autoplay, value graph", link, icon=":material/open_in_new:")
    st.fragment(widgets.show_errors(_moment))(reanalysis, number)


def _choose(runs: list[cached_store.Run]) -> tuple[cached_store.Run, Reanalysis | None]:
    if "match" in st.query_params and "run" not in st.query_params:
        st.query_params["run"] = cached_store.run_of_match(st.query_params["match"])
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    with left:
        run = widgets.choose_runs(runs, several=False, label="Run")[0]
    if st.session_state.setdefault("replayed run", run.id) != run.id:
        _forget_match(run)
    agents = tuple(st.query_params.get_all("agent"))
    with right:
        orders = ORDERS if run.kind in kinds_with("SCORES") and not agents else ORDERS[:1]
        failed = cached_store.matches_that_failed(run) if not agents else {}
        order = widgets.choose("Matches", [*orders, *[FAILED] * bool(failed)], "order")
    if order == FAILED:
        listed = failed
    elif order == ORDERS[0]:
        listed = cached_store.latest_matches(run.id, agents)
    else:
        listed = cached_store.extreme_matches(run, order == ORDERS[1])
    if agents:
        labels = list(map(label_of, agents))
        names = distinct([*agents_of(run), *labels])
        some = " and ".join(escape(names[label]) for label in labels)
        st.html(f'Games of {some} · <a href="{escape(address("replay", run=run.id))}">all games of this run</a>')
    if not listed:
        st.info("This run has no such matches." if agents else "This run has no matches.")
        return run, None
    chosen = st.query_params.get("match") or next(iter(listed))
    listed = listed if chosen in listed else {chosen: chosen, **listed}
    words: dict[str, Any] = {"format_func": lambda match: listed.get(match, match), "accept_new_options": True}
    ids = list(listed)
    match = st.selectbox("Match (or paste an id)", ids, ids.index(chosen), key="match", on_change=_rewind, **words)
    if not match:
        return run, None
    st.query_params["match"] = match
    return run, cached_store.reanalysis(match)


def _forget_match(run: cached_store.Run) -> None:
    """Forgets the match and the agents of the run shown before."""
    st.session_state["replayed run"] = run.id
    st.session_state.pop("match", None)
    for key in ("match", "agent"):
        st.query_params.pop(key, None)
    _rewind()


def _rewind() -> None:
    st.session_state["move"] = 0


def _step(by: int, last: int) -> None:
    st.session_state["move"] = min(last, max(0, st.session_state.get("move", 0) + by))


def _move(last: int) -> int:
    """Shows the place in the match; returns the number of the moment."""
    if not last:
        return 0
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        for words, by, key in (("first_page", -last, "Home"), ("chevron_left", -1, "Left")):
            st.button("", icon=f":material/{words}:", on_click=_step, args=(by, last), shortcut=key, key=words)
        for words, by, key in (("chevron_right", 1, "Right"), ("last_page", last, "End")):
            st.button("", icon=f":material/{words}:", on_click=_step, args=(by, last), shortcut=key, key=words)
        return int(st.slider("Move", 0, last, key="move", **IN_ADDRESS))


def _moment(reanalysis: Reanalysis, number: int) -> None:
    moment, game = reanalysis.moments[number], reanalysis.game
    left, right = st.columns([1, 1], gap="large")
    thought: Thought | None = None
    with right:
        last = moment.seat < 0  # a seat that failed has lost, in any position
        known = reanalysis.record.scores if last else moment.position.returns
        scores = ", ".join(number_text.number(score) for score in known)
        if last:
            st.markdown(
                f"**The end** after {moment.decided:,} moves · score {scores} · {reanalysis.record.termination}"
            )
            st.caption(plain(reanalysis.record.error))
        else:
            thought = _decision(reanalysis, number, scores)
    with left:
        overlay = _overlay(thought.overlay) if thought else None
        shown = board_svg(game, moment, thought.decision if thought else None, overlay)
        st.image(shown, width=_width(game))


def _overlay(known: Overlay | None) -> Overlay | None:
    """Lets people choose the agent's knowledge to show on the board."""
    if known is None or (known.shares is None and not known.routes):
        return known
    with st.container(horizontal=True, gap="small"):
        # Always both: agents alternate, and switches that come and go would be hard to hit.
        shares = _switch("Probabilities", "probabilities", PROBABILITIES)
        routes = _switch("Paths", "paths", PATHS)
    return Overlay(known.shares if shares else None, known.routes if routes else ())


def _switch(label: str, key: str, meaning: str) -> bool:
    """Returns whether to show something, by default yes. A button, since Streamlit's switches capture arrow keys."""
    on = st.query_params.get(key) != "off"
    icon = f":material/{'check_box' if on else 'check_box_outline_blank'}:"
    st.button(label, key=f"switch {key}", icon=icon, help=meaning, on_click=_turn, args=(key, not on))
    return on


def _turn(key: str, on: bool) -> None:
    if on:
        st.query_params.pop(key, None)
    else:
        st.query_params[key] = "off"


def _decision(reanalysis: Reanalysis, number: int, scores: str) -> Thought | None:
    moment, game = reanalysis.moments[number], reanalysis.game
    agent = reanalysis.record.spec.agents[moment.seat]
    name, action = plain(label_of(agent)), plain(game.action_name(moment.action))
    st.markdown(f"Move {number + 1}: seat {moment.seat}, **{name}**, plays **{action}**")
    if moment.opening:
        st.caption("An opening move; no agent chose it.")
        return None
    patient = reanalysis.record.spec.id in st.session_state.setdefault("asked from the start", set())
    try:
        with st.spinner("Asking the agent again ..."):
            thought = cached_store.thought(reanalysis, number, math.inf if patient else PATIENCE)
    except UserError as error:
        st.info(f"The agent cannot be asked again: {plain(str(error))}")
        return None
    decision = thought.decision
    widgets.show_facts(
        score_before=scores,
        nodes=f"{decision.nodes:,}",
        mean_time_of_a_move=mean_time(reanalysis, moment.seat),
        normalised_certainty=_certainty(reanalysis, number),
    )
    asked = agent_of(agent)
    frame = action_frame(asked, moment, decision)
    visits = visit_bars(frame)
    st.caption("Normalised certainty: 0 % if searches choose every action equally often, 100 % if always the same.")
    if visits:
        widgets.show_figure(visits)
        st.dataframe(frame, hide_index=True, column_config=COLUMNS)
        st.caption(f"Values: {asked.value_unit(game).text}.")
    else:
        st.caption("This agent does not search, so it has no visits or values.")
    st.caption(plain(_how(thought, moment.action, game)))
    if not thought.from_start:
        seconds = (moment.decided + 1) * reanalysis.seconds_per_decision
        st.button(f"Ask again from the first move ({seconds:.0f} s)", on_click=_ask_from_the_start, args=(reanalysis,))
    return thought


def _ask_from_the_start(reanalysis: Reanalysis) -> None:
    """Makes the agent decide all moves of the match again, so it decides as it did then."""
    st.session_state["asked from the start"].add(reanalysis.record.spec.id)


def _certainty(reanalysis: Reanalysis, number: int) -> str:
    """Returns the certainty, searching again if that is quick or requested."""
    seconds = REPEATS * reanalysis.seconds_per_decision
    asked = st.session_state.setdefault("searched again", set())
    key = (reanalysis.record.spec.id, number)
    if seconds > PATIENCE and key not in asked:
        if not st.button(f"Search {REPEATS} times ({seconds:.0f} s)"):
            return "..."
        asked.add(key)
    measured = position_certainty(searches_frame(cached_store.searched_again(reanalysis, number, REPEATS)))
    if not len(measured):
        return "only one action"
    return f"{number_text.number(100 * measured['normalised'].iloc[0])} % after {REPEATS} searches"


def _how(thought: Thought, action: int, game: Game) -> str:
    if not thought.from_start:
        return "Asked only here, with the match's seed; in the match, earlier moves may have led to another choice."
    if thought.decision.action != action:
        again = game.action_name(thought.decision.action)
        return f"Asked again, it chose {again}: searches limited by time or on several threads are not reproducible."
    return "Asked again from the first move, with the match's seeds, it makes the same choice."


def _width(game: Game) -> int:
    return 460 if game.num_cells <= 25 else 620
