"""Games of a run that other code of ours has played: their number, and whether this code plays them in the same way.

Stored games are not played again, so a run that continues after an update has games of two codes. Most updates change
no game; playing a sample again shows whether this one did.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Select, exists, func, select

from ..agents.registry import agent_of
from ..arena.match import MatchRecord, MatchSpec, Termination, moves_kept
from ..arena.play import play_matches, prepare_matches
from ..arena.randomness import decided_by_seeds
from ..core.compilation.code_digest import EARLIER, release
from ..core.errors import UserError
from ..core.outside.classes import is_outside
from ..games.registry import game_of
from .integrity.match_rows import DamagedMatch
from .outage import outlasting
from .store.schema import matches, run_matches, seats
from .store.store import Store

GAME_SECONDS, ALL_SECONDS = 0.3, 1.0  # limits of games to play again, each and in total
AT_FIRST, AGAIN = 240, 24  # maximum number of games: read, and of these played again
T = TypeVar("T")
SHOWN_ID = 12  # digits
ENDS = (Termination.NORMAL.value, Termination.LIMIT.value)  # without a failure or a program's decision


@dataclass(frozen=True)
class OtherCode:
    """The games of other code in a run; `str` is the sentence for people."""

    games: dict[str, int]  # release -> games, without those of this code
    again: tuple[str, ...] = ()  # ids of games played again
    differing: tuple[str, ...] = ()  # ids of those that went differently

    def __str__(self) -> str:
        count = sum(self.games.values())
        were = f"{count:,} of these games {'were' if count > 1 else 'was'} played by"
        return f"{were} Turnier {self._releases()}, whose code differs from this one ({release()}): {self._compared()}"

    def _releases(self) -> str:
        if len(self.games) == 1:
            return next(iter(self.games))
        return ", ".join(f"{name} ({count:,})" for name, count in self.games.items())

    def _compared(self) -> str:
        if not self.again:
            return "none of them could be played again to compare: only short games of compiled agents can."
        if not self.differing:
            return f"{len(self.again)} that were played again now had the same moves."
        some = f"{len(self.differing)} of {len(self.again)} that were played again now went differently"
        return (
            f"{some} (such as {self.differing[0][:SHOWN_ID]}), so games of both codes must not be compared; play into"
            " another store, such as --store sqlite:///new.db."
        )


@outlasting
def games_by_release(store: Store, run_id: str) -> pd.DataFrame:
    """Returns the number of games of a run by each code: release and games, the most games first."""
    played = _of_run(run_id, select(matches.c.release)).subquery()
    query = select(played.c.release, func.count()).group_by(played.c.release)
    with store.database.reading() as connection:
        found = Counter({name or EARLIER: int(count) for name, count in connection.execute(query)})
        for origin in store.packed.origins(connection, run_id):
            found[origin.release] += origin.games
    return pd.DataFrame(sorted(found.items(), key=lambda row: (-row[1], row[0])), columns=["release", "games"])


def other_code(store: Store, run_id: str) -> OtherCode | None:
    """Returns the games of other code in a run, after playing some of them again; None if there are none.

    This takes a second, or longer if this code has not been compiled yet.
    """
    found = games_by_release(store, run_id)
    found = found[found["release"] != release()]
    if found.empty:
        return None
    stored = _spread([record for record in _sample(store, run_id) if _is_compiled(record.spec)], AGAIN)
    again = _played_again([record.spec for record in stored])
    ends = {record.spec.id: (record.termination, record.scores, record.plies) for record in stored}
    differing = [r.spec.id for r in again if ends[r.spec.id] != (r.termination, r.scores, r.plies)]
    games = dict(zip(found["release"], found["games"].tolist(), strict=True))
    return OtherCode(games, tuple(record.spec.id for record in again), tuple(differing))


def _spread(items: Sequence[T], most: int) -> Sequence[T]:
    """Returns at most `most` items, spread over the sequence."""
    return items[:: max(1, -(-len(items) // most))]


def _of_run(run_id: str, query: Select[Any]) -> Select[Any]:
    linked = run_matches.c.match_number == matches.c.number
    return query.select_from(run_matches).join(matches, linked).where(run_matches.c.run_id == run_id)


@outlasting
def _sample(store: Store, run_id: str) -> list[MatchRecord]:
    """Returns short, reproducible games of other code: the first and the last of each agent in each seat."""
    played_by, c, among = matches.c.release, matches.c, store.database.among
    of_run = _of_run(run_id, select(seats.c.agent, seats.c.seat, func.min(c.number), func.max(c.number)))
    of_run = of_run.join(seats, seats.c.match_number == c.number).group_by(seats.c.agent, seats.c.seat)
    of_run = of_run.where(played_by != release(), c.termination.in_(ENDS), c.seconds <= GAME_SECONDS)
    own = seats.alias()
    with store.database.reading() as connection:
        agents = {row.agent for row in connection.execute(of_run)}
        unsuitable = sorted(name for name in agents if not decided_by_seeds(name))
        has_such = exists().where(own.c.match_number == c.number, among(own.c.agent, unsuitable))
        rows = connection.execute(of_run.where(~has_such) if unsuitable else of_run)
        numbers = _spread(sorted({int(number) for row in rows for number in row[2:]}), AT_FIRST)
        ids = list(connection.scalars(select(c.id).where(store.database.among(c.number, numbers)).order_by(c.number)))
        ids += _spread(_packed_sample(store, connection, run_id), AT_FIRST)
    found = store.records_or_damage(ids)
    return [record for record in found if not isinstance(record, DamagedMatch) and moves_kept(record.plies)]


def _packed_sample(store: Store, connection: Connection, run_id: str) -> list[str]:
    """Returns the ids of such games among packed ones: the first and the last of each agent in each seat of a row."""
    ids: list[str] = []
    for origin in store.packed.origins(connection, run_id):
        if origin.release != release():
            for packed, _ in store.packed.numbered(connection, origin.numbers[:1]):
                suitable = [decided_by_seeds(name) for name in packed.texts["agents"]]
                texts = packed.id_texts()
                ids += [texts[place] for place in packed.ends_of_agents(suitable, GAME_SECONDS)]
    return ids


def _is_compiled(spec: MatchSpec) -> bool:
    """Whether compiled code of ours plays a match."""
    try:
        if is_outside(spec.game) or game_of(spec.game).in_python:
            return False
        return all(agent_of(name).seat_kernels(game_of(spec.game)) is not None for name in spec.agents)
    except UserError:
        return False


def _played_again(specs: Sequence[MatchSpec]) -> list[MatchRecord]:
    """Returns the records of these matches, of as many as can be played in ALL_SECONDS."""
    stop = np.zeros(1, np.int64)
    timer = threading.Timer(ALL_SECONDS, stop.fill, [1])
    try:
        prepare_matches(specs)
        timer.start()
        return play_matches(specs, stop)
    except UserError:  # such as a missing file of weights
        return []
    finally:
        timer.cancel()
