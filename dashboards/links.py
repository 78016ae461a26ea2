"""Addresses of pages, for links in pages and tables: of a run, of some agents' games, or of one match."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable
from urllib.parse import quote, urlencode

from turnier.agents.registry import make_agent
from turnier.core.errors import UserError

HOME = "/"  # the page that lists all runs
SIDES = "agent", "against"  # the parameters of addresses that name two agents
BEHIND = "of", "first", "last", "legal"  # those that name positions: an agent, phases, a number of legal actions
Query = str | Iterable[str]
_quoted = functools.lru_cache(4096)(quote)  # tables of pairs name every agent many times


def address(page: str, **query: Query) -> str:
    """Returns the address of a page with its filters."""
    return f"{page}?{urlencode(query, doseq=True, quote_via=_quoted)}" if query else page


def run_address(run: str, tab: str = "", **query: Query) -> str:
    """Returns the address of a run, by its id, or of one of its tabs."""
    place = f"/runs/{_quoted(run, safe=':')}"
    return address(f"{place}/{quote(tab, safe='')}" if tab else place, **query)


def games_address(run: str, *agents: str, game: str = "") -> str:
    """Returns the address of a run's games, only of those with one or two agents, and of a game (full texts)."""
    return run_address(run, "games", **dict(zip(SIDES, agents, strict=False)), **({"game": game} if game else {}))


def match_address(run: str, match: str, move: int | None = None) -> str:
    """Returns the address of a match on the board, which leads back to a run; from its start or at a move."""
    place = address(f"/match/{quote(match, safe='')}", run=run)
    return place if move is None else f"{place}#move={move + 1}"


def play_address(game: str, agent: str) -> str:
    """Returns the address where a person plays a game with an agent."""
    return address("/play", game=game, agent=agent)


def games_of(run: str, agent: str) -> str:
    """Returns the address of an agent's games in a run; of all of them if this version does not know the agent."""
    with contextlib.suppress(UserError):
        return games_address(run, make_agent(agent).full_text())
    return games_address(run)
