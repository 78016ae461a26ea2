"""Speed of the searches of spe_ed beside what was asked of them, on a 60 x 60 board from the opening."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from turnier.agents.spe_ed.field import MOVES, fill_field, new_field, stride_of, walkers_of
from turnier.agents.spe_ed.minimax_search import NODES, WEIGHTS, new_numbers, value_of_move
from turnier.agents.spe_ed.rollout_search import ROLLOUTS, STEPS, new_found, new_paths, run_rollouts
from turnier.bench.programs import run_program
from turnier.core.rng import stream
from turnier.games.game import Ints
from turnier.games.registry import GAMES

BOARD = "spe_ed(width=60,height=60,players={})"
PATHS = 200_000
MINIMAX_DEPTH = 6
RANDOM_GAMES = 200_000
SCALE_MOVES = 42e6  # what the C program's random play of 2048 makes on the machine for which the targets are meant
Pair = tuple[float, float]


def _scaled(target: float, folder: Path, seed: int) -> float:
    """A target on this machine, as it is in this moment."""
    moves = run_program(folder, "reference_2048", "random", RANDOM_GAMES, seed)["moves_per_second"]
    return target * moves / SCALE_MOVES


def rollout_numbers(seed: int) -> tuple[Ints, float]:
    """Returns the numbers of rollouts of one of four players, and their seconds."""
    game = GAMES.make(BOARD.format(4))
    state, field = game.start(seed).state, new_field(game)
    fill_field(state, field)
    found, none, tree = new_found(new_paths(1000)), np.zeros(0), np.zeros((0, MOVES), np.int32)
    walker, rng = walkers_of(state, [0])[0], stream(seed)
    began = time.perf_counter()
    run_rollouts(field, int(stride_of(state)), walker, 1, new_paths(0), none, tree, 0.69, 0.0, rng, PATHS, 0, found)
    return found.numbers, time.perf_counter() - began


def minimax_numbers(seed: int) -> tuple[Ints, float]:
    """Returns the numbers of a search of two players, and its seconds."""
    game = GAMES.make(BOARD.format(2))
    state, field = game.start(seed).state, new_field(game)
    fill_field(state, field)
    walkers, numbers = walkers_of(state, [0, 1]), new_numbers(0, 0)
    began = time.perf_counter()
    for action in range(MOVES):
        value_of_move(field, int(stride_of(state)), walkers, action, MINIMAX_DEPTH, 1, np.zeros(WEIGHTS), numbers)
    return numbers, time.perf_counter() - began


def _rollouts(number: int, target: float, folder: Path, seed: int) -> Pair:
    numbers, seconds = rollout_numbers(seed)
    return float(numbers[number] / seconds), _scaled(target, folder, seed)


def _minimax(folder: Path, seed: int) -> Pair:
    numbers, seconds = minimax_numbers(seed)
    return float(numbers[NODES] / seconds), _scaled(3e6, folder, seed)


SPE_ED_MEASURES: dict[str, tuple[str, str, Callable[[Path, int], Pair]]] = {
    "spe_ed_rollouts": ("rollouts/s", "150,000/s at C's 42 M", partial(_rollouts, ROLLOUTS, 150e3)),
    "spe_ed_steps": ("moves/s", "30 moves each", partial(_rollouts, STEPS, 4.5e6)),
    "spe_ed_minimax": ("nodes/s", "3 M/s at C's 42 M", _minimax),
}
