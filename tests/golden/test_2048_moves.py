"""2048's moves against boards that an independent implementation of the rules has moved; see tests/data/README.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import naive
from turnier.games.twenty48.game import Twenty48

LINES = (Path(__file__).parent.parent / "data" / "2048" / "moves.jsonl").read_text().splitlines()
RECORDS: list[dict[str, Any]] = [json.loads(line) for line in LINES]


def test_every_recorded_board_moves_as_recorded() -> None:
    assert len(RECORDS) == 400
    assert [Twenty48().verify_record(record) for record in RECORDS] == [None] * 400


def test_the_oracle_agrees_with_the_records() -> None:
    for record in RECORDS:
        board = tuple(map(tuple, record["board"]))
        moves = {direction: naive.slide(board, direction) for direction in naive.legal(board)}
        got = {direction: {"after": list(map(list, after)), "reward": r} for direction, (after, r) in moves.items()}
        assert got == record["moves"]


@pytest.mark.parametrize("change", ["reward", "after", "missing"])
def test_a_wrong_record_is_noticed(change: str) -> None:
    record = json.loads(next(line for line in LINES if '"left"' in line))
    if change == "reward":
        record["moves"]["left"]["reward"] += 4
    elif change == "after":
        record["moves"]["left"]["after"][3][3] ^= 2
    else:
        del record["moves"]["left"]
    assert str(Twenty48().verify_record(record)).startswith("the moves must be {")
