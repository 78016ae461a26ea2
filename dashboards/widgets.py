"""What pages are made of: figures and tables with their downloads, choices that the address keeps, empty pages."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from turnier.core.errors import UserError
from turnier.dashboards import cached_store
from turnier.dashboards.figures.charts import Figure, image, shortened, table_csv
from turnier.results.store.progress import RUNNING
from turnier.results.store.store import Run

REFRESH_SECONDS = 3.0  # s between two looks at a run that is playing
PREFERRED = ("tournament", "comparison", "certainty", "training")  # kinds that are chosen first
IN_ADDRESS: dict[str, Any] = {"bind": "query-params"}


def show_errors(draw: Callable[..., None]) -> Callable[..., None]:
    """Shows a UserError of a page, or of a part that renews itself, as its sentence."""

    @functools.wraps(draw)
    def shown(*words: Any, **named: Any) -> None:
        try:
            draw(*words, **named)
        except UserError as error:
            st.error(str(error), icon=":material/error:")

    return shown


def refresh(draw: Callable[[], None], live: bool, every: float = REFRESH_SECONDS) -> None:
    """Draws a part of a page; while a run is playing again every few seconds, without the rest of the page."""
    st.fragment(show_errors(draw), run_every=every if live else None)()


def is_live(runs: Sequence[Run]) -> bool:
    """Whether one of the runs is playing."""
    chosen = {run.id for run in runs}
    return any(run.run in chosen and run.state == RUNNING for run in cached_store.progress())


def show_figure(figure: Figure) -> None:
    """Shows a figure with its note and its downloads."""
    st.markdown(f"##### {figure.title}")
    st.altair_chart(figure.chart, width="stretch", theme=None)
    left, right = st.columns([4, 1])
    left.caption(figure.note)
    with right.popover("Save", icon=":material/download:", type="tertiary", width="content"):
        _download(figure, "SVG", "image/svg+xml", lambda: image(figure, "svg"))
        _download(figure, "PNG", "image/png", lambda: image(figure, "png"))
        _download(figure, "CSV", "text/csv", lambda: table_csv(figure.data))


def _download(figure: Figure, kind: str, mime: str, data: Callable[[], bytes]) -> None:
    name = f"{figure.file_name}.{kind.lower()}"
    st.download_button(kind, data, name, mime, key=f"{figure.title} {kind}", on_click="ignore", width="stretch")


def show_table(title: str, frame: pd.DataFrame, note: str = "", **look: Any) -> None:
    """Shows a table whose columns say their units; its tool bar saves it as CSV."""
    st.markdown(f"##### {title}")
    st.dataframe(frame, hide_index=True, width="stretch", **look)
    if note:
        st.caption(note)


def show_facts(**known: str) -> None:
    """Shows a few facts side by side, and below each other where there is no room."""
    items = (
        f"<div><small>{escape(name.replace('_', ' '))}</small><b>{escape(text)}</b></div>"
        for name, text in known.items()
    )
    st.html(f'<div class="facts">{"".join(items)}</div>')


def show_empty(what: str, *commands: str) -> None:
    """Says that there is nothing to show yet, and what to type."""
    st.info(f"{what} Type:", icon=":material/terminal:")
    st.code("\n".join(commands), language="bash")


def shown_first(runs: Sequence[Run]) -> Run:
    """Returns the run that a page shows until somebody chooses."""
    return next((run for kind in PREFERRED for run in runs if run.kind == kind), runs[0])


def choose_runs(runs: Sequence[Run], several: bool = True, label: str = "Runs") -> list[Run]:
    """Lets people choose among runs; the address keeps their ids, and takes how an id begins."""
    named = {run.id: run for run in runs}
    shown = {run.id: f"{run.name} · {run.kind} · {run.created:%Y-%m-%d %H:%M} · {_short(run.id)}" for run in runs}
    ids = list(named)
    words: dict[str, Any] = {"options": ids, "format_func": lambda run: shown.get(run, run)}
    key = "runs" if several else "run"
    wanted = [run for text in st.query_params.get_all(key) for run in ids if run.startswith(text)]
    wanted = wanted or [shown_first(runs).id]
    if several:
        chosen = list(st.multiselect(label, key=key, default=wanted, **words))
    else:
        chosen = [st.selectbox(label, key=key, index=ids.index(wanted[0]), **words)]
    st.query_params[key] = chosen if several else chosen[0]
    return [named[run] for run in chosen]


def choose(label: str, options: Sequence[str], key: str, **words: Any) -> str:
    """Lets people choose one of several; where there is but one, nothing is shown."""
    if len(options) == 1:
        return options[0]
    _keep_if(key, lambda chosen: chosen in options, options[0])
    return str(st.selectbox(label, options, key=key, **words, **IN_ADDRESS))


def choose_game(games: Sequence[str]) -> str:
    """Lets people choose a game, shown in its short form."""
    return choose("Game", games, "game", format_func=cached_store.short_game)


def choose_view(label: str, options: Sequence[str], key: str) -> str:
    """Lets people choose one of a few, side by side."""
    chosen = st.segmented_control(label, options, default=options[0], key=key, required=True, **IN_ADDRESS)
    return str(chosen)


def choose_several(label: str, options: Sequence[str], key: str, most: int = 12) -> list[str]:
    """Lets people leave out some of several; none left out by default."""
    if len(options) == 1:
        return list(options)
    _keep_if(key, lambda chosen: bool(set(chosen) & set(options)), list(options)[:most])
    words: dict[str, Any] = {"default": list(options)[:most], "format_func": shortened, **IN_ADDRESS}
    return list(st.multiselect(label, options, key=key, **words))


def _keep_if(key: str, fits: Callable[[Any], bool], default: Any) -> None:
    """Goes back to the default where what was chosen is none of the options now, such as agents of another run."""
    if key in st.session_state and not fits(st.session_state[key]):
        st.session_state[key] = default


def _short(run: str) -> str:
    return run.partition(":")[2][:8] or run
