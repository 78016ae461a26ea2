"""The tuples of cells of an n-tuple network, and the header for its kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.errors import UserError
from ...games.game import Game
from ...games.registry import GAMES
from ...games.setup.grids import square_symmetries
from ..evaluator import OWN
from .layout import Layout
from .network_kernels import BASES, BOUND, NUM_CELLS, PARTS, SPOTS, STAGE, STAGES, SUMS, SUMS_SHIFT, TOUCHES

Tuples = tuple[tuple[int, ...], ...]

# Published sets for 2048, a hexadecimal digit per cell, row by row; symmetry gives the other images. 4x6: Yeh et al.
# 2016; 8x6: Matsuzaki 2016, as TDL2048 (github.com/moporgic/TDL2048) lists both.
PUBLISHED = {
    "4x6": "012345 456789 012456 45689a",
    "8x6": "012345 456789 012456 234569 01259a 345678 134567 01489a",
}
WALK, POINTS, CELLS = "walk", "points", "cells"
PACKED_VALUES = 16  # of a cell with four bits


def published_tuples(name: str) -> Tuples:
    return tuple(tuple(int(cell, 16) for cell in cells) for cells in PUBLISHED[name].split())


def written_tuples(text: str) -> Tuples:
    """Reads `0.1.2/4.5.6`: tuples separated by slashes, cells by dots."""
    try:
        return tuple(tuple(sorted({int(cell) for cell in part.split(".")})) for part in text.split("/"))
    except ValueError:
        raise UserError(
            f"cells must be numbers separated by dots, and tuples by slashes, got {text!r}; write 0.1.2/4.5.6."
        ) from None


def written_stages(text: str) -> tuple[int, ...]:
    """Reads `10.12`: ascending cell values separated by dots."""
    try:
        stages = tuple(int(value) for value in text.split(".")) if text else ()
    except ValueError:
        stages = (0,)
    if stages != tuple(sorted(set(stages))) or (stages and stages[0] < 1):
        raise UserError(f"stages must be ascending cell values separated by dots, got {text!r}; write 10.12.")
    return stages


def walked_tuples(neighbours: Sequence[Sequence[int]], count: int, length: int, seed: int) -> Tuples:
    """Returns random walks over neighbouring cells, each of `length` cells or of all that it can reach.

    Source: Kutsch 2017, 6.1 (random walk). Different walks may have the same cells.
    """
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        cell = int(random.integers(len(neighbours)))
        seen = {cell}
        for _ in range(100 * length):
            if len(seen) == length or not neighbours[cell]:
                break
            cell = int(random.choice(np.array(neighbours[cell])))
            seen.add(cell)
        found.append(tuple(sorted(seen)))
    return tuple(found)


def random_tuples(num_cells: int, count: int, length: int, seed: int) -> Tuples:
    """Returns random sets of cells (Kutsch 2017, 6.1, random point)."""
    random = np.random.default_rng(seed)
    size = min(length, num_cells)
    return tuple(tuple(sorted(int(c) for c in random.choice(num_cells, size, replace=False))) for _ in range(count))


@dataclass(frozen=True)
class Network:
    """The shape of an n-tuple network for one game."""

    game: str  # full text form
    tuples: Tuples  # ascending cells
    values: int  # distinct cell values; higher ones count as the highest
    symmetries: tuple[tuple[int, ...], ...]  # [symmetries, cells], as games have them
    phases: int  # stages x seats to move next, each with its own entries
    outputs: int  # values of a state: one seat's, or every seat's
    look_ahead: bool  # whether states with a seat to move, not being afterstates, are valued by their best action
    stages: tuple[int, ...] = ()  # cell values, ascending, at which a board's next stage begins

    @classmethod
    def of(cls, game: Game, tuples: Tuples, values: int, symmetric: bool, stages: tuple[int, ...] = ()) -> Network:
        """Returns the network over a game's cells; raises UserError if a tuple has cells that the game lacks."""
        highest = max(cell for cells in tuples for cell in cells)
        if min(cell for cells in tuples for cell in cells) < 0 or highest >= game.num_cells:
            raise UserError(
                f"the cells of an n-tuple network must be from 0 to {game.num_cells - 1} for {game}, got {highest};"
                " choose another network."
            )
        if stages and stages[-1] >= min(values, game.num_cell_values):
            raise UserError(
                f"stages must be cell values below {min(values, game.num_cell_values)} for {game}, got"
                f" {stages[-1]}; leave it out."
            )
        images = game.symmetries() if symmetric else game.symmetries()[:1]
        return cls(
            game=game.full_text(),
            tuples=tuples,
            values=min(values, game.num_cell_values),
            symmetries=tuple(tuple(int(c) for c in image) for image in images),
            phases=game.num_seats * (1 + len(stages)),
            outputs=1 if game.num_seats <= 2 else game.num_seats,
            look_ahead=game.num_seats == 1 and game.has_chance,
            stages=stages,
        )

    def to_json(self) -> dict[str, Any]:
        """Returns the argument of `from_json`; without stages in the form before they existed, so that digests stay."""
        data = asdict(self)
        return data if self.stages else {name: value for name, value in data.items() if name != "stages"}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Network:
        pairs = {name: tuple(tuple(row) for row in data[name]) for name in ("tuples", "symmetries")}
        return cls(**{**data, **pairs, "stages": tuple(data.get("stages", ()))})

    def check(self) -> None:
        """Raises UserError or ValueError if `of` would not make this shape, read from a file, for its game."""
        game = GAMES.make(self.game)
        expected = Network.of(game, self.tuples, self.values, symmetric=False, stages=self.stages)
        cells = {type(cell) for row in (*self.tuples, *self.symmetries, self.stages, (self.values,)) for cell in row}
        permuted = all(sorted(image) == list(range(game.num_cells)) for image in self.symmetries)
        if (
            replace(expected, symmetries=self.symmetries) != self
            or cells != {int}
            or not self.symmetries
            or not permuted
        ):
            raise ValueError(f"the network does not fit {game}")

    @property
    def entries_of_output(self) -> int:
        return sum(self.values ** len(cells) for cells in self.tuples)

    @property
    def entries(self) -> int:
        """Number of entries of all phases and outputs."""
        return self.phases * self.outputs * self.entries_of_output

    @property
    def lookups(self) -> int:
        """Number of entries summed up for one board."""
        return len(self.tuples) * len(self.symmetries)

    @property
    def packed(self) -> bool:
        """Whether the kernels for packed 2048 boards fit."""
        return (
            self.game == "2048(size=4)"
            and self.values == PACKED_VALUES
            and np.array_equal(np.array(self.symmetries), square_symmetries(4))
        )

    def layout(self, coherent: bool, in_quarters: bool = True) -> Layout:
        """Returns the layout of its entries, with quarters for packed boards if wanted."""
        room = self.values ** max(len(cells) for cells in self.tuples)
        quarters = tuple(len(cells) for cells in self.tuples) if self.packed and in_quarters else ()
        return Layout(self.entries, coherent, self.packed, quarters, room=0 if self.packed else room)

    def words(self, layout: Layout, squeezed: bool = False) -> npt.NDArray[np.int64]:
        """Returns the header for tables of that layout, the first value at place 0.

        With `squeezed`, values lie within the game's largest return, by tanh.
        """
        length = max(len(cells) for cells in self.tuples)
        sizes = [self.values ** len(cells) for cells in self.tuples]
        bases = [sum(sizes[:i]) for i in range(len(sizes))]
        masks = [sum((3 | 3 << 32) << 2 * cell for cell in cells) if self.packed else 0 for cells in self.tuples]
        factors = np.zeros((len(self.tuples), length), np.int64)
        cells = np.zeros((len(self.tuples), length), np.int64)
        for i, chosen in enumerate(self.tuples):
            factors[i, : len(chosen)] = self.values ** np.arange(len(chosen))
            cells[i, : len(chosen)] = chosen
        head = np.zeros(BASES, np.int64)
        head[OWN : OWN + 11] = (
            len(self.tuples), len(self.symmetries), length, self.values, layout.width, self.phases, self.outputs,
            self.entries_of_output, 0, self.look_ahead, self.packed,
        )  # fmt: skip
        places = np.array(self.symmetries, np.int64)[:, cells].swapaxes(0, 1)  # [tuples, symmetries, length]
        packed = np.array(masks, np.uint64).astype(np.int64)
        body = np.concatenate([head, np.array(bases, np.int64), packed, factors.ravel(), places.ravel()])
        num_cells, symmetries = len(self.symmetries[0]), len(self.symmetries)
        touches = _touches(places, factors * layout.width, num_cells, len(body))
        spots = np.stack([cells * symmetries, factors * layout.width], axis=-1).ravel()
        parts = np.argsort(np.array(self.symmetries), axis=1).T * symmetries + np.arange(symmetries)
        body[NUM_CELLS], body[TOUCHES] = num_cells, len(body)
        body[SUMS], body[SUMS_SHIFT] = layout.sums, layout.sums_shift
        body[SPOTS] = len(body) + len(touches)
        body[PARTS] = body[SPOTS] + len(spots)
        body[STAGES], body[STAGE] = len(self.stages), body[PARTS] + parts.size
        if squeezed:
            body.view(np.float64)[BOUND] = GAMES.make(self.game).max_return
        return np.concatenate([body, touches, spots, parts.ravel(), np.array(self.stages, np.int64)])


def _touches(
    places: npt.NDArray[np.int64], shifts: npt.NDArray[np.int64], num_cells: int, first: int
) -> npt.NDArray[np.int64]:
    """Returns the words from TOUCHES on, beginning at word `first`; see network_kernels.py.

    places: [tuples, symmetries, length]; shifts: [tuples, length], 0 if a tuple is shorter.
    """
    lookups = np.arange(places.shape[0] * places.shape[1]).reshape(places.shape[:2])
    cell, number, shift = (
        np.broadcast_to(a, places.shape).ravel() for a in (places, lookups[..., None], shifts[:, None])
    )
    cell, number, shift = (a[shift > 0] for a in (cell, number, shift))
    order = np.argsort(cell, kind="stable")
    starts = first + num_cells + 1 + 2 * np.searchsorted(cell[order], np.arange(num_cells + 1))
    return np.concatenate([starts, np.column_stack([number, shift])[order].ravel()])
