"""Addresses of pages: where a run, some agents' games, or one match is shown; what pages, tables, reports link to."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from urllib.parse import quote, urlencode

from turnier.core.errors import UserError
from turnier.games.registry import game_of
from turnier.results.store.store import Run

HOME = "./"  # the page that lists all runs
Query = str | Iterable[str]


def address(page: str, **query: Query) -> str:
    """Returns the address of a page with its filters, relative to the app's."""
    return f"{page}?{urlencode(query, doseq=True, quote_via=quote)}" if query else page


def pages_of(run: Run) -> dict[str, str]:
    """Returns the pages that show a run, its own one first: title -> address."""
    scores = {"Scores": address("scores", runs=run.id)}
    replay = {"Replay": address("replay", run=run.id)}
    if run.kind == "study":
        return {"Studies": address("studies", run=run.id), **replay}
    if run.kind == "comparison":
        return {"Comparison": address("comparison", run=run.id), **scores, **replay}
    if run.kind == "tournament":
        against = {"Tournament": address("tournament", run=run.id)}
        return {**scores, **against, **replay} if _is_alone(run) else {**against, **scores, **replay}
    if run.kind == "judging":
        return {"Judging": address("judging", run=run.id)}
    if run.kind == "certainty":
        return {"Certainty": address("certainty", runs=run.id), **scores, **replay}
    if run.kind == "training":
        return {"Training": address("training", runs=run.id), **scores, **replay}
    if run.kind == "experiment":
        document = str(run.definition.get("document", ""))
        reports = {"Reports": address("reports", document=document, experiment=run.id)} if document else {}
        return {**reports, **scores, **replay}
    return replay


def run_address(run: Run) -> str:
    """Returns the address of a run's own page."""
    return next(iter(pages_of(run).values()))


def games_address(run: str, *agents: str) -> str:
    """Returns the address of a run's games, only of those in which all of some agents (full texts) play."""
    return address("replay", run=run, **({"agent": agents} if agents else {}))


def match_address(run: str, match: str, move: int | None = None) -> str:
    """Returns the address of a match of a run, from its start or at a move."""
    return address("replay", run=run, match=match, **({} if move is None else {"move": str(move)}))


def _is_alone(run: Run) -> bool:
    """Whether the agents of a run play a single-player game."""
    with contextlib.suppress(UserError, KeyError):
        return game_of(str(run.definition["game"])).num_seats == 1
    return False
