"""Which formations the tables of a size hold."""

from __future__ import annotations

from turnier.agents.formations.formation import CELLS, Formation

# Fixed cells, the one beside the goals, and those: the free cells next to it. B32 has rows of three and two, and so on.
B32_INNER = (0, 1, 2, 4, 5), 5, (6, 9)
B32_END = (0, 1, 2, 4, 5), 2, (3, 6)
B41 = (0, 1, 2, 3, 4), 4, (5, 8)
B42 = (0, 1, 2, 3, 4, 5), 5, (6, 9)
B33 = (0, 1, 2, 4, 5, 6), 4, (8,)
Shape = tuple[tuple[int, ...], int, tuple[int, ...]]
# The anchors of each shape's tables.
_ANCHORS: dict[str, dict[Shape, tuple[int, ...]]] = {
    "tiny": {B42: (5,)},
    "small": {B32_INNER: (6, 7, 8), B32_END: (6, 7, 8), B42: (6, 7, 8), B33: (6, 7, 8, 9)},
    "medium": {B32_INNER: (6, 7, 8), B32_END: (6, 7, 8), B42: (6, 7, 8, 9), B33: (6, 7, 8, 9), B41: (6, 7, 8)},
}
SIZES = tuple(_ANCHORS)


def formation(shape: Shape, anchor: int) -> Formation:
    """Returns a formation in which tiles are the smaller the farther they are from the goals."""
    fixed, beside, goals = shape
    far = [min(abs(cell // 4 - goal // 4) + abs(cell % 4 - goal % 4) for goal in goals) for cell in range(CELLS)]
    largest = tuple(-1 if cell in fixed else anchor - 1 - min(far[cell], 2) for cell in range(CELLS))
    return Formation(fixed, beside, goals, anchor, largest)


def formations_of(size: str) -> tuple[Formation, ...]:
    """Returns the formations of a size: those of a shape one after the other, the smallest first."""
    return tuple(formation(shape, anchor) for shape, anchors in _ANCHORS[size].items() for anchor in anchors)
