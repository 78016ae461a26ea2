"""Addresses of pages for links in pages, tables and reports: of a run, of some agents' games, or of one match."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from urllib.parse import quote, urlencode

from turnier.agents.registry import make_agent
from turnier.core.errors import UserError
from turnier.dashboards.sections import kind_of, page_of
from turnier.games.registry import game_of
from turnier.results.store.store import Run

HOME = "./"  # the page that lists all runs
Query = str | Iterable[str]


def address(page: str, **query: Query) -> str:
    """Returns the address of a page with its filters, relative to the app's."""
    return f"{page}?{urlencode(query, doseq=True, quote_via=quote)}" if query else page


def pages_of(run: Run) -> dict[str, str]:
    """Returns the pages of a run, its own first: title -> address."""
    kind, page = kind_of(run.kind), page_of(run.kind)
    named = {"runs" if hasattr(kind, "together") else "run": run.id}
    own = {page.title: address(page.address, **named)} if page else {}
    others = kind.pages(run) if hasattr(kind, "pages") else {}
    scores = {"Scores": address("scores", runs=run.id)} if getattr(kind, "SCORES", False) else {}
    replay = {"Replay": address("replay", run=run.id)} if getattr(kind, "REPLAYS", True) else {}
    if getattr(kind, "RATES", False) and _is_alone(run):
        return {**scores, **own, **others, **replay}
    return {**own, **others, **scores, **replay}


def run_address(run: Run) -> str:
    """Returns the address of a run's own page."""
    return next(iter(pages_of(run).values()))


def games_address(run: str, *agents: str) -> str:
    """Returns the address of a run's games, only of those with all of some agents (full texts)."""
    return address("replay", run=run, **({"agent": agents} if agents else {}))


def match_address(run: str, match: str, move: int | None = None) -> str:
    """Returns the address of a match of a run, from its start or at a move."""
    return address("replay", run=run, match=match, **({} if move is None else {"move": str(move)}))


def _is_alone(run: Run) -> bool:
    """Whether the agents of a run play a single-player game."""
    with contextlib.suppress(UserError, KeyError):
        return game_of(str(run.definition["game"])).num_seats == 1
    return False


def games_of(run: str, agent: str) -> str:
    """Returns the address of an agent's games in a run; of all of them if this version does not know the agent."""
    with contextlib.suppress(UserError):
        return games_address(run, make_agent(agent).full_text())
    return games_address(run)
