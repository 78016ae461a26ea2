"""Yavalath with unsound or incomplete `forced_win`, for the law of forced_wins.py to catch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numba import types

from tests.contract.broken_games import Broken
from turnier.contract.games.forced_wins import law_forced_win
from turnier.core.kernel import kernel, pointer
from turnier.games import abi
from turnier.games.abi import NO_WIN
from turnier.games.registry import make_game
from turnier.games.yavalath.board import (
    CELLS_AT,
    FOUR,
    NOTHING,
    NUM_CELLS,
    SITES,
    SIZE,
    STONES,
    makes,
    occupied,
    threats,
    toggle,
)
from turnier.games.yavalath.forced import forced_win


@kernel(abi.FORCED_WIN)
def hopes_that_one_threat_is_enough(state, depth):
    found, colour = forced_win(state, depth), state[STONES] & 1
    for cell in range(NUM_CELLS[state[SIZE]]):
        site = SITES[state[SIZE], cell]
        if found == NO_WIN and depth > 0 and not occupied(state, site) and makes(state, colour, site) == NOTHING:
            toggle(state, colour, site)
            if threats(state, colour, site)[0] > 0:
                found = np.int64(cell)
            toggle(state, colour, site)
    return found


@kernel(types.int64(abi.State, types.int64))
def _double(state, colour):
    """A cell that makes two threats of a four, or NO_WIN."""
    for cell in range(NUM_CELLS[state[SIZE]]):
        site = SITES[state[SIZE], cell]
        if not occupied(state, site) and makes(state, colour, site) == NOTHING:
            toggle(state, colour, site)
            count = threats(state, colour, site)[0]
            toggle(state, colour, site)
            if count > 1:
                return np.int64(CELLS_AT[state[SIZE], site])
    return np.int64(NO_WIN)


@kernel(abi.FORCED_WIN)
def forgets_that_the_other_threatens(state, depth):
    found = forced_win(state, depth)
    return _double(state, state[STONES] & 1) if found == NO_WIN and depth > 0 else found


@kernel(abi.FORCED_WIN)
def needs_one_move_more(state, depth):
    return forced_win(state, depth + 1)


@kernel(abi.FORCED_WIN)
def plays_without_looking(state, depth):
    return np.int64(0)


@kernel(abi.FORCED_WIN)
def overlooks_wins_at_once(state, depth):
    found, colour = forced_win(state, depth), state[STONES] & 1
    return NO_WIN if found != NO_WIN and makes(state, colour, SITES[state[SIZE], found]) == FOUR else found


@kernel(abi.FORCED_WIN)
def leaves_a_trace(state, depth):
    state[-1] ^= 1
    return forced_win(state, depth)


@kernel(abi.FORCED_WIN)
def finds_nothing(state, depth):
    return NO_WIN


def with_forced_win(says: str, broken: Any, text: str = "yavalath(size=4)") -> Broken:
    game = make_game(text)
    game.__dict__["kernels"] = replace(game.kernels, forced_win=pointer(broken, abi.FORCED_WIN))
    return Broken(law_forced_win, broken.__name__, says, game)


BROKEN_FORCED_WINS = [
    with_forced_win("with 0 moves left it plays -1", hopes_that_one_threat_is_enough),
    with_forced_win("ends with returns", forgets_that_the_other_threatens),
    with_forced_win("but the game goes on", needs_one_move_more),
    with_forced_win("must win by", plays_without_looking),
    with_forced_win("it plays -1", overlooks_wins_at_once),
    with_forced_win("changed", leaves_a_trace),
    with_forced_win("must find the immediate win", finds_nothing),
]
