"""The copies of games in blocks of columns, and the games that a run's tail names (`store/match_blocks.py`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Row

from ...core.errors import MALFORMED
from ..integrity.checksums import CHANGED, differs
from ..store.columns import MatchColumns
from ..store.match_blocks import TAIL, named_in


class Copies:
    """The sound blocks and tails of runs, and the damage of others."""

    def __init__(self, rows: Iterable[Row[Any]]) -> None:
        self.blocks: dict[str, list[MatchColumns]] = defaultdict(list)
        self.wrong: dict[str, str] = {}  # by run
        self._named: dict[str, list[npt.NDArray[np.int64]]] = defaultdict(list)
        for row in rows:
            try:
                self._add(row)
            except (*MALFORMED, OSError) as failure:
                self.wrong.setdefault(row.run_id, str(failure))
        for run in self.blocks.keys() - self._named.keys():
            self.wrong.setdefault(run, "the tail is missing")
        for run in self.wrong:
            self.blocks.pop(run, None)

    def _add(self, row: Row[Any]) -> None:
        if differs(row, row.matches, row.data):
            raise ValueError(CHANGED)
        block = MatchColumns.from_rows([], []) if row.level == TAIL else MatchColumns.from_bytes(row.data)
        numbers = named_in(row.data) if row.level == TAIL else block.number
        if len(numbers) != row.matches:
            raise ValueError(f"a block must have {row.matches} games, got {len(numbers)}")
        self.blocks[row.run_id].append(block.in_order())
        if row.level == TAIL:
            self._named[row.run_id].append(numbers)

    def numbers(self, run: str) -> npt.NDArray[np.int64]:
        """Returns the numbers of all games of a run, in its blocks and its tail."""
        blocks = (block.number for block in self.blocks.get(run, ()))
        return np.concatenate([np.empty(0, np.int64), *self._named.get(run, ()), *blocks])
