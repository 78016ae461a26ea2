"""The store that the pages show, opened to read; an empty one in place of a store that does not exist yet."""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import tempfile

import streamlit as st

from turnier.dashboards import STORE_VARIABLE
from turnier.results.databases.urls import parse, shown
from turnier.results.store import DEFAULT_URL, default_url
from turnier.results.store.database import NoResults
from turnier.results.store.store import Store

PATIENCE = 5  # s that a page waits for a locked database


def url() -> str:
    return os.environ.get(STORE_VARIABLE, DEFAULT_URL)


def option() -> str:
    """Returns the option with which commands use this store; nothing for the default store."""
    return "" if url() == default_url() else f" --store {shlex.quote(shown(parse(url())))}"


def opened(url: str) -> Store:
    """Returns the store at a URL; raises UserError if it cannot be read."""
    try:
        return _existing(url)
    except NoResults:
        return _empty()


@st.cache_resource(ttl=300, show_spinner=False)
def _existing(url: str) -> Store:
    return Store.open(url, read_only=True, patience=PATIENCE)


@st.cache_resource(show_spinner=False)
def _empty() -> Store:
    folder = tempfile.mkdtemp(prefix="turnier-empty-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Store.open(f"sqlite:///{folder}/empty.db")
