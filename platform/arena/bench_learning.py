"""Speed of learning, after the games in which the table is still empty: 2048 with the 4x6 network, and Yavalath."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
from numba import types

from turnier.agents.evaluators.ntuple import NTuple
from turnier.agents.learning.layout import LINE
from turnier.agents.learning.network_kernels import Table
from turnier.agents.learning.td import LEARNING
from turnier.agents.learning.training import Plan, Training
from turnier.agents.registry import AGENTS
from turnier.arena.match import play_matches, replay_positions
from turnier.arena.spec import MatchSpec, derive_seed
from turnier.games.abi import kernel
from turnier.games.registry import GAMES

WARM_GAMES, GAMES_MEASURED = 1000, 2000
THREADS = 2
LINES_READ = 20_000_000
# Weitz 2022, table 4, TCL3, with a twelfth of its alpha, as in studies/weitz/learners.py.
YAVALATH = "td(alpha=0.08333,alpha_end=0.05,epsilon=0.3,epsilon_end=0.1)"
_STEP, _32 = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


def _begun(learning: str, seed: int) -> Training:
    """Returns a training of 2048 that has learned from WARM_GAMES games."""
    plan = Plan(GAMES.make("2048"), NTuple(network="4x6"), LEARNING.make(learning), seed)
    training = Training(plan, Path("no file is written"), WARM_GAMES + 2 * GAMES_MEASURED)
    training.play(0, WARM_GAMES)
    return training


def _moves_per_second(training: Training, first: int, threads: int = 1) -> float:
    games = GAMES_MEASURED // threads
    began = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(lambda i: training.play(first + i * games, games)[1], range(threads)))
    return sum(parts) / (time.perf_counter() - began)


def learned_moves(learning: str, seed: int) -> float:
    """Returns learned moves/s of `learning`, such as td(coherence=false,alpha=0.1)."""
    return _moves_per_second(_begun(learning, seed), WARM_GAMES)


def learned_moves_of_threads(seed: int) -> tuple[float, float]:
    """Returns learned moves/s of THREADS threads that share a table, and of one."""
    training = _begun("td", seed)
    alone = _moves_per_second(training, WARM_GAMES)
    return _moves_per_second(training, WARM_GAMES + GAMES_MEASURED, THREADS), alone


def lines_of_learning(seed: int) -> tuple[float, float]:
    """Returns the cache lines/s that learning with temporal coherence looks up, and those that reads at random reach.

    Each look-up of an afterstate is a line; the entries learned are among those looked up a move before.
    """
    training = _begun("td", seed)
    rate = _moves_per_second(training, WARM_GAMES) * _mean_legal() * training.network.lookups
    table = training.columns[0].base
    began = time.perf_counter()
    read_lines(table, LINES_READ)
    return rate, LINES_READ / (time.perf_counter() - began)


def learned_games_of_yavalath(seed: int) -> float:
    """Returns training games/s with 200 tuples of 7 cells, 12 symmetries and temporal coherence."""
    evaluator = NTuple(network="walk", tuples=200, length=7)
    plan = Plan(GAMES.make("yavalath"), evaluator, LEARNING.make(YAVALATH), seed)
    training = Training(plan, Path("no file is written"), WARM_GAMES + GAMES_MEASURED)
    training.play(0, WARM_GAMES)
    began = time.perf_counter()
    training.play(WARM_GAMES, GAMES_MEASURED)
    return GAMES_MEASURED / (time.perf_counter() - began)


@cache
def _mean_legal() -> float:
    """The mean number of legal actions in a game of 2048 by a greedy player."""
    agent = AGENTS.make("greedy(evaluator=rows2048)").full_text()
    spec = MatchSpec(GAMES.make("2048").full_text(), (agent,), derive_seed("bench", 1))
    positions = replay_positions(spec, play_matches([spec])[0].plies)
    return float(np.mean([len(position.legal_actions()) for position in positions if not position.over]))


@kernel(types.float64(Table, types.int64))
def read_lines(table, count):
    """Reads `count` cache lines of a table at random, independent of each other, and returns their sum."""
    lines, total, word = np.uint64(table.size // LINE), 0.0, _STEP
    for _ in range(count):
        word = word * np.uint64(6364136223846793005) + _STEP
        total += table[((word >> _32) * lines >> _32) * np.uint64(LINE)]
    return total
