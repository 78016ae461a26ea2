"""Evaluation of spe_ed by random play in which all players avoid death while they can."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...core.kernel import kernel, types
from ...core.rng import Rng, below
from ...games.abi import State
from ...games.game import Game
from ...games.spe_ed.board import (
    CHANGE_NOTHING,
    DIRECTION,
    DX,
    DY,
    HEIGHT,
    MAX_SPEED,
    ROUND,
    SPEED,
    WIDTH,
    X,
    Y,
    cell_at,
    jumps,
)
from ..abi import EVALUATE
from ..evaluator import ROLLOUT_DEPTH, Evaluator
from .search.field import FASTER, MOVES, TURN


@kernel(types.boolean(State, types.int64, types.int64))
def enters_free_cells(state, seat, action):
    """Whether a seat's action enters only cells that are free now."""
    speed = state[SPEED + seat] + FASTER[action]
    heading = (state[DIRECTION + seat] + TURN[action]) & 3
    end_x, end_y = state[X + seat] + speed * DX[heading], state[Y + seat] + speed * DY[heading]
    width, height = state[WIDTH], state[HEIGHT]
    if speed < 1 or speed > MAX_SPEED or end_x < 0 or end_x >= width or end_y < 0 or end_y >= height:
        return False
    jump = jumps(state[ROUND] + 1, speed)
    for back in range(speed):
        x, y = end_x - back * DX[heading], end_y - back * DY[heading]
        if (not jump or back == 0 or back == speed - 1) and cell_at(state, y * width + x) != 0:
            return False
    return True


@kernel(types.int64(State, types.int64, Rng))
def random_survivor(state, seat, rng):
    """A random one of the actions that enter only free cells, straight on if there is none."""
    possible, chosen = 0, np.int64(CHANGE_NOTHING)
    for action in range(MOVES):
        if enters_free_cells(state, seat, action):
            possible += 1
            if below(rng, possible) == 0:
                chosen = np.int64(action)
    return chosen


@kernel(EVALUATE)
def evaluate_survivors(game, weights, state, returns, count, rng, totals, scratch):
    depth = np.int64(weights[ROLLOUT_DEPTH])
    work, gains = scratch.state, scratch.returns
    gains[:] = 0.0
    for _ in range(count):
        for i in range(work.size):
            work[i] = state[i]
        for _ in range(depth):
            seat = game.to_move(work)
            if seat < 0:
                break
            game.step(work, random_survivor(work, seat, rng), gains)
    for seat in range(totals.size):
        totals[seat] += returns[seat] * float(count) + gains[seat]


@dataclass(frozen=True)
class Survivors(Evaluator):
    """spe_ed: one random game in which seats avoid cells that are already taken. Source: Brot 2021, 3.2.

    With it, `mcts` is the document's tree search: it covers all seats and simulates only possible moves.
    """

    name: ClassVar[str] = "survivors"
    evaluate_kernel: ClassVar[Any] = evaluate_survivors

    def draws_numbers(self, game: Game, rollout_depth: int) -> bool:
        return rollout_depth > 0 or game.has_chance

    def cannot_evaluate(self, game: Game) -> str | None:
        return None if game.name == "spe_ed" else f"survivors values spe_ed only, got {game}; use rollout or score."
