"""2048: bitboard rows with lookup tables, exact up to the largest tile that the rules allow (131,072).

State words: size, board, high, pending. `board` holds four bits a cell (cell = row * size + column, row 0 lowest): the
tile's exponent modulo 16, 0 = empty; `high` has bit 4 * cell set where the exponent is 16 or 17. `pending` counts the
tiles that chance has to place next, 0 = the player moves, -1 = over. Actions: 0 left, 1 right, 2 up, 3 down; chance
outcome 2 * cell puts a 2 (90 %), 2 * cell + 1 a 4 (10 %). Source: Kutsch 2017, 2.1.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from numba import types

from turnier.core.kernel import kernel
from turnier.core.parameters import parameter
from turnier.core.rng import Rng, next_word, xoshiro
from turnier.games import abi
from turnier.games.abi import CHANCE, TERMINAL
from turnier.games.drawing import CHANGED, INK, Notes, picture
from turnier.games.drawing import word as written
from turnier.games.game import Game, grid_neighbours, square_symmetries
from turnier.games.twenty48.board import (
    ORDERS,
    exponent,
    legal_mask,
    legal_mask_any,
    move,
    occupied,
    place_tile,
    potential,
    random_tile,
    slide,
    tile_sum,
    turn,
)

SIZE, BOARD, HIGH, PENDING, STATE_WORDS = 0, 1, 2, 3, 4
ACTION_NAMES = ("left", "right", "up", "down")
# By exponent, from light to dark, which every eye can tell apart (the map YlGnBu).
TILE_COLOURS = (
    "#e4dfd5", "#fcfed3", "#f4fbc0", "#e9f7b1", "#d6efb3", "#c2e7b4",
    "#a0dab8", "#7cccbb", "#5fc1c0", "#40b5c4", "#2fa4c2", "#1f93c0",
    "#1f7ab5", "#2262aa", "#234da0", "#253896", "#1a2b7e", "#0d2161",
)  # fmt: skip

_U = np.uint64
_0, _1, _2, _3, _15, _24, _32 = (_U(n) for n in (0, 1, 2, 3, 15, 24, 32))
_LOW32, _ONES, _FOURS = _U(0xFFFFFFFF), _U(0x1111111111111111), _U(0x4444444444444444)


@kernel(abi.LEGAL)
def legal(state, out):
    mask = legal_mask_any(_U(state[BOARD]), _U(state[HIGH]), state[SIZE])
    n = 0
    for action in range(4):
        out[n] = action
        n += mask >> action & 1
    return n


@kernel(abi.INIT)
def init(state, rng):
    state[BOARD] = state[HIGH] = 0
    state[PENDING] = 2


@kernel(abi.TO_MOVE)
def to_move(state):
    if state[PENDING] > 0:
        return CHANCE
    return TERMINAL if state[PENDING] < 0 else 0


@kernel(abi.OUTCOMES)
def chance(state, out, probs):
    board, high = _U(state[BOARD]), _U(state[HIGH])
    n = 0
    for cell in range(state[SIZE] * state[SIZE]):
        if exponent(board, high, cell) == 0:
            out[n], out[n + 1] = 2 * cell, 2 * cell + 1
            n += 2
    for i in range(0, n, 2):
        probs[i], probs[i + 1] = 0.9 / (n // 2), 0.1 / (n // 2)
    return n


@kernel(abi.STEP)
def step(state, action, rewards):
    if state[PENDING] > 0:
        shift = _U(4 * (action >> 1))
        state[BOARD] = np.int64(_U(state[BOARD]) | _U(1 + (action & 1)) << shift)
        state[PENDING] -= 1
        if state[PENDING] == 0 and legal_mask_any(_U(state[BOARD]), _U(state[HIGH]), state[SIZE]) == 0:
            state[PENDING] = -1
        return
    board, high, reward = move(_U(state[BOARD]), _U(state[HIGH]), state[SIZE], action)
    state[BOARD], state[HIGH], state[PENDING] = np.int64(board), np.int64(high), 1
    rewards[0] += reward


@kernel(abi.SAMPLE_CHANCE)
def sample_chance(state, rng):
    return random_tile(_U(state[BOARD]), _U(state[HIGH]), state[SIZE] * state[SIZE], next_word(rng) & _LOW32)


@kernel(types.int64(abi.State, types.int64, Rng, abi.Floats))
def _playout_any(state, depth, rng, returns):
    """The playout cell by cell, for small boards and near 65,536."""
    plies = 0
    while True:
        if state[PENDING] > 0:
            step(state, sample_chance(state, rng), returns)
        elif state[PENDING] < 0 or plies == depth:
            return plies
        else:
            word = next_word(rng)
            order = ORDERS[np.int64(((word >> _32) * _24) >> _32)]
            board, high, reward, action = _U(state[BOARD]), _U(state[HIGH]), 0, np.int64(0)
            for _ in range(4):
                action = np.int64(order & _3)
                order >>= _2
                board, high, reward = move(_U(state[BOARD]), _U(state[HIGH]), state[SIZE], action)
                if board != _U(state[BOARD]) or high != _U(state[HIGH]):
                    break
            state[BOARD], state[HIGH], state[PENDING] = np.int64(board), np.int64(high), 1
            returns[0] += reward
            plies += 1


@kernel(abi.PLAYOUT)
def playout(state, depth, rng, returns):
    while state[BOARD] == 0 and state[PENDING] > 0:  # `place_tile` needs a tile
        step(state, sample_chance(state, rng), returns)
    board = _U(state[BOARD])
    # Two 32768s need tiles that sum up to 65,536, and a ply adds at most 4: up to `safe` plies four bits suffice.
    # Without a tile of 4096 or more (bits 2 and 3 of its exponent) the sum is at most 16 * 2048.
    safe = np.int64(8190)
    if board & (board >> _1) & _FOURS != _0:
        safe = (65536 - tile_sum(board)) // 4 - 2
    if state[SIZE] != 4 or state[HIGH] != 0 or state[PENDING] < 0 or board == _0 or safe <= 0:
        return _playout_any(state, depth, rng, returns)
    limit = min(depth, safe)
    start = potential(board)
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    fours = _0
    plies = 0
    for _ in range(state[PENDING]):
        word, s0, s1, s2, s3 = xoshiro(s0, s1, s2, s3)
        empty = occupied(board) ^ _ONES
        board, four = place_tile(board, empty, empty, word & _LOW32)
        fours += four
    # A turned board stays turned: random play does not care, and it is turned back once, at the end. The next direction
    # is drawn before the tile is placed, so that the board turns while the tile's cell is being worked out.
    word, s0, s1, s2, s3 = xoshiro(s0, s1, s2, s3)
    order = ORDERS[np.int64(((word >> _32) * _24) >> _32)]
    turned = (order >> _1) & _1
    board = turn(board, turned)
    over = False
    while plies < limit:
        moved = slide(board, np.int64(order & _1) << 16)
        if moved == board:
            for _ in range(3):
                across = ((order ^ (order >> _2)) >> _1) & _1
                order >>= _2
                turned ^= across
                board = turn(board, across)
                moved = slide(board, np.int64(order & _1) << 16)
                if moved != board:
                    break
            if moved == board:
                over = True
                break
        word, s0, s1, s2, s3 = xoshiro(s0, s1, s2, s3)
        order = ORDERS[np.int64(((word >> _32) * _24) >> _32)]
        across = (order >> _1) & _1
        turned ^= across
        empty = occupied(moved) ^ _ONES
        board, four = place_tile(turn(moved, across), empty, turn(empty, across), word & _LOW32)
        fours += four
        plies += 1
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3
    returns[0] += potential(board) - start - 4 * np.int64(fours)
    state[BOARD] = np.int64(turn(board, turned))
    state[PENDING] = -1 if over or legal_mask(board) == 0 else 0
    if plies == safe and plies < depth and state[PENDING] == 0:
        return plies + _playout_any(state, depth - plies, rng, returns)
    return plies


@kernel(abi.CELLS)
def cells(state, out):
    board, high = _U(state[BOARD]), _U(state[HIGH])
    cells = state[SIZE] * state[SIZE]
    if high == _0:
        for cell in range(cells):
            out[cell] = np.int64((board >> _U(4 * cell)) & _15)
    else:
        for cell in range(cells):
            out[cell] = exponent(board, high, cell)


@dataclass(frozen=True)
class Twenty48(Game):
    """2048: slide and merge tiles on a square board; the score counts."""

    name: ClassVar[str] = "2048"
    size: int = parameter(4, "cells per side", low=2, high=4)

    num_seats: ClassVar[int] = 1
    num_actions: ClassVar[int] = 4
    max_legal: ClassVar[int] = 4
    state_words: ClassVar[int] = STATE_WORDS
    num_cell_values: ClassVar[int] = 18
    milestones: ClassVar[Mapping[str, tuple[int, ...]]] = {"max_tile": (1024, 2048, 4096, 8192, 16384, 32768)}

    @property
    def max_outcomes(self) -> int:  # type: ignore[override]
        return 2 * self.size**2

    @property
    def num_cells(self) -> int:  # type: ignore[override]
        return self.size**2

    @property
    def max_return(self) -> float:  # type: ignore[override]
        """The published bound of the score, 3,932,156 on the 4x4 board (Kutsch 2017, 5); no game can exceed it."""
        return float((self.num_cells - 1) * 2 ** (self.num_cells + 2) - 4)

    def variant_words(self) -> tuple[int, ...]:
        return (self.size,)

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(
            init, to_move, legal, step, chance=chance, sample_chance=sample_chance, playout=playout, cells=cells
        )

    def symmetries(self) -> npt.NDArray[np.int64]:
        return square_symmetries(self.size)

    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        return grid_neighbours(self.size, self.size)

    def action_name(self, action: int) -> str:
        return ACTION_NAMES[action]

    def outcome_name(self, outcome: int) -> str:
        row, column = divmod(outcome // 2, self.size)
        return f"{2 + 2 * (outcome & 1)} at row {row + 1}, column {column + 1}"

    def facts(self, state: npt.NDArray[np.int64]) -> dict[str, float]:
        return self.facts_of(state[None])[0]

    def facts_of(self, states: npt.NDArray[np.int64]) -> list[dict[str, float]]:
        board, high = (states[:, [word]].astype(np.uint64) for word in (BOARD, HIGH))
        cells = np.arange(0, 4 * self.num_cells, 4, dtype=np.uint64)
        exponents = (board >> cells & np.uint64(15)) + (high >> cells & np.uint64(1)) * np.uint64(16)
        return [{"max_tile": 1 << exponent} for exponent in exponents.max(axis=1).tolist()]

    def draw(self, state: npt.NDArray[np.int64]) -> str:
        tiles = [str(2**e) if e else "." for e in self.cell_values(state)]
        rows = [tiles[i : i + self.size] for i in range(0, len(tiles), self.size)]
        return "\n".join(" ".join(f"{tile:>6}" for tile in row) for row in rows)

    def svg(self, state: npt.NDArray[np.int64], changed: Collection[int] = (), notes: Notes | None = None) -> str:
        parts = [f'<rect width="{self.size}" height="{self.size}" rx="0.1" fill="#c9c4ba"/>']
        for cell, power in enumerate(self.cell_values(state).tolist()):
            row, column = divmod(cell, self.size)
            x, y, look = column + 0.05, row + 0.05, f'rx="0.06" fill="{TILE_COLOURS[power]}"'
            look += f' stroke="{CHANGED}" stroke-width="0.04"' if cell in changed and power else ""
            parts.append(f'<rect x="{x:g}" y="{y:g}" width="0.9" height="0.9" {look}/>')
            text = str(1 << power) if power else (notes or {}).get(cell, "")
            size = (0.42, 0.42, 0.42, 0.36, 0.3, 0.24, 0.2)[len(text)]
            parts.append(written(column + 0.5, row + 0.5, text, size, "#fff" if power > 8 else INK, bold=True))
        return picture(self.size, self.size, parts)

    def position_from_tiles(self, board: list[list[int]]) -> npt.NDArray[np.int64]:
        """Returns the state with the given tile values and the player to move (or over)."""
        if len(board) != self.size or any(len(row) != self.size for row in board):
            raise ValueError(f"a board must have {self.size} rows of {self.size} tiles, got {board}")
        state = self.new_state()
        packed = high = 0
        for cell, tile in enumerate(tile for row in board for tile in row):
            exponent = tile.bit_length() - 1 if tile else 0
            if tile and (tile != 1 << exponent or not 1 <= exponent <= 17):
                raise ValueError(f"a tile must be 0 or a power of two from 2 to 131072, got {tile}")
            packed |= (exponent & 15) << 4 * cell
            high |= (exponent >> 4) << 4 * cell
        state[BOARD:PENDING] = np.array([packed, high], np.uint64).astype(np.int64)
        state[PENDING] = 0 if legal_mask_any(_U(packed), _U(high), self.size) else -1
        return state

    def verify_record(self, record: Mapping[str, Any]) -> str | None:
        """Checks `{"board": rows, "moves": {name: {"after": rows, "reward": points}}}`, every legal move of a board."""
        state = self.position_from_tiles(record["board"])
        position = self.position(state)
        got = {}
        for action in position.legal_actions():
            after = position.play(action, draw_chance=False)
            rows = [
                [int(2**e) if e else 0 for e in row] for row in self.cell_values(after.state).reshape(self.size, -1)
            ]
            got[ACTION_NAMES[action]] = {"after": rows, "reward": int(after.returns[0])}
        return None if got == record["moves"] else f"the moves must be {record['moves']}, got {got}"
