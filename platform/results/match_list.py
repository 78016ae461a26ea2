"""The latest matches of a run, from which users choose one to replay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import exists, select

from ..agents.registry import label_of
from ..arena.match import MatchRecord
from ..core.errors import UserError
from ..core.number_text import number
from .integrity.match_rows import DamagedMatch
from .packed.table import is_id
from .store.schema import matches, run_matches, runs, seats
from .store.store import Store


class ListedMatch(NamedTuple):
    """A match, and a text with its agents and scores, or that it is damaged."""

    id: str
    text: str


def list_matches(store: Store, run: str, agents: Sequence[str] = (), limit: int = 100) -> list[ListedMatch]:
    """Returns a run's latest matches, the most recent first; only those with all of some agents."""
    seated = [
        exists().where(seats.c.match_number == run_matches.c.match_number, seats.c.agent == agent) for agent in agents
    ]
    numbers = (
        select(run_matches.c.match_number)
        .where(run_matches.c.run_id == run, *seated)
        .order_by(run_matches.c.match_number.desc())
        .limit(limit)
    )
    c = matches.c
    query = select(c.created, c.number, c.id).where(c.number.in_(numbers.scalar_subquery()))
    with store.database.reading() as connection:
        latest = [tuple(row) for row in connection.execute(query)]
        latest += store.packed.latest(connection, run, agents, limit)
    ids = [match_id for _, _, match_id in sorted(latest, reverse=True)[:limit]]
    return [_listed(found) for found in store.records_or_damage(ids)]


def _listed(match: MatchRecord | DamagedMatch) -> ListedMatch:
    if isinstance(match, DamagedMatch):
        return ListedMatch(match.id, f"damaged: {match.reason}")
    scores = (
        f"{number(score)} {label_of(agent)}" for score, agent in zip(match.scores, match.spec.agents, strict=True)
    )
    return ListedMatch(match.spec.id, f"{' : '.join(scores)} · seed {match.spec.seed}")


def newest_run_of(store: Store, match: str) -> str:
    """Returns the id of the newest run that has a match; raises UserError if no run has it."""
    having = select(run_matches.c.run_id).join(matches, matches.c.number == run_matches.c.match_number)
    query = having.join(runs, runs.c.id == run_matches.c.run_id).where(matches.c.id == match)
    with store.database.reading() as connection:
        found = connection.scalar(query.order_by(runs.c.created.desc()).limit(1))
        for packed, _ in store.packed.with_ids(connection, [match] if is_id(match) else []):
            found = packed.run_id
    if found is None:
        raise UserError(f"a match must be stored to be shown, but {match!r} is not; copy its id from a table.")
    return str(found)


def full_ids(store: Store, shorts: Iterable[int]) -> dict[int, str]:
    """Returns the ids of matches by their numbers in a `matches_frame` without ids; unknown ones are left out."""
    wanted = list(shorts)
    with store.database.reading() as connection:
        ids = store.packed.with_marks(connection, wanted)
        for short in wanted:
            first = f"{short:015x}"
            query = select(matches.c.id).where(matches.c.id >= first, matches.c.id < first + "g")
            match = connection.scalar(query)
            if match is not None:
                ids[short] = match
    return ids
