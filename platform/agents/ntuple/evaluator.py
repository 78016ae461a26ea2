"""N-tuple networks: a board's value as a sum of learned table entries over tuples of its cells."""

from __future__ import annotations

import functools
import os
import shlex
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...core.errors import UserError
from ...core.kernel import kernel, types
from ...core.parameters import parameter
from ...games.abi import GAME, TERMINAL, Actions, State
from ...games.game import Game
from ...games.generic import copy_state
from ...games.registry import GAMES
from ...games.twenty48.board import move
from ...games.twenty48.rules import BOARD, HIGH
from ..abi import EVALUATE, SCRATCH, EvaluatorKernels
from ..evaluator import Evaluator
from ..learning.files import fill_digest
from .board2048_kernels import at_most_15, packed_value
from .network import (
    CELLS,
    POINTS,
    PUBLISHED,
    WALK,
    Network,
    published_tuples,
    random_tuples,
    walked_tuples,
    written_stages,
    written_tuples,
)
from .network_kernels import (
    AT_END,
    BASES,
    BOUND,
    ENTRIES,
    LENGTH,
    LOOK_AHEAD,
    ORIGIN,
    OUTPUTS,
    PACKED,
    SYMMETRIES,
    TUPLES,
    VALUES,
    EntryTable,
    Header,
    squeezed,
    stage_of,
)
from .weights import evaluator_weights, read_config, read_values, weights_from_file

_U = np.uint64
_NOTHING = np.float64(0.0)


@kernel(types.float32(Header, EntryTable, Actions, types.int64))
def cells_value(words, table, cells, block):
    """The network's value of cells, summed up as by `sum_entries`."""
    tuples, length, highest = words[TUPLES], words[LENGTH], words[VALUES] - 1
    factors = BASES + 2 * tuples
    places = factors + tuples * length
    origin = words[ORIGIN] + block * words[ENTRIES]
    total = _NOTHING
    for t in range(tuples):
        part = _NOTHING
        for _ in range(words[SYMMETRIES]):
            entry = words[BASES + t]
            for i in range(length):
                entry += words[factors + i] * min(cells[words[places + i]], highest)
            part += table[origin + entry]
            places += length
        total += part
        factors += length
    return np.float32(total)


@kernel(types.float64(Header, EntryTable, types.uint64, types.uint64, SCRATCH))
def best_after_2048(words, table, board, high, scratch):
    """The largest reward plus value of a move from a 4x4 board of 2048."""
    images = scratch.choices.view(np.uint64)
    best, found = 0.0, False
    for action in range(4):
        after, after_high, reward = move(board, high, 4, action)
        if after != board or after_high != high:
            value = float(packed_value(words, at_most_15(after, after_high), table, images))
            if words[AT_END] == 0:
                value += reward
            if not found or value > best:
                best, found = value, True
    return best


@kernel(types.float64(GAME, Header, EntryTable, State, types.float64, SCRATCH))
def best_after(game, words, table, state, so_far, scratch):
    """The largest reward plus value of an action in a game of one seat, or the whole return if values are of that."""
    after, gains, choices = scratch.state, scratch.returns, scratch.choices
    n = game.legal(state, choices)
    best = 0.0
    for i in range(n):
        game.legal(state, choices)  # the cells have overwritten it
        copy_state(state, after)
        gains[0] = so_far if words[AT_END] != 0 else 0.0
        game.step(after, choices[i], gains)
        value = gains[0]
        if game.to_move(after) != TERMINAL:
            game.cells(after, choices)
            rest = float(cells_value(words, table, choices, stage_of(words, choices)))
            value = rest if words[AT_END] != 0 else rest + value
        if i == 0 or value > best:
            best = value
    return best


@kernel(EVALUATE)
def evaluate_ntuple(game, weights, state, returns, count, rng, totals, scratch):
    """The returns so far plus the rest expected by the network, or its whole expected return, / max_return."""
    words, table = weights.view(np.int64), weights.view(np.float32)
    mover = game.to_move(state)
    share = float(count) / game.max_return
    if mover == TERMINAL or words[AT_END] == 0:
        for seat in range(totals.size):
            totals[seat] += returns[seat] * share
    if mover == TERMINAL:
        return
    if words[PACKED] != 0:
        board, high = _U(state[BOARD]), _U(state[HIGH])
        if mover == 0:
            totals[0] += share * best_after_2048(words, table, board, high, scratch)
        else:
            images = scratch.choices.view(np.uint64)
            totals[0] += share * float(packed_value(words, at_most_15(board, high), table, images))
        return
    if mover == 0 and words[LOOK_AHEAD] != 0:
        totals[0] += share * best_after(game, words, table, state, returns[0], scratch)
        return
    game.cells(state, scratch.choices)
    outputs = words[OUTPUTS]
    phase = stage_of(words, scratch.choices) * totals.size + max(mover, 0)
    for o in range(outputs):
        total = cells_value(words, table, scratch.choices, phase * outputs + o)
        value = share * float(squeezed(words, total) if words[BOUND] != 0 else total)
        totals[o] += value
        if outputs == 1 and totals.size == 2:
            totals[1] -= value


