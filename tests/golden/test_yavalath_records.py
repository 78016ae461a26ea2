"""Yavalath against games and counts of independent implementations, and wrong rules against the same records."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from turnier.core.kernel import JIT, kernel
from turnier.games import abi
from turnier.games.game import Game
from turnier.games.verify import verify_file
from turnier.games.yavalath.board import (
    MADE,
    MOVER,
    NOTHING,
    NUM_CELLS,
    PLAYERS,
    SITES,
    SIZE,
    STONES,
    SWAPPED,
    THREE,
    makes,
    occupied,
    stones_at,
    toggle,
    window,
)
from turnier.games.yavalath.game import Yavalath
from turnier.games.yavalath.rules import init, legal, settle, step, to_move

FOLDER = Path(__file__).parent.parent / "data" / "yavalath"
LINES = {
    "careful_2p": 100,
    "careful_3p": 60,
    "coordinates": 61,
    "draw_2p": 30,
    "full_board_2p": 60,
    "last_cell_2p": 3,
    "perft_2p": 15,
    "perft_2p_swap": 15,
    "perft_3p": 15,
    "random_2p": 300,
    "random_2p_swap": 100,
    "random_3p": 100,
}


def test_every_file_is_known() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(LINES)


@pytest.mark.parametrize("game", [Yavalath(), Yavalath(size=8, players=3)], ids=str)
@pytest.mark.parametrize("name", LINES)
def test_every_record_is_reproduced(name: str, game: Game) -> None:
    """Records say themselves what variant they are of."""
    if JIT or not name.startswith("perft"):  # plain Python takes minutes for the counts
        assert verify_file(game, FOLDER / f"{name}.jsonl") == (LINES[name], None)


def first(name: str, key: str = "", value: object = None) -> dict[str, Any]:
    """Returns the first record of a file, or the first with a value."""
    records = map(json.loads, (FOLDER / f"{name}.jsonl").read_text().splitlines())
    return next(record for record in records if not key or record[key] == value)


CHANGES: list[tuple[str, str, Any]] = [
    ("random_2p", "winner", 0),
    ("random_2p", "length", 8),
    ("random_2p", "end", "four"),
    ("random_2p", "cells", [36, 10, 18, 24, 60, 7]),
    ("random_2p", "cells", [36, 10, 18, 24, 60, 7, 27, 1]),
    ("random_2p", "cells", [36, 36]),
    ("random_2p_swap", "swapped", False),
    ("random_2p_swap", "winner_colour", 1),
    ("random_2p_swap", "movers", [1] * 30),
    ("random_3p", "movers", [0] * 27),
    ("random_3p", "n_legal", [61] * 27),
    ("random_3p", "forced", []),
    ("random_3p", "forced", [[12, [47]], [26, [32]]]),
    ("random_3p", "ranking", [1.0, 2.0, 3.0]),
    ("random_3p", "rank_events", [[23, 1, 3.0]]),
    ("random_3p", "winner", -1),
    ("perft_2p", "perft", [41, 1328, 44191]),
    ("perft_2p", "terminal", [8, 199, 10098]),
    ("perft_2p", "mover", 1),
    ("coordinates", "q", 1),
    ("coordinates", "label", "E8"),
]


@pytest.mark.parametrize(("name", "key", "value"), CHANGES, ids=lambda value: str(value)[:20])
def test_a_wrong_record_is_noticed(name: str, key: str, value: Any) -> None:
    record = first(name, "swapped", True) if key == "swapped" or "swap" in name else first(name)
    assert Yavalath().verify_record(record) is None
    wrong = copy.deepcopy(record) | {key: value}
    assert wrong != record
    assert " must be " in str(Yavalath().verify_record(wrong))


@kernel(abi.STEP)
def step_any_three_loses(state, action, rewards):
    """A four has a three in it, and that is said to lose."""
    site, seat, colour = SITES[state[SIZE], action], state[MOVER], state[STONES] & 1
    colour = seat if state[PLAYERS] == 3 else colour
    made = makes(state, colour, site)
    toggle(state, colour, site)
    state[STONES] += 1
    settle(state, seat, NOTHING if made == NOTHING else THREE, rewards)


@kernel(abi.STEP)
def step_separate_three_loses(state, action, rewards):
    """A three loses even where another line has four."""
    if action == NUM_CELLS[state[SIZE]]:
        step(state, action, rewards)
        return
    site, seat, colour = SITES[state[SIZE], action], state[MOVER], state[STONES] & 1
    colour = seat if state[PLAYERS] == 3 else colour
    made = makes(state, colour, site)
    for direction in range(3):
        if MADE[window(state, stones_at(state, colour), site, direction)] & 3 == THREE:
            made = np.int64(THREE)
    toggle(state, colour, site)
    state[STONES] += 1
    settle(state, seat, made, rewards)


@kernel(abi.STEP)
def step_swap_moves_again(state, action, rewards):
    step(state, action, rewards)
    if action == NUM_CELLS[state[SIZE]]:
        state[MOVER] = 1


@kernel(abi.STEP)
def step_swap_recolours(state, action, rewards):
    """The stone changes its colour and the seats keep theirs."""
    if action == NUM_CELLS[state[SIZE]]:
        for cell in range(NUM_CELLS[state[SIZE]]):
            site = SITES[state[SIZE], cell]
            if occupied(state, site):
                toggle(state, 0, site)
                toggle(state, 1, site)
                break
        state[STONES] = 2
        state[SWAPPED], state[MOVER] = 1, 0
    else:
        step(state, action, rewards)


@kernel(abi.LEGAL)
def legal_without_block(state, out):
    """Three players may play anywhere."""
    n = 0
    for cell in range(NUM_CELLS[state[SIZE]]):
        if not occupied(state, SITES[state[SIZE], cell]):
            out[n] = cell
            n += 1
    return n


class ThreeInFour(Yavalath):
    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(init, to_move, legal, step_any_three_loses)


class ThreeBesideFour(Yavalath):
    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(init, to_move, legal, step_separate_three_loses)


class SwapMovesAgain(Yavalath):
    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(init, to_move, legal, step_swap_moves_again)


class SwapRecolours(Yavalath):
    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(init, to_move, legal, step_swap_recolours)


class NoBlock(Yavalath):
    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(init, to_move, legal_without_block, step)


@pytest.mark.parametrize(
    ("wrong", "names"),
    [
        (ThreeInFour, ("random_2p", "careful_2p", "full_board_2p", "careful_3p")),
        (ThreeBesideFour, ("careful_2p", "full_board_2p", "random_2p")),
        (SwapMovesAgain, ("random_2p_swap",)),
        (SwapRecolours, ("random_2p_swap",)),
        (NoBlock, ("random_3p", "careful_3p")),
    ],
)
def test_wrong_rules_are_noticed(wrong: type[Yavalath], names: tuple[str, ...]) -> None:
    said = [verify_file(wrong(), FOLDER / f"{name}.jsonl")[1] for name in names]
    assert any(said) if wrong is ThreeBesideFour else all(said), said
