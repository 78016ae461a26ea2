"""The five heuristics for 2048 boards that replace rollouts in MCTS-Expectimax; all weights can be tuned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...core.kernel import kernel, types
from ...core.parameters import parameter, parameters_of
from ...games.abi import GAME, Actions, Floats, State
from ...games.game import Game
from ...games.generic import copy_state
from ...games.setup.grids import square_symmetries
from ..abi import EVALUATE, EVALUATE_TOGETHER
from ..evaluator import OWN, ROLLOUT_DEPTH, Evaluator

# Weights in declared order, from OWN on.
USE_EMPTY, EMPTY0, EMPTY1, EMPTY2, EMPTY_METHOD = (OWN + i for i in range(5))
USE_CORNER, CORNER, USE_ROW, ROW0, ROW1, ROW_METHOD = (OWN + i for i in range(5, 11))
USE_MERGE, MERGE, USE_ROLLOUT, ROLLOUT, FORGETS = (OWN + i for i in range(11, 16))

# The eight snakes through the board from a corner, [8, 16].
SNAKES = square_symmetries(4)[:, [0, 1, 2, 3, 7, 6, 5, 4, 8, 9, 10, 11, 15, 14, 13, 12]]


@kernel(types.float64(Actions, types.int64, types.boolean))
def best_chain(exponents, highest, halves):
    """The largest sum of a chain that falls along a snake from the highest tile in a corner, 0 if it is in none.

    With `halves` each tile must be exactly half of the one before, otherwise just lower.
    """
    best = 0.0
    for snake in range(8):
        before = exponents[SNAKES[snake, 0]]
        if before != highest or highest == 0:
            continue
        total = float(1 << before)
        for i in range(1, 16):
            tile = exponents[SNAKES[snake, i]]
            if tile == 0 or tile >= before or (halves and tile != before - 1):
                break
            total += float(1 << tile)
            before = tile
        best = max(best, total)
    return best


@kernel(types.float64(Actions))
def possible_merges(exponents):
    """The sum of the values of neighbours that can merge; three equal tiles in a line merge once."""
    total = 0.0
    for line in range(8):
        start, stride = (4 * line, 1) if line < 4 else (line - 4, 4)
        i = 0
        while i < 3:
            tile = exponents[start + i * stride]
            if tile != 0 and tile == exponents[start + (i + 1) * stride]:
                total += float(1 << tile)
                i += 1
            i += 1
    return total


@kernel(types.float64(GAME, Floats, State, types.float64, Actions))
def bonuses(game, weights, state, score, cells):
    """Returns the sum of the enabled bonuses of a board in points; `cells` is space for its exponents."""
    game.cells(state, cells)
    empty, highest = 0, 0
    for cell in range(16):
        if cells[cell] == 0:
            empty += 1
        highest = max(highest, cells[cell])
    if weights[FORGETS] > 0.0:
        highest = 1
    highest_tile = float(1 << highest)
    bonus = 0.0
    if weights[USE_EMPTY] > 0.0:
        if weights[EMPTY_METHOD] == 0.0:
            power = 1.0
            for _ in range(empty):
                power *= 1.0 + weights[EMPTY0]
            bonus += power
        elif weights[EMPTY_METHOD] == 1.0:
            bonus += highest_tile * float(empty) * weights[EMPTY1]
        else:
            bonus += score * float(empty) * weights[EMPTY2]
    if weights[USE_CORNER] > 0.0 and highest in (cells[0], cells[3], cells[12], cells[15]):
        bonus += highest_tile * weights[CORNER]
    if weights[USE_ROW] > 0.0:
        if weights[ROW_METHOD] == 0.0:
            bonus += best_chain(cells, highest, False) * weights[ROW0]
        else:
            bonus += best_chain(cells, highest, True) * weights[ROW1]
    if weights[USE_MERGE] > 0.0:
        bonus += possible_merges(cells) * weights[MERGE]
    return bonus


@kernel(EVALUATE)
def evaluate_heuristics(game, weights, state, returns, count, rng, totals, scratch):
    """The sum of the enabled bonuses in points (the rollout's share is its final score) / max_return."""
    total = bonuses(game, weights, state, returns[0], scratch.choices) * float(count)
    if weights[USE_ROLLOUT] > 0.0:
        depth = np.int64(weights[ROLLOUT_DEPTH])
        scratch.returns[0] = 0.0
        for _ in range(count):
            copy_state(state, scratch.state)
            game.playout(scratch.state, depth, rng, scratch.returns)
        total += (returns[0] * float(count) + scratch.returns[0]) * weights[ROLLOUT]
    totals[0] += total / game.max_return


@kernel(EVALUATE_TOGETHER)
def evaluate_heuristics_together(game, weights, jobs, enough):
    """`evaluate_heuristics` with rollouts side by side."""
    depth, cells = np.int64(weights[ROLLOUT_DEPTH]), np.empty(game.max_choices, np.int64)
    finished = game.playouts(
        jobs.states, jobs.counts, jobs.waiting, depth, jobs.rngs, jobs.gains, jobs.ended, jobs.lanes, enough, jobs.done
    )
    for i in range(finished):
        job = jobs.done[i]
        score, count = jobs.returns[job, 0], float(jobs.counts[job])
        total = bonuses(game, weights, jobs.states[job], score, cells) * count
        jobs.totals[job, 0] = (total + (score * count + jobs.gains[job, 0]) * weights[ROLLOUT]) / game.max_return
        jobs.gains[job, 0] = 0.0
    return finished


# Values of other parameters with which one is used.
_EMPTY: dict[str, list[int]] = {"use_empty": [True]}
_ROW: dict[str, list[int]] = {"use_row": [True]}


@dataclass(frozen=True)
class Heuristics2048(Evaluator):
    """Bonuses for empty cells, the highest tile in a corner, falling rows, merges and a rollout, for 4x4 boards.

    Source: Kutsch 2017, 7.1 and 9.4 (15 parameters). The defaults are neutral: everything on, every weight one half.
    Differs: the sum is divided by the highest possible score, like rollouts, so that iterations before UCTN normalises
    explore equally; after that a common factor changes nothing.
    """

    name: ClassVar[str] = "heuristics2048"
    evaluate_kernel: ClassVar[Any] = evaluate_heuristics
    together_kernel: ClassVar[Any] = evaluate_heuristics_together
    only_ranks: ClassVar[bool] = True
    forgets: ClassVar[bool] = False  # the highest tile counts as a 2

    use_empty: bool = parameter(True, "reward empty cells")
    empty0: float = parameter(0.5, "weight w of empty method 0", low=0, high=1, when=_EMPTY | {"empty_method": [0]})
    empty1: float = parameter(0.5, "weight w of empty method 1", low=0, high=1, when=_EMPTY | {"empty_method": [1]})
    empty2: float = parameter(0.5, "weight w of empty method 2", low=0, high=1, when=_EMPTY | {"empty_method": [2]})
    empty_method: int = parameter(
        0, "0: (1+w)^empty, 1: highest tile x empty x w, 2: score x empty x w", low=0, high=2, when=_EMPTY
    )
    use_corner: bool = parameter(True, "reward the highest tile in a corner")
    corner: float = parameter(0.5, "weight of the highest tile in a corner", low=0, high=1, when={"use_corner": [True]})
    use_row: bool = parameter(True, "reward a falling chain from the corner")
    row0: float = parameter(0.5, "weight of the chain of row method 0", low=0, high=1, when=_ROW | {"row_method": [0]})
    row1: float = parameter(0.5, "weight of the chain of row method 1", low=0, high=1, when=_ROW | {"row_method": [1]})
    row_method: int = parameter(0, "next tile of a chain: 0 lower, 1 exactly half", low=0, high=1, when=_ROW)
    use_merge: bool = parameter(True, "reward possible merges")
    merge: float = parameter(0.5, "weight of the tiles that can merge", low=0, high=1, when={"use_merge": [True]})
    use_rollout: bool = parameter(True, "add a rollout's final score")
    rollout: float = parameter(0.5, "weight of the rollout's final score", low=0, high=1, when={"use_rollout": [True]})

    def draws_numbers(self, game: Game, rollout_depth: int) -> bool:
        return self.use_rollout

    def cannot_evaluate(self, game: Game) -> str | None:
        if game.name == "2048" and game.num_cells == 16:
            return None
        return f"{self.name} evaluates the 4x4 board of 2048 only, got {game}; use evaluator=rollout."

    def evaluates_together(self, game: Game) -> bool:
        return self.use_rollout

    def own_weights(self, game: Game) -> tuple[float, ...]:
        return (*(float(getattr(self, field.name)) for field, _ in parameters_of(type(self))), float(self.forgets))


@dataclass(frozen=True)
class Forgetful2048(Heuristics2048):
    """The same bonuses as the thesis's program actually gives them: the highest tile always counts as a 2.

    There a copy of a state, which each node of the search has, forgets the highest tile and notes only new tiles, nine
    of ten of them a 2. So the weights for empty cells, corner and rows hardly matter, unlike in the text of the thesis.
    Source: GBG, git 3f19fe3d (27 July 2017).
    """

    name: ClassVar[str] = "forgetful2048"
    forgets: ClassVar[bool] = True