@dataclass(frozen=True)
class NTuple(Evaluator):
    """The value of a board by an n-tuple network from a file; without one the network is empty.

    A network sums up one table entry per tuple of cells, for the board and all its symmetric images. `turnier train`
    writes the files. If the seat of a one-seat game with chance is to move, its best action counts, since values are
    learned for afterstates. Sources: Kutsch 2017, 6.1; Weitz 2022, 4.1; Szubert and Jaskowski 2014; Wu and others 2014
    (stages).
    """

    name: ClassVar[str] = "ntuple"
    evaluate_kernel: ClassVar[Any] = evaluate_ntuple

    file: str = parameter("", "file of weights that `turnier train` wrote; it determines the network", carried=True)
    digest: str = parameter("", "digest that the weights must have; filled in")
    network: str = parameter(WALK, "the network's tuples", choices=(*PUBLISHED, WALK, POINTS, CELLS))
    tuples: int = parameter(20, "walk and points: number of random tuples", low=1, high=1000, search=(1, 50))
    length: int = parameter(3, "walk and points: cells per tuple", low=1, high=10)
    seed: int = parameter(1, "walk and points: seed of the random tuples", low=0, high=2**53, search=(1, 100))
    cells: str = parameter("", "cells: the tuples, such as 0.1.2/4.5.6")
    symmetric: bool = parameter(True, "also sum over the board's symmetric images")
    values: int = parameter(
        16,
        "number of distinct cell values; higher ones count as the highest",
        low=2,
        high=64,
        search=(2, 20),
    )
    stages: str = parameter("", "largest cell values from which boards have separate entries, such as 10.12")

    def draws_numbers(self, game: Game, rollout_depth: int) -> bool:
        return False

    def check(self) -> None:
        if (self.network == CELLS) != bool(self.cells):
            raise UserError("ntuple: network=cells must have cells, and no other network; write cells=0.1.2/4.5.6.")
        written_stages(self.stages)
        fill_digest(self, read_values)

    def cannot_evaluate(self, game: Game) -> str | None:
        if not game.num_cells:
            return f"ntuple needs a game with a board, got {game}; use evaluator=rollout."
        if self.file and not os.path.isfile(self.carried_path("file")):
            return None  # stored matches can be counted without the file; playing raises an error
        if self.file:
            learned = GAMES.make(read_config(self.carried_path("file"))["network"]["game"])
            if learned != game:
                words = ("turnier", "train", str(game), "--begins", self.file, "--games", "0", "--out", "FILE")
                move = f" or move them: {shlex.join(words)}"
                return (
                    f"the weights in {self.file} are for {learned}, got {game}; train some for it"
                    f"{move if learned.name == game.name and len(game.grid()) else ''}."
                )
        elif self.network in PUBLISHED and (game.name != "2048" or game.num_cells != 16):
            return f"the network {self.network} is for the 4x4 board of 2048 only, got {game}; use network=walk."
        return None

    def network_for(self, game: Game) -> Network:
        """Returns the network of the parameters; the file is not read."""
        if self.network in PUBLISHED:
            tuples = published_tuples(self.network)
        elif self.network == CELLS:
            tuples = written_tuples(self.cells)
        elif self.network == WALK:
            tuples = walked_tuples(game.neighbours(), self.tuples, self.length, self.seed)
        else:
            tuples = random_tuples(game.num_cells, self.tuples, self.length, self.seed)
        return Network.of(game, tuples, self.values, self.symmetric, written_stages(self.stages))

    def weights(self, game: Game, in_quarters: bool = True) -> npt.NDArray[np.float64]:
        """Returns the network's `evaluator_weights`, which others share."""
        if self.file:
            return weights_from_file(str(self.carried_path("file").resolve()), self.digest, in_quarters)
        return _empty(self.network_for(game), in_quarters)

    def kernels(self, game: Game, rollout_depth: int, score_method: int) -> EvaluatorKernels:
        return self.with_weights(game, self.weights(game))


@functools.lru_cache(maxsize=16)
def _empty(network: Network, in_quarters: bool) -> npt.NDArray[np.float64]:
    return evaluator_weights(network, None, in_quarters)
