"""The elements of pages: titles, figures and tables with downloads, choices kept in the URL, and empty pages."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from turnier.core.errors import UserError, unknown
from turnier.dashboards.app import cached_store, opened_store
from turnier.dashboards.figures.charts import Figure, image, table_csv
from turnier.dashboards.links import HOME, pages_of
from turnier.dashboards.run_heading import titled
from turnier.dashboards.tables import formats
from turnier.results.store.progress import LIVE
from turnier.results.store.store import Run
from turnier.runs.declared.kinds import KINDS

REFRESH_SECONDS = 3.0  # s between two updates of a running run
_HEAD = "head of the page"
MAX_OPEN = 30  # rows of a table without scrolling
LINKS = ("replay",)  # columns of tables with addresses
IN_ADDRESS: dict[str, Any] = {"bind": "query-params"}


def plain(text: str) -> str:
    """Returns Markdown that shows a text literally: names, which anybody may choose, must not become pictures."""
    escaped = re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)
    # Icons and emoji are inserted after unescaping: a zero-width space separates their colons.
    return re.sub(r"\\:(?=[\w\\/+-]+:)", "\\:\u200b", escaped)


def show_errors(draw: Callable[..., None]) -> Callable[..., None]:
    """Returns `draw` so that it shows a UserError as its sentence."""

    @functools.wraps(draw)
    def shown(*words: Any, **named: Any) -> None:
        try:
            draw(*words, **named)
        except UserError as error:
            st.error(plain(str(error)), icon=":material/error:")

    return shown


def begin_page(name: str) -> None:
    """Reserves the head of a page for its title, which is the page's name at first."""
    st.session_state[_HEAD] = (name, st.empty())
    show_title()


def show_title(about: str = "", runs: Sequence[Run] = ()) -> None:
    """Writes the title of the page and its browser tab: name, subject, and links to home and other pages of a single
    run.

    To be called outside of `refresh`, as soon as a page knows its subject.
    """
    page, place = st.session_state.get(_HEAD) or ("", st.empty())
    st.set_page_config(" · ".join(part for part in (about, page, "Turnier") if part))
    others = pages_of(runs[0]) if len(runs) == 1 else {}
    ways = {"Runs": HOME, **others}
    links = "".join(f'<a href="{escape(to)}">{title}</a>' for title, to in ways.items() if title != page)
    name = f"{escape(page)}<span>: {escape(about)}</span>" if about else escape(page)
    place.html(f'<div class="title"><h1>{name}</h1><nav>{links}</nav></div>')


def refresh(draw: Callable[[], None], live: bool, every: float = REFRESH_SECONDS) -> None:
    """Draws a part of a page; if `live`, again every few seconds, without the rest of the page."""
    st.fragment(show_errors(draw), run_every=every if live else None)()


def is_live(runs: Sequence[Run]) -> bool:
    """Returns whether one of the runs is running."""
    chosen = {run.id for run in runs}
    return any(run.run in chosen and run.state in LIVE for run in cached_store.progress())


def show_figure(figure: Figure, **look: Any) -> None:
    """Shows a figure with its note and its downloads."""
    st.markdown(f"##### {plain(figure.title)}")
    if st.context.theme.type == "dark":
        st.vega_lite_chart(on_dark(figure.chart), width="stretch", theme=None, **look)
    else:
        st.altair_chart(figure.chart, width="stretch", theme=None, **look)
    left, right = st.columns([4, 1])
    left.caption(plain(figure.note))
    with right.popover("Save", icon=":material/download:", type="tertiary", width="content"):
        _download(figure, "SVG", "image/svg+xml", lambda: image(figure, "svg"))
        _download(figure, "PNG", "image/png", lambda: image(figure, "png"))
        _download(figure, "CSV", "text/csv", lambda: table_csv(figure.data))


def _download(figure: Figure, kind: str, mime: str, data: Callable[[], bytes]) -> None:
    name = f"{figure.file_name}.{kind.lower()}"
    st.download_button(kind, data, name, mime, key=f"{figure.title} {kind}", on_click="ignore", width="stretch")


def show_table(title: str, frame: pd.DataFrame, note: str = "", **look: Any) -> None:
    """Shows a table whose columns name their units; columns sort as numbers, and `replay` has links."""
    st.markdown(f"##### {plain(title)}")
    number, link = st.column_config.NumberColumn, st.column_config.LinkColumn
    columns: dict[str, Any] = {name: number(format=form) for name, form in formats(frame).items()}
    columns |= {name: link(display_text=name, width="small") for name in LINKS if name in frame.columns}
    st.dataframe(frame, hide_index=True, width="stretch", column_config=columns, placeholder="", **look)
    if note:
        st.caption(plain(note))


def height(frame: pd.DataFrame) -> str:
    """Returns the height at which a table need not be scrolled."""
    return "content" if len(frame) <= MAX_OPEN else "auto"


def show_facts(**known: str) -> None:
    """Shows a few facts side by side, wrapped on narrow screens."""
    items = (
        f"<div><small>{escape(name.replace('_', ' '))}</small><b>{escape(text)}</b></div>"
        for name, text in known.items()
    )
    st.html(f'<div class="facts">{"".join(items)}</div>')


