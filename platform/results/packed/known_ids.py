"""Ids of stored games in memory, so that thousands are looked up at once: some 30 bytes each, sorted."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]


def words_of(ids: bytes) -> tuple[Words, Words]:
    """Returns the first and the last 64 bits of ids of 16 bytes each."""
    words = np.frombuffer(ids, ">u8").astype(np.uint64)
    return words[::2], words[1::2]


class KnownIds:
    """Ids, and a number for each: of the row that has the game.

    They lie in sorted parts, each at least twice as long as the next one, so adding and finding take little.
    """

    def __init__(self) -> None:
        self.last = 0  # the last row that has been read
        self.left_out: set[int] = set()  # rows that this process has written, whose ids are not among these
        self._parts: list[tuple[Words, Words, Numbers]] = []
        self._marked: list[npt.NDArray[np.bool_]] = []  # for each part, whether an id may begin with some bits

    @classmethod
    def of(cls, ids: bytes) -> KnownIds:
        """Returns ids with their places, from 1 on, as their numbers."""
        known = cls()
        known.add(ids, np.arange(1, len(ids) // 16 + 1))
        return known

    def read(self, ids: bytes, number: int) -> None:
        """Adds the next row of the database, unless it is left out."""
        self.last = number
        if number not in self.left_out:
            self.add(ids, number)

    def add(self, ids: bytes, number: int | Numbers) -> None:
        """Adds ids of 16 bytes each, of one row or of one row each."""
        high, low = words_of(ids)
        part = high, low, np.full(len(high), number, np.int64) if isinstance(number, int) else number
        if not len(high):
            return
        while self._parts and len(self._parts[-1][0]) < 2 * len(part[0]):
            self._marked.pop()
            part = tuple(map(np.concatenate, zip(self._parts.pop(), part, strict=True)))  # type: ignore[assignment]
        order = np.argsort(part[0], kind="stable")
        self._parts.append(tuple(column[order] for column in part))  # type: ignore[arg-type]
        marked = np.zeros(1 << (4 * len(order)).bit_length(), np.bool_)
        marked[self._parts[-1][0] >> _shift(marked)] = True
        self._marked.append(marked)

    def find(self, ids: npt.NDArray[np.void]) -> Numbers:
        """Returns the row of each game, 0 if there is none."""
        found = np.zeros(len(ids), np.int64)
        high, low = words_of(ids.tobytes()) if self._parts else (np.empty(0, np.uint64),) * 2
        for marked, (firsts, lasts, numbers) in zip(self._marked, self._parts, strict=True):
            some = np.flatnonzero(marked[high >> _shift(marked)])  # searching takes ten times as long as this look
            place = np.searchsorted(firsts, high[some])
            for _ in range(2):  # two ids with the same first half are as good as impossible, three more so
                at = np.minimum(place, len(firsts) - 1)
                same = (firsts[at] == high[some]) & (lasts[at] == low[some])
                found[some[same]] = numbers[at[same]]
                place = place + 1
        return found


def _shift(marked: npt.NDArray[np.bool_]) -> np.uint64:
    """Returns by how much the first half of an id is shifted to be a place."""
    return np.uint64(65 - len(marked).bit_length())
