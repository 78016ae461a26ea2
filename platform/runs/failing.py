"""Agents that fail in every game: they are not rated, and a run with one stops after the first few."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

from sqlalchemy import select

from ..agents.registry import label_of
from ..arena.match import MatchRecord, MatchSpec, Termination
from ..arena.played import PlayedMatches, names_of, specs_of
from ..arena.repeated_search import SearchSpec
from ..core.errors import UserError
from ..results.store.schema import matches, run_matches, seats
from ..results.store.store import Store

FEW = 8  # failed games after which an agent that has never moved is given up
MANY = 32  # failed games after which an agent that has moved, but has no valid game, is given up
_OUTSIDE = re.compile(r"[^\s(),=\"]+:[A-Za-z_][\w.]*@[0-9a-f]{12}")
_VALID = [end.value for end in Termination if end.has_result and not end.is_failure]


class Recorded(Protocol):
    """A match or a search that was played."""

    @property
    def error(self) -> str: ...

    @property
    def spec(self) -> MatchSpec | SearchSpec: ...

    @property
    def moved_before_failing(self) -> bool: ...

    @property
    def played(self) -> list[tuple[str, bool]]: ...


T = TypeVar("T", bound=Recorded)


def itself(agent: str) -> str:
    """Returns the agent: it stands for itself."""
    return agent


def class_of(agent: str) -> str:
    """Returns the agent's class, which stands for all candidates of a search: a single one may well fail."""
    found = _OUTSIDE.search(agent)  # also inside a time limit or an ensemble
    return found[0] if found else agent.partition("(")[0]


def nowhere(records: Sequence[Recorded]) -> None:
    """Stores nothing."""


def none_before(agent: str) -> bool:
    """Returns False: an agent has no valid games from before."""
    return False


class Recorder(Generic[T]):
    """Stores the games of a run, except those of agents that have failed in all of their games so far.

    These wait for the agent's first valid game. Without one they are not stored, and repeating the command plays them
    again. A search needs its games in the store and so keeps them all; it reports failures at its end.

    Args:
        store: stores records.
        who: returns the name that stands for an agent.
        before: whether an agent has valid games from before.
    """

    def __init__(
        self,
        store: Callable[[Sequence[T]], object],
        who: Callable[[str], str] = itself,
        before: Callable[[str], bool] = none_before,
    ) -> None:
        self._store, self._who, self._before = store, who, before
        self._proven: set[str] = set()
        self._failed: Counter[str] = Counter()
        self._moved: set[str] = set()
        self._waiting: list[T] = []

    def append(self, records: Sequence[T]) -> None:
        """Stores games; raises UserError if an agent has failed in its first FEW."""
        fine = records if isinstance(records, PlayedMatches) else [one for one in records if not one.error]
        for names in names_of(specs_of(fine)):
            self._proven.update(self._who(agent) for agent in names[1:])
        ready: Sequence[T] = records
        if fine is not records:
            ready = [record for record in records if not (record.error and self._waits(record))]
        if self._waiting:
            ready = [*ready, *self._released()]
        if kept := records if self._who is class_of else ready:
            self._store(kept)
        for who, count in self._failed.items():
            if count >= (MANY if who in self._moved else FEW):
                self.require_played(who)
                break

    def _waits(self, record: T) -> bool:
        """Whether a game must wait, because an agent that failed in it has no valid game yet."""
        for agent, failed in record.played:
            who = self._who(agent)
            if not failed:
                self._proven.add(who)
            elif who not in self._proven:
                self._failed[who] += 1
                if record.moved_before_failing:
                    self._moved.add(who)
                self._waiting.append(record)
                return True
        return False

    def end(self) -> None:
        """Stores the waiting games: those of agents that have failed in all of their few games and are not rated."""
        if self._waiting and self._who is not class_of:
            self._store(self._waiting)
        self._waiting = []

    def require_played(self, only: str = "") -> None:
        """Raises UserError if an agent, or only that one, has failed in all of its games, including earlier ones."""
        for record in self._waiting:
            agent = next(agent for agent, failed in record.played if failed)
            if only and self._who(agent) != only:
                continue
            if self._who(agent) not in self._proven and not self._before(agent):
                count = self._failed[self._who(agent)]
                games = "its only game" if count == 1 else f"all of its first {count} games"
                raise UserError(
                    f"{label_of(agent)} must play to be rated, but it failed in {games}, such as: {record.error};"
                    " it is not rated: fix it, and repeat the command."
                )
            self._proven.add(self._who(agent))
        if (released := self._released()) and self._who is not class_of:
            self._store(released)

    def _released(self) -> list[T]:
        """Returns the waiting games of agents that now have a valid one."""
        released: list[T] = []
        for record in self._waiting:
            if all(not failed or self._who(agent) in self._proven for agent, failed in record.played):
                released.append(record)
        self._waiting = [record for record in self._waiting if record not in released]
        for who in self._proven & self._failed.keys():
            del self._failed[who]
        return released


@contextmanager
def recording(
    store: Store,
    run_id: str,
    who: Callable[[str], str] = itself,
    append: Callable[[Sequence[MatchRecord]], object] | None = None,
) -> Iterator[Recorder[MatchRecord]]:
    """Yields a recorder for the games of a run, which `append` stores, by default as match rows."""
    before = functools.partial(_has_valid, store, run_id, who)
    recorder: Recorder[MatchRecord] = Recorder(append or functools.partial(store.append, run_id), who, before)
    yield recorder
    recorder.end()


def _has_valid(store: Store, run_id: str, who: Callable[[str], str], agent: str) -> bool:
    """Whether a run has a game without failures of an agent, or of one that it stands for."""
    name, text = who(agent), seats.c.agent
    of_class = text.contains(name, autoescape=True) if "@" in name else text.startswith(f"{name}(", autoescape=True)
    same = text == agent if who is itself else of_class | (text == name)
    query = (
        select(matches.c.number)
        .join(run_matches, run_matches.c.match_number == matches.c.number)
        .join(seats, seats.c.match_number == matches.c.number)
        .where(run_matches.c.run_id == run_id, same, matches.c.termination.in_(_VALID))
    )
    with store.database.reading() as connection:
        if connection.execute(query.limit(1)).first() is not None:
            return True
        agents = store.packed.agents(connection, run_id).get(run_id, ())
        return any(who(agent) == name for agent in agents)
