"""What tournaments store stays the same, byte for byte, whatever makes them faster: all but times and who played."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from sqlalchemy import select

import turnier
from turnier.arena.workers.where import Where
from turnier.core.kernel import JIT
from turnier.results.repair.inspection import inspect_store
from turnier.results.store import schema
from turnier.results.store.store import Store

DIGESTS = {
    "2048": "f70a3d9ad086b049",
    "tictactoe": "5322f9c4b1383e05",
    "hex": "6f0c5087631f0af8",
    "nim": "61ac587ed952efc9",
}
PLAYED: dict[str, dict[str, Any]] = {
    "2048": {"game": "2048", "agents": ["random", "greedy"], "games": 40, "seed": 5},
    "tictactoe": {
        "game": "tictactoe",
        "agents": ["random", "mcts(iterations=9)"],
        "games": 6,
        "seed": 2,
        "openings": 1,
    },
    "hex": {
        "game": "hex(size=3)",
        "agents": ["random", "mc(iterations=2,score_method=2)"],
        "games": 30,
        "seed": 3,
        "exactly": True,
    },
    "nim": {
        "game": "nim",
        "agents": ["random", "majority(agent=random)", "greedy"],
        "games": 4,
        "seed": 1,
        "format": "swiss",
    },
}
TIMES = {"seconds", "cpu_seconds", "created", "release", "worker", "checksum", "number", "match_number"}


def content(store: Store, run_id: str) -> str:
    """Returns a digest of a run's matches and their seats in the order of their ids, and of the run's totals."""
    linked = schema.matches.c.number == schema.run_matches.c.match_number
    columns = [column for table in (schema.matches, schema.seats) for column in table.c if column.name not in TIMES]
    query = select(*columns).select_from(schema.matches).join(schema.run_matches, linked)
    query = query.join(schema.seats, schema.seats.c.match_number == schema.matches.c.number)
    chosen = schema.run_matches.c.run_id == run_id
    totals = select(schema.run_totals).where(schema.run_totals.c.run_id == run_id)
    with store.database.reading() as connection:
        rows = connection.execute(query.where(chosen).order_by(schema.matches.c.id, schema.seats.c.seat)).all()
        found = sorted(map(tuple, connection.execute(totals)))
    # A run had no settings beside it then.
    counted = [(*row[:2], 0, 0) if row[1] == schema.run_annotations.name else row for row in found]
    digest = hashlib.sha256()
    for row in (*rows, *counted):
        digest.update(ascii(tuple(row)).encode())
    return digest.hexdigest()[:16]


@pytest.mark.skipif(not JIT, reason="whole games of 2048")
@pytest.mark.parametrize("name", DIGESTS)
def test_matches_are_stored_as_ever(name: str, store: Store, url: str) -> None:
    """The digests were recorded at version 0.1.0, before play and store were made faster for short games.

    Groups of agents had no seeds of their own then; a run that began so goes on so.
    """
    tournament, began = turnier.Tournament(**PLAYED[name]), turnier.Tournament(**PLAYED[name])
    began._own_seeds = False
    store.begin_run(began.run_id, "tournament", str(began.game), began.definition)
    tournament.run(store, where=Where("threads", 2), progress=False)
    assert tournament.run_id == began.run_id
    assert content(store, tournament.run_id) == DIGESTS[name]
    assert inspect_store(url) == []  # every row agrees with its checksum, every block with its rows