def show_empty(what: str, *commands: str) -> None:
    """Says that there is nothing to show yet, with commands that change this."""
    st.info(f"{what} Type:", icon=":material/terminal:")
    where = opened_store.option()
    lines = [command + where if command.startswith(("turnier ", "python ")) else command for command in commands]
    st.code("\n".join(lines), language="bash")


def choose_runs(runs: Sequence[Run], several: bool = True, label: str = "Runs") -> list[Run]:
    """Lets people choose runs; the URL keeps their ids and accepts the beginning of an id.

    Raises UserError if the URL names a run that is not among them.
    """
    named = {run.id: run for run in runs}
    shown = {run.id: f"{titled(run)} · {run.kind} · {run.created:%Y-%m-%d %H:%M} · {_short(run.id)}" for run in runs}
    ids = list(named)
    words: dict[str, Any] = {"options": ids, "format_func": lambda run: shown.get(run, run)}
    key = "runs" if several else "run"
    named_so = [text for name in ("run", "runs", "study") for text in st.query_params.get_all(name)]
    asked = [_asked_run(text, runs, ids) for text in named_so]
    first = next((run for kind in KINDS for run in runs if run.kind == kind), runs[0])
    chosen_ids = list(dict.fromkeys(asked)) or [first.id]
    if several:
        chosen = list(st.multiselect(label, key=key, default=chosen_ids, **words))
    else:
        chosen = [st.selectbox(label, key=key, index=ids.index(chosen_ids[0]), **words)]
    st.query_params[key] = chosen if several else chosen[0]
    return [named[run] for run in chosen]


def _asked_run(text: str, shown: Sequence[Run], ids: Sequence[str]) -> str:
    """Returns the id of the run in an address; raises UserError if it is not among those shown."""
    if text in ids:
        return text
    found = cached_store.store().find_run(text)
    if found.id not in ids:
        kinds = " or ".join(sorted({run.kind for run in shown}))
        raise UserError(
            f"this page shows a {kinds} that has results, got the {found.kind} {found.id} ({found.name}); choose"
            " another run, or begin with the page Runs."
        )
    return found.id


def refuse_unknown(kind: str, key: str, options: Sequence[str]) -> None:
    """Raises UserError if the URL names none of the options, rather than showing another one."""
    named = st.query_params.get(key)
    if named is not None and named not in options:
        raise unknown(kind, named, options)


def choose(label: str, options: Sequence[str], key: str, **words: Any) -> str:
    """Lets people choose one of several options; a single option is returned without a widget."""
    if len(options) == 1:
        return options[0]
    _keep_if(key, lambda chosen: chosen in options, options[0])
    return str(st.selectbox(label, options, key=key, **words, **IN_ADDRESS))


def choose_or_none(label: str, options: Sequence[str], key: str, placeholder: str) -> str | None:
    """Lets people choose one of several options, or none, which is the default."""
    _keep_if(key, lambda chosen: chosen in options, None)
    words: dict[str, Any] = {"index": None, "placeholder": placeholder, **IN_ADDRESS}
    chosen = st.selectbox(label, options, key=key, **words)
    return None if chosen is None else str(chosen)


def choose_view(label: str, options: Sequence[str], key: str) -> str:
    """Lets people choose one of a few options, shown side by side."""
    _keep_if(key, lambda chosen: chosen in options, options[0])
    chosen = st.segmented_control(label, options, default=options[0], key=key, required=True, **IN_ADDRESS)
    return str(chosen)


def choose_several(label: str, options: Sequence[str], key: str, optional: bool = False) -> list[str]:
    """Lets people choose some of several options; none means all, also those that come later, unless `optional`."""
    if len(options) == 1 and not optional:
        return list(options)
    _keep_if(key, lambda chosen: set(chosen) <= set(options), [])
    words: dict[str, Any] = {"placeholder": "none" if optional else "all", **IN_ADDRESS}
    return list(st.multiselect(label, options, key=key, **words)) or ([] if optional else list(options))


def _keep_if(key: str, fits: Callable[[Any], bool], default: Any) -> None:
    """Resets a choice that no longer fits the options, such as agents of another run."""
    if key in st.session_state and not fits(st.session_state[key]):
        st.session_state[key] = default


def _short(run: str) -> str:
    return run.partition(":")[2][:8] or run


DARK_INKS, LIGHT_INK = ("#000000", "#222", "#444", "#555"), "#e8e8e8"


def on_dark(chart: Any) -> dict[str, Any]:
    """Returns the Vega-Lite specification of a chart for pages with a dark background: transparent, with light ink."""
    spec = _relit(chart.to_dict())
    look = spec["config"]
    ink = {"labelColor": LIGHT_INK, "titleColor": LIGHT_INK}
    look["axis"] |= ink | {"gridColor": "#3d3d3d", "domainColor": "#8c8c8c", "tickColor": "#8c8c8c"}
    look["legend"] |= ink
    look["title"] |= {"color": LIGHT_INK}
    return dict(spec | {"config": look | {"background": "transparent", "text": {"color": LIGHT_INK}}})


def _relit(part: Any) -> Any:
    """Returns a part of a specification with light ink in place of dark ink; text on coloured cells stays."""
    if isinstance(part, dict):
        return {key: value if key in ("data", "datasets") else _relit(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_relit(value) for value in part]
    return LIGHT_INK if part in DARK_INKS else part
