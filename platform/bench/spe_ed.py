"""Speed of the searches of spe_ed relative to their targets, on a 60 x 60 board from the opening."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

import numpy as np

from turnier.agents.spe_ed.field import MOVES, fill_field, new_field, stride_of, walkers_of
from turnier.agents.spe_ed.minimax_search import NODES, WEIGHTS, new_numbers, value_of_move
from turnier.agents.spe_ed.rollout_search import ROLLOUTS, STEPS, new_found, new_paths, run_rollouts
from turnier.bench.programs import Benchmark, Rates, scaled
from turnier.core.rng import stream
from turnier.games.game import Ints
from turnier.games.registry import GAMES

BOARD = "spe_ed(width=60,height=60,players={})"
PATHS = 200_000
MINIMAX_DEPTH = 6


def rollout_numbers(seed: int) -> tuple[Ints, float]:
    """Returns the counters of rollouts of one of four players, and their seconds."""
    game = GAMES.make(BOARD.format(4))
    state, field = game.start(seed).state, new_field(game)
    fill_field(state, field)
    memory, none, tree = new_found(new_paths(1000)), np.zeros(0), np.zeros((0, MOVES), np.int32)
    walker, rng = walkers_of(state, [0])[0], stream(seed)
    began = time.perf_counter()
    run_rollouts(field, int(stride_of(state)), walker, 1, new_paths(0), none, tree, 0.69, 0.0, rng, PATHS, 0, memory)
    return memory.numbers, time.perf_counter() - began


def minimax_numbers(seed: int) -> tuple[Ints, float]:
    """Returns the counters of a search of two players, and its seconds."""
    game = GAMES.make(BOARD.format(2))
    state, field = game.start(seed).state, new_field(game)
    fill_field(state, field)
    walkers, numbers = walkers_of(state, [0, 1]), new_numbers(0, 0)
    began = time.perf_counter()
    for action in range(MOVES):
        value_of_move(field, int(stride_of(state)), walkers, action, MINIMAX_DEPTH, 1, np.zeros(WEIGHTS), numbers)
    return numbers, time.perf_counter() - began


def _rollouts(counter: int, target: float, folder: Path, seed: int) -> Rates:
    numbers, seconds = rollout_numbers(seed)
    return Rates(float(numbers[counter] / seconds), scaled(target, folder, seed))


def _minimax(folder: Path, seed: int) -> Rates:
    numbers, seconds = minimax_numbers(seed)
    return Rates(float(numbers[NODES] / seconds), scaled(3e6, folder, seed))


SPE_ED_BENCHMARKS = {
    "spe_ed_rollouts": Benchmark("rollouts/s", "150,000/s at C's 42 M", partial(_rollouts, ROLLOUTS, 150e3)),
    "spe_ed_steps": Benchmark("moves/s", "30 moves each", partial(_rollouts, STEPS, 4.5e6)),
    "spe_ed_minimax": Benchmark("nodes/s", "3 M/s at C's 42 M", _minimax),
}
