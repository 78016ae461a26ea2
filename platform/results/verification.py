"""A sample of a run's games, played again here: whether this machine and code reproduce stored games."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pandas as pd
from sqlalchemy import select

from ..arena.match import MatchRecord, moves_kept
from ..arena.randomness import can_be_repeated
from ..core.compilation.code_digest import EARLIER
from ..core.errors import UserError
from .integrity.match_rows import DamagedMatch
from .other_code import ENDS
from .outage import outlasting
from .store.schema import matches, run_matches
from .store.store import Store

UNKNOWN = "unknown"  # in place of a worker, for games of an earlier version
_UNIT = 16**8  # a sample has the games whose ids begin with less than a share of this


@outlasting
def sample_of_run(store: Store, run_id: str, share: float) -> list[MatchRecord]:
    """Returns about a share of a run's reproducible games; a larger share includes the games of a smaller one.

    Games of programs, of agents stopped by a clock and of code that is not ours are left out, as are those that ended
    by a failure and those whose moves were not kept. Raises UserError if none is left.
    """
    c = matches.c
    query = select(c.id).join(run_matches, run_matches.c.match_number == c.number).where(run_matches.c.run_id == run_id)
    if share < 1:
        query = query.where(c.id < f"{int(share * _UNIT):08x}")
    with store.database.reading() as connection:
        ids = list(connection.scalars(query.where(c.termination.in_(ENDS))))
        ids = sorted(ids + store.packed.below(connection, run_id, share))
    found = [one for one in store.records_or_damage(ids) if not isinstance(one, DamagedMatch)]
    if sample := [one for one in found if moves_kept(one.plies) and can_be_repeated(*one.spec.names)]:
        return sample
    raise UserError(
        f"a sample must have games that seeds decide, got none among {len(found):,} games of {run_id}; choose"
        " a larger sample, or another run."
    )


@dataclass
class Verification:
    """Games played again, and those of them that went differently."""

    stored: Sequence[MatchRecord]
    again: int = 0
    differing: list[MatchRecord] = field(default_factory=list)  # as stored

    def compare(self, played: Iterable[Sequence[MatchRecord]]) -> Iterator[int]:
        """Compares batches of games played now; yields the size of each."""
        known = {record.spec.id: record for record in self.stored}
        for batch in played:
            self.again += len(batch)
            self.differing += [known[one.spec.id] for one in batch if _end(one) != _end(known[one.spec.id])]
            yield len(batch)

    def by_worker(self) -> pd.DataFrame:
        """Returns the columns worker, release, again, differing, and match, an example that differs."""
        rows = pd.DataFrame(
            {
                "worker": [record.worker or UNKNOWN for record in self.stored],
                "release": [record.release or EARLIER for record in self.stored],
                "id": [record.spec.id for record in self.stored],
            }
        )
        differs = rows["id"].isin({record.spec.id for record in self.differing})
        rows = rows.assign(differs=differs, match=rows["id"].where(differs))
        return rows.groupby(["worker", "release"], as_index=False).agg(
            again=("id", "size"), differing=("differs", "sum"), match=("match", "first")
        )


def _end(record: MatchRecord) -> tuple[object, ...]:
    return record.termination, record.scores, record.plies
