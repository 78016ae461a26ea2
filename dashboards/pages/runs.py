"""Runs, the first page: each run's agents, result, state and note; live while runs are running."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any

import streamlit as st

from turnier.core.errors import UserError
from turnier.core.number_text import number
from turnier.dashboards import markup
from turnier.dashboards.agent_names import games_of, planned
from turnier.dashboards.app import cached_store, widgets
from turnier.dashboards.links import run_address
from turnier.dashboards.run_heading import named_agents
from turnier.dashboards.sections import Head
from turnier.results.store.progress import FINISHED, RUNNING, STOPPED, UNKNOWN, RunProgress

PAGE = 30  # runs shown at once
BEAT = 2.0  # s
STATES = (RUNNING, FINISHED, STOPPED, UNKNOWN)
ALWAYS_LINKED = ("study", "training")  # kinds whose pages show runs without games
STYLE = """<style>
.run { display: grid; grid-template-columns: 3fr 4fr 6fr 3fr; gap: 0.2rem 1.4rem; padding: 0.7rem 0.2rem;
  border-top: 1px solid color-mix(in srgb, currentColor 18%, transparent); overflow-wrap: anywhere }
.run b { font-weight: 600 } .run small { display: block; opacity: 0.75; font-size: 0.85rem }
.run .agents { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 4; overflow: hidden }
.run .verdict { border-left: 0.4rem solid; padding-left: 0.7rem }
.run .running { color: light-dark(#00704f, #4fd0a5); font-weight: 600 }
.run .stopped { color: light-dark(#a34700, #f2a56d); font-weight: 600 }
.run .note { grid-column: 1 / -1; font-style: italic }
@media (max-width: 900px) { .run { grid-template-columns: 1fr } }
</style>"""


def draw() -> None:
    st.html(STYLE)
    known = {run.id: run for run in cached_store.all_runs()}
    if not known:
        widgets.show_empty("No run is stored here yet.", 'turnier tournament 2048 random "mc(iterations=50)"')
        widgets.refresh(lambda: _renew(known), live=True, every=BEAT)
        return
    with st.container(horizontal=True):
        game = _filter("Game", sorted({game for run in known.values() for game in games_of(run)}), "game")
        kind = _filter("Kind", sorted({run.kind for run in known.values()}), "kind")
        state = _filter("State", STATES, "state")
    widgets.refresh(lambda: _draw(known, game, kind, state), live=True, every=BEAT)


def _filter(title: str, options: Sequence[str], key: str) -> str | None:
    words: dict[str, Any] = {"index": None, "placeholder": "all", "key": key, **widgets.IN_ADDRESS}
    chosen: str | None = st.selectbox(title, options, **words)
    return chosen


def _renew(known: Mapping[str, cached_store.Run]) -> None:
    """Draws the whole page again if runs have come, gone or been renamed, since its filters name them."""
    if {run.id: run.name for run in cached_store.all_runs()} != {run.id: run.name for run in known.values()}:
        st.rerun()


def _draw(known: Mapping[str, cached_store.Run], game: str | None, kind: str | None, state: str | None) -> None:
    _renew(known)
    runs = [
        run
        for run in cached_store.progress()[::-1]
        if run.run in known
        and game in (None, *games_of(known[run.run]))
        and kind in (None, run.kind)
        and state in (None, run.state)
    ]
    playing, others = ([run for run in runs if (run.state == RUNNING) is live] for live in (True, False))
    st.markdown(f"#### {len(playing)} running" if playing else "#### Nothing is running")
    for run in playing:
        _show_running(run, known[run.run])
    if not others:
        return
    shown = st.session_state.get("shown runs", PAGE)
    st.markdown("##### Past runs")
    st.html("".join(_row(run, known[run.run]) for run in others[:shown]))
    if len(others) > shown:
        st.button(f"Show more of {len(others):,} runs", on_click=_show_more)
    st.caption(
        "Times are UTC. To resume a stopped run, repeat its command. To annotate, rename or delete runs:"
        " `turnier runs note`, `turnier runs rename`, `turnier runs delete`."
    )


def _show_more() -> None:
    st.session_state["shown runs"] = st.session_state.get("shown runs", PAGE) + PAGE


def _show_running(run: RunProgress, stored: cached_store.Run) -> None:
    done, total = run.done or 0, max(1, run.planned or 1)
    later = _head(stored)[0].unplayed
    with st.container(border=True):
        st.html(_row(run, stored))
        st.progress(min(1.0, done / total))
        widgets.show_facts(
            done=f"{done:,} of {total:,} {run.unit}",
            per_second=rate_text(run.rate) or "...",
            time_left="..." if run.seconds_left is None or later else time_text(run.seconds_left),
            running_for=time_text(_since(run.started or run.began)),
        )
        if later:
            st.caption("The time left is known once every agent has played: some think longer than others.")


def _row(progress: RunProgress, run: cached_store.Run) -> str:
    """Returns a run as a row: name and kind, agents, result, state; its note below."""
    name = f"<b>{escape(cached_store.run_title(run))}</b>"
    if progress.stored or run.kind in ALWAYS_LINKED:
        name = f'<a href="{escape(run_address(run))}">{name}</a>'
    head, failed = _head(run)
    agents = named_agents(head.agents or planned(run))
    kind = "" if run.id.startswith(f"{run.kind}:") else f"{run.kind} · "
    note = f'<div class="note">{escape(progress.note)}</div>' if progress.note else ""
    return (
        f'<div class="run"><div>{name}<small>{escape(kind)}{escape(run.id)}</small></div>'
        f'<div class="agents">{escape(agents)}</div>{_result(head, failed)}{_state(progress)}{note}</div>'
    )


def _head(run: cached_store.Run) -> tuple[Head, str]:
    try:
        return cached_store.head(run)
    except UserError as error:
        return Head(str(error)), ""


def _result(head: Head, failed: str) -> str:
    result = " ".join(filter(None, (escape(head.sentence), markup.failed(failed))))
    if not head.colour:
        return f"<div>{result}</div>"
    return f'<div class="verdict" style="border-color: {head.colour}">{result}</div>'


def _state(run: RunProgress) -> str:
    done = f"{run.stored:,} stored" if run.done is None else f"{run.done:,} of {run.planned:,} {run.unit}"
    took = f", took {time_text(_seconds(run.started, run.ended))}" if run.started and run.ended else ""
    begun = datetime.fromisoformat(run.began)
    return (
        f'<div><span class="{escape(run.state)}">{escape(run.state)}</span>, {escape(done)}'
        f"<small>{begun:%Y-%m-%d %H:%M}{took}</small></div>"
    )


def rate_text(rate: float | None) -> str:
    return "" if rate is None else number(rate)


def time_text(seconds: float) -> str:
    """Returns a time span as hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))


def _since(moment: str) -> float:
    return max(0.0, (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds())


def _seconds(first: str, last: str) -> float:
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()
