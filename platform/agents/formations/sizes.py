"""Which formations the tables of a size hold."""

from __future__ import annotations

from turnier.agents.formations.formation import CELLS, Formation

# Fixed tiles: the top row and one or two cells below it; goals: the free cells next to the last of them, along the row
# and down the column. With only one of the two the goal is reached in less than half of the positions (measured at
# anchor 6), and so it is where the fixed tiles form a block of 2x3, but for the goal below its first cell.
ROW_AND_ONE = (0, 1, 2, 3, 4), (5, 8)
ROW_AND_TWO = (0, 1, 2, 3, 4, 5), (6, 9)
Shape = tuple[tuple[int, ...], tuple[int, ...]]


def formation(shape: Shape, anchor: int) -> Formation:
    """Returns a formation in which tiles are the smaller the farther they are from the goals."""
    fixed, goals = shape
    far = [min(abs(cell // 4 - goal // 4) + abs(cell % 4 - goal % 4) for goal in goals) for cell in range(CELLS)]
    largest = tuple(-1 if cell in fixed else anchor - 1 - min(far[cell], 2) for cell in range(CELLS))
    return Formation(fixed, goals, anchor, largest)


# The anchors of the tables with one and with two tiles below the row; in a small size for tests.
_ANCHORS = {"tiny": ((), (5,)), "small": ((6, 7, 8), (6, 7, 8, 9)), "medium": ((6, 7, 8), (6, 7, 8, 9, 10))}
SIZES = tuple(_ANCHORS)


def formations_of(size: str) -> tuple[Formation, ...]:
    """Returns the formations of a size, the smallest first."""
    one, two = _ANCHORS[size]
    found = [formation(ROW_AND_ONE, anchor) for anchor in one] + [formation(ROW_AND_TWO, anchor) for anchor in two]
    return tuple(sorted(found, key=lambda each: each.states))
