"""Which formations the tables of a size hold.

The two shapes are those of macroxue/2048-ai (X. Hu), whose facts are used here: which cells are fixed, what may lie in
the others, and the goals. Here every anchor has a table of its own.
"""

from __future__ import annotations

from turnier.agents.formations.formation import CELLS, Formation

Goal = tuple[tuple[int, int], ...]


def five(rank: int) -> Formation:
    """Returns three tiles above two, beside which a tile of a rank is made that completes a block of 3 x 2.

    The goal is that tile and beside it two of half of it, which merge to another one like it.
    """
    largest = [rank - 1] * 12 + [rank - 2] * 4
    largest[6] = rank
    goals = [
        {7: 1, 3: 1},
        {7: 1, 11: 1},
        {3: 1, 7: 2, 11: 2},
        {10: 1, 9: 1},
        {10: 1, 11: 1},
    ]
    fixed = (0, 1, 2, 4, 5)
    return _formation(fixed, (2, 4, 5), rank + 1, ((4, 5),), largest, [below(rank, {6: 0, **goal}) for goal in goals])


def six(rank: int) -> Formation:
    """Returns a block of 3 x 2 beside which a tile of a rank, its smallest one's, is made: either below its end in the
    corner or beside its other end, out of a chain of a half, a quarter and two eighths."""
    largest = [rank - 3] * CELLS
    largest[3] = largest[8] = rank - 1
    largest[7] = largest[9] = rank - 2
    below_corner, beside_end = {8: 1, 9: 2}, {3: 1, 7: 2, 11: 3}
    goals = [below_corner | {one: 3, two: 3} for one, two in ((10, 14), (10, 11), (13, 12), (13, 14))]
    goals += [beside_end | {two: 3} for two in (10, 15)]
    return _formation((0, 1, 2, 4, 5, 6), (2, 4, 5, 6), rank, (), largest, [below(rank, goal) for goal in goals])


def below(rank: int, steps: dict[int, int]) -> Goal:
    """Returns a goal: each cell has a tile of so many ranks less."""
    return tuple((cell, rank - step) for cell, step in steps.items())


def _formation(
    fixed: tuple[int, ...],
    edge: tuple[int, ...],
    least: int,
    falls: tuple[tuple[int, int], ...],
    largest: list[int],
    goals: list[Goal],
) -> Formation:
    limits = tuple(-1 if cell in fixed else rank for cell, rank in enumerate(largest))
    return Formation(fixed, edge, least, falls, limits, tuple(goals))


# The formations of each size: those of a shape one after the other, the smallest first.
FORMATIONS: dict[str, tuple[Formation, ...]] = {
    "tiny": (six(6),),
    "small": (*(five(rank) for rank in (5, 6, 7)), *(six(rank) for rank in (7, 8, 9, 10))),
    "medium": (*(five(rank) for rank in (5, 6, 7, 8)), *(six(rank) for rank in (7, 8, 9))),
}
SIZES = tuple(FORMATIONS)
