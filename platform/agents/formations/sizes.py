"""The formations in the tables of each size.

The two shapes, their fixed cells, the limits of the others and the goals are those of macroxue/2048-ai (X. Hu).
"""

from __future__ import annotations

from dataclasses import replace

from .formation import CELLS, Formation

Goal = tuple[tuple[int, int], ...]


def five(rank: int) -> Formation:
    """Returns three tiles above two, with a tile of a rank to be made beside them that completes a block of 3 x 2.

    The goal is that tile and, beside it, two of half its value that merge to another like it.
    """
    fixed, limits = (0, 1, 2, 4, 5), [rank - 1] * 12 + [rank - 2] * 4
    limits[6] = rank
    chains = [{7: 1, 3: 1}, {7: 1, 11: 1}, {3: 1, 7: 2, 11: 2}, {10: 1, 9: 1}, {10: 1, 11: 1}]
    return Formation(
        fixed=fixed,
        edge=(2, 4, 5),
        limits_for=rank,
        goals_for=rank + 1,
        falls=((4, 5),),
        largest=without(fixed, limits),
        goals=tuple(below(rank, {6: 0, **chain}) for chain in chains),
    )


def large_five(rank: int) -> Formation:
    """Returns the same for a table that looks far ahead: near its own goal the search does better.

    A second tile like the sixth is a goal, too, wherever they can meet. No state of the table has one: it counts if the
    fixed tiles are small, since the limits are then as many ranks lower, but the goal one rank more.
    """
    formation = five(rank)
    twins = tuple(below(rank, {6: 0, cell: 0}) for cell in (3, 7, 8, 9, 10, 11))
    return replace(formation, differ=((2, 5),), enough=0.3, goals=formation.goals + twins)


def six(rank: int) -> Formation:
    """Returns a block of 3 x 2 with a tile of a rank, that of the smallest in its lower row, to be made beside it.

    It is made below the corner end or beside the other end, out of a chain of a half, a quarter and two eighths.
    """
    fixed, limits = (0, 1, 2, 4, 5, 6), [rank - 3] * CELLS
    limits[3] = limits[8] = rank - 1
    limits[7] = limits[9] = rank - 2
    below_corner, beside_end = {8: 1, 9: 2}, {3: 1, 7: 2, 11: 3}
    chains = [below_corner | {one: 3, two: 3} for one, two in ((10, 14), (10, 11), (13, 12), (13, 14))]
    chains += [beside_end | {two: 3} for two in (10, 15)]
    return Formation(
        fixed=fixed,
        edge=(4, 5, 6),  # not 2: it is enough that its free neighbour, 3, is smaller
        limits_for=rank,
        goals_for=rank,
        falls=(),
        largest=without(fixed, limits),
        goals=tuple(below(rank, chain) for chain in chains),
    )


def below(rank: int, steps: dict[int, int]) -> Goal:
    """Returns a goal: each cell has a tile lower by that many ranks."""
    return tuple((cell, rank - step) for cell, step in steps.items())


def without(fixed: tuple[int, ...], limits: list[int]) -> tuple[int, ...]:
    """Returns the limits of all cells, with the mark of fixed ones."""
    return tuple(-1 if cell in fixed else rank for cell, rank in enumerate(limits))


# The formations of each size, each shape once.
FORMATIONS: dict[str, tuple[Formation, ...]] = {
    "tiny": (six(6),),
    "small": (five(7), six(10)),
    "medium": (five(8), six(10)),
    "large": (large_five(9), six(10)),
}
SIZES = tuple(FORMATIONS)
