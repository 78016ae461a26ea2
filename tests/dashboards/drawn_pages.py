"""Draws a page without a browser, and reads it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from turnier.arena.match import MatchSpec
from turnier.arena.play import play_match
from turnier.dashboards import STORE_VARIABLE
from turnier.dashboards.app.navigation import PAGES as NAMED
from turnier.results.store.store import Store

PAGES = tuple(NAMED)
PICTURE = "![a](http://example.org/a.png) :red[x] :material/home: $x$ <i>"


def store_named(store: Store) -> str:
    """Stores a tournament of a player whose name would be a picture in Markdown; returns its id."""
    played = [play_match(MatchSpec("tictactoe", ("random", "random"), seed)) for seed in range(1, 5)]
    store.begin_run("tournament:named", "tournament", "tictactoe", {"game": "tictactoe"})
    named = (PICTURE, "random")
    store.append("tournament:named", [replace(one, spec=replace(one.spec, agents=named)) for one in played])
    return "tournament:named"


def draw(name: str) -> None:
    from turnier.dashboards.app.navigation import PAGES
    from turnier.dashboards.app.widgets import show_errors

    show_errors(PAGES[name][2])()


def look(name: str, **filters: str) -> AppTest:
    page = AppTest.from_function(draw, args=(name,), default_timeout=60)
    for key, value in filters.items():
        page.query_params[key] = value
    page.run()
    assert not page.exception, [e.message for e in page.exception]
    return page


def markdown(page: AppTest) -> str:
    kinds = (page.markdown, page.caption, page.info, page.error, page.warning)
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def texts(page: AppTest) -> str:
    """Returns what people read, in which escapes of Markdown are not seen."""
    read = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown(page)).replace("\u200b", "")
    shown = [read, *(str(element.value) for element in page.code)]
    return "\n".join(
        shown + [element.proto.body for element in page.get("html") if "<style>" not in element.proto.body]
    )


def charts(page: AppTest) -> int:
    return len(page.get("vega_lite_chart"))


def show_store(url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Has pages show a store that they know nothing of yet; returns its URL."""
    monkeypatch.setenv(STORE_VARIABLE, url)
    st.cache_data.clear()
    st.cache_resource.clear()
    return url


def at_another_store(name: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    show_store(f"sqlite:///{path}", monkeypatch)
    return texts(look(name))
