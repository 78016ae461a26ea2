"""Territories of spe_ed in plain Python: who is first at every cell, step by step."""

from __future__ import annotations

from collections import Counter
from itertools import count

Cell = tuple[int, int]
STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))
NOBODY = -1


def beside(cell: Cell) -> list[Cell]:
    return [(cell[0] + dx, cell[1] + dy) for dx, dy in STEPS]


def landings(cell: Cell, free: frozenset[Cell]) -> list[Cell]:
    """Returns where jumps end that enter a cell first and fly over a wall of one or two cells."""
    found = []
    for dx, dy in STEPS:
        one, two, three = ((cell[0] + k * dx, cell[1] + k * dy) for k in (1, 2, 3))
        if one not in free:
            found += [two] if two in free else [three] if three in free else []
    return found


def owners(heads: list[Cell], free: frozenset[Cell], jump_steps: int) -> dict[Cell, int]:
    """Returns whose every reached cell is: a player's number, or NOBODY's; player 0 never jumps."""
    owner = dict(zip(heads, range(len(heads)), strict=True))
    reached = {0: list(heads)}  # cells by the steps after which they are
    for steps in count(1):
        claims: dict[Cell, set[int]] = {}
        for cell in reached.get(steps - 1, []):
            for entered in beside(cell):
                claims.setdefault(entered, set()).add(owner[cell])
        for cell in reached.get(steps - jump_steps, []) if jump_steps else []:
            if owner[cell] != 0:
                for entered in landings(cell, free - frozenset(heads)):
                    claims.setdefault(entered, set()).add(owner[cell])
        for cell, claimants in claims.items():
            if cell in free and cell not in owner:
                owner[cell] = claimants.pop() if len(claimants) == 1 else NOBODY
                reached.setdefault(steps, []).append(cell)
        if steps > max(reached) + jump_steps:
            return owner
    raise AssertionError


def own_share(
    heads: list[Cell], free: frozenset[Cell], jump_steps: int = 0, neighbours: float = 0.0, decided: float = 0.0
) -> float:
    owner = owners(heads, free, jump_steps)
    worth: Counter[int] = Counter()
    for cell, whose in owner.items():
        worth[whose] += 1 + neighbours * sum(place in owner or place in free for place in beside(cell))  # type: ignore[assignment]
    own, others = worth[0], [worth[who] for who in range(1, len(heads))]
    meets = any((owner[cell] == 0) != (owner[place] == 0) for cell in owner for place in beside(cell) if place in owner)
    share = own / (own + sum(others))
    if others and not meets:
        more = (own - max(others)) / (own + max(others))
        share += decided * min(1.0, max(-1.0, 20 * more))
    return share


def comes_to(head: Cell, others: list[Cell], free: frozenset[Cell], jump: bool) -> bool:
    """Whether any of the others can come to the free cells around a head."""
    around, queue = set(), [head]
    while queue:
        fresh = [cell for cell in beside(queue.pop()) if cell in free and cell not in around]
        around.update(fresh)
        queue += fresh
    seen, queue = set(others), list(others)
    while queue:
        cell = queue.pop()
        fresh = [place for place in beside(cell) + (landings(cell, free) if jump else []) if place in free]
        queue += [place for place in fresh if place not in seen]
        seen.update(fresh)
    return bool(seen & around)
