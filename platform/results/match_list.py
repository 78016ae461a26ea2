"""The latest matches of a run, from which users choose a replay."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import exists, select

from turnier.agents.registry import label_of
from turnier.core.errors import UserError
from turnier.core.number_text import number
from turnier.results.store.schema import matches, run_matches, runs, seats
from turnier.results.store.store import Store


class ListedMatch(NamedTuple):
    """A match, and a text that says who scored what."""

    id: str
    text: str


def list_matches(store: Store, run: str, agents: Sequence[str] = (), limit: int = 100) -> list[ListedMatch]:
    """Returns a run's latest matches, the most recent first; only those in which all of some agents play."""
    seated = [
        exists().where(seats.c.match_number == run_matches.c.match_number, seats.c.agent == agent) for agent in agents
    ]
    numbers = (
        select(run_matches.c.match_number)
        .where(run_matches.c.run_id == run, *seated)
        .order_by(run_matches.c.match_number.desc())
        .limit(limit)
    )
    query = (
        select(matches.c.id, matches.c.number, matches.c.seed, seats.c.agent, seats.c.score)
        .join(seats, seats.c.match_number == matches.c.number)
        .where(matches.c.number.in_(numbers.scalar_subquery()))
        .order_by(matches.c.number.desc(), seats.c.seat)
    )
    scores: dict[tuple[str, int], list[str]] = defaultdict(list)
    with store.database.reading() as connection:
        for row in connection.execute(query):
            scores[row.id, row.seed].append(f"{number(row.score)} {label_of(row.agent)}")
    return [ListedMatch(match, f"{' : '.join(seats)} · seed {seed}") for (match, seed), seats in scores.items()]


def newest_run_of(store: Store, match: str) -> str:
    """Returns the id of the newest run that has a match; raises UserError where no run has it."""
    having = select(run_matches.c.run_id).join(matches, matches.c.number == run_matches.c.match_number)
    query = having.join(runs, runs.c.id == run_matches.c.run_id).where(matches.c.id == match)
    with store.database.reading() as connection:
        found = connection.scalar(query.order_by(runs.c.created.desc()).limit(1))
    if found is None:
        raise UserError(f"a match must be stored to be shown, but {match!r} is not; copy its id from a table.")
    return str(found)


def full_ids(store: Store, shorts: Iterable[int]) -> dict[int, str]:
    """Returns the ids of matches by the numbers that `matches_frame` has in their place; unknown ones are left out."""
    ids = {}
    with store.database.reading() as connection:
        for short in shorts:
            first = f"{short:015x}"
            query = select(matches.c.id).where(matches.c.id >= first, matches.c.id < first + "g")
            match = connection.scalar(query)
            if match is not None:
                ids[short] = match
    return ids
