"""Plain-Python oracle of Yavalath: its rules over a dictionary of stones, sharing no code with the kernels."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

Cell = tuple[int, int]  # axial q, r
LINES = ((1, 0), (0, 1), (1, -1))


@functools.cache
def coordinates(size: int) -> list[Cell]:
    """Returns the cells in rows of constant r, q ascending."""
    span = range(1 - size, size)
    return [(q, r) for r in span for q in span if abs(q + r) < size]


def run(stones: dict[Cell, int], colour: int, cell: Cell, line: Cell) -> int:
    """Returns the length of the run along a line that a stone of `colour` on `cell` is part of."""
    length = 1
    for dq, dr in (line, (-line[0], -line[1])):
        q, r = cell[0] + dq, cell[1] + dr
        while stones.get((q, r)) == colour:
            length += 1
            q, r = q + dq, r + dr
    return length


@dataclass
class Naive:
    """A game in progress: seat s plays colour s, until the swap."""

    size: int = 5
    players: int = 2
    swap: bool = False
    play_on: bool = True
    stones: dict[Cell, int] = field(default_factory=dict)
    ranks: dict[int, float] = field(default_factory=dict)  # seats that are done
    mover: int = 0
    swapped: bool = False
    over: bool = False

    def empty(self) -> list[int]:
        return [i for i, cell in enumerate(coordinates(self.size)) if cell not in self.stones]

    def makes(self, colour: int, action: int) -> str:
        longest = max(run(self.stones, colour, coordinates(self.size)[action], line) for line in LINES)
        return "four" if longest >= 4 else "three" if longest == 3 else ""

    def next_seat(self) -> int:
        seat = (self.mover + 1) % self.players
        while seat in self.ranks:
            seat = (seat + 1) % self.players
        return seat

    def colour(self) -> int:
        return self.mover if self.players == 3 else self.mover ^ self.swapped

    def legal(self) -> list[int]:
        if self.players == 3:
            both = (self.mover, self.next_seat())
            forced = [a for a in self.empty() if any(self.makes(seat, a) == "four" for seat in both)]
            if forced:
                return forced
        may_swap = self.swap and len(self.stones) == 1 and not self.swapped
        return self.empty() + ([len(coordinates(self.size))] if may_swap else [])

    def left(self) -> list[int]:
        """The ranks that nobody has yet."""
        return [rank for rank in range(1, self.players + 1) if rank not in self.ranks.values()]

    def play(self, action: int) -> None:
        if action == len(coordinates(self.size)):
            self.swapped, self.mover = True, 0
            return
        made = self.makes(self.colour(), action)
        self.stones[coordinates(self.size)[action]] = self.colour()
        if made:
            self.ranks[self.mover] = min(self.left()) if made == "four" else max(self.left())
        one_left = len(self.ranks) == self.players - 1
        if one_left or not self.empty() or (made == "four" and not self.play_on):
            shared = self.left()
            for seat in set(range(self.players)) - self.ranks.keys():
                self.ranks[seat] = sum(shared) / len(shared)
            self.over = True
        else:
            self.mover = self.next_seat()

    def returns(self) -> list[float]:
        middle = (self.players + 1) / 2
        return [(middle - self.ranks[s]) / (middle - 1) if s in self.ranks else 0.0 for s in range(self.players)]

    def cells(self) -> list[int]:
        return [1 + self.stones.get(cell, -1) for cell in coordinates(self.size)]
