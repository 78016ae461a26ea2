"""Speed of learning once the table has filled: 2048 with the 4x6 network, and Yavalath."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from numba import types

from turnier.agents.ntuple.evaluator import NTuple
from turnier.agents.ntuple.network_kernels import EntryTable, Index, find_entries
from turnier.agents.ntuple.td import LEARNING
from turnier.agents.ntuple.training import Plan, TrainingLoop
from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchSpec, derive_seed
from turnier.arena.play import play_matches, replay_positions
from turnier.bench.programs import Benchmark, Rates, scaled
from turnier.core.kernel import kernel
from turnier.games.registry import GAMES

WARM_GAMES, GAMES_MEASURED = 1000, 2000
THREADS = 2
GAMES_READ = 4
# Weitz 2022, table 4, TCL3, with a twelfth of its alpha, as in studies/weitz/learners.py.
YAVALATH = "td(alpha=0.08333,alpha_end=0.05,epsilon=0.3,epsilon_end=0.1)"


def _warmed_up(learning: str, seed: int) -> TrainingLoop:
    """Returns a training at 2048 that has learned from WARM_GAMES games."""
    plan = Plan(GAMES.make("2048"), NTuple(network="4x6"), LEARNING.make(learning), seed)
    training = TrainingLoop(plan, Path("no file is written"), WARM_GAMES + 2 * GAMES_MEASURED)
    training.play(0, WARM_GAMES)
    return training


def _moves_per_second(training: TrainingLoop, first: int, threads: int = 1) -> float:
    games = GAMES_MEASURED // threads
    began = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(lambda i: training.play(first + i * games, games)[1], range(threads)))
    return sum(parts) / (time.perf_counter() - began)


def learned_moves(learning: str, seed: int) -> float:
    """Returns learned moves/s of `learning`, such as td(coherence=false,alpha=0.1)."""
    return _moves_per_second(_warmed_up(learning, seed), WARM_GAMES)


def learned_moves_of_threads(seed: int) -> Rates:
    """Returns learned moves/s of THREADS threads that share a table, relative to one thread."""
    training = _warmed_up("td", seed)
    one = _moves_per_second(training, WARM_GAMES)
    return Rates(_moves_per_second(training, WARM_GAMES + GAMES_MEASURED, THREADS), one)


def look_ups_of_learning(seed: int) -> Rates:
    """Returns look-ups/s of learning with temporal coherence, relative to only reading such entries in order.

    The reference is what memory allows: afterstates of all legal actions in games of a good player, nothing computed.
    """
    training = _warmed_up("td", seed)
    places, moves = _places(training)
    rate = _moves_per_second(training, WARM_GAMES) * places.size / moves
    read_entries(training.table, places[:1])  # compiles
    began = time.perf_counter()
    read_entries(training.table, places)
    return Rates(rate, places.size / (time.perf_counter() - began))


def learned_games_of_yavalath(seed: int) -> float:
    """Returns training games/s with 200 tuples of 7 cells, 12 symmetries and temporal coherence."""
    evaluator = NTuple(network="walk", tuples=200, length=7)
    plan = Plan(GAMES.make("yavalath"), evaluator, LEARNING.make(YAVALATH), seed)
    training = TrainingLoop(plan, Path("no file is written"), WARM_GAMES + GAMES_MEASURED)
    training.play(0, WARM_GAMES)
    began = time.perf_counter()
    training.play(WARM_GAMES, GAMES_MEASURED)
    return GAMES_MEASURED / (time.perf_counter() - began)


def _places(training: TrainingLoop) -> tuple[npt.NDArray[np.uint64], int]:
    """Returns the places of the entries of all afterstates in GAMES_READ games, in order, and the number of moves."""
    game, network, words = training.plan.game, training.network, training.words
    agent, entries, moves = AGENTS.make("greedy(evaluator=rows2048)").full_text(), [], 0
    for number in range(GAMES_READ):
        spec = MatchSpec(game.full_text(), (agent,), derive_seed("bench", number))
        for position in replay_positions(spec, play_matches([spec])[0].plies):
            moves += 1
            for action in position.legal_actions():
                after, places = position.play(action, draw_chance=False), np.zeros(network.lookups, np.uint64)
                find_entries(words, game.cell_values(after.state), 0, places, 0)
                entries.append(places)
    return np.concatenate(entries), moves


@kernel(types.float64(EntryTable, Index))
def read_entries(table, places):
    """Returns the sum of a table's entries at some places; no read waits for another."""
    total = 0.0
    for i in range(places.size):
        total += table[places[i]]
    return total


def _learn_2048(learning: str, target: float, folder: Path, seed: int) -> Rates:
    reference = scaled(target, folder, seed)
    return Rates(learned_moves(learning, seed), reference)


def _learn_yavalath(folder: Path, seed: int) -> Rates:
    reference = scaled(1500.0, folder, seed)
    return Rates(learned_games_of_yavalath(seed), reference)


LEARNING_BENCHMARKS = {
    "learn_td_2048": Benchmark(
        "moves/s", "1.5 M/s at C's 42 M", partial(_learn_2048, "td(coherence=false,alpha=0.1)", 1.5e6)
    ),
    "learn_tc_2048": Benchmark("moves/s", "1.0 M/s at C's 42 M", partial(_learn_2048, "td", 1e6)),
    "learn_2048_threads": Benchmark(
        "moves/s", "tc on 1 of the 2 cores; target 1.7", lambda folder, seed: learned_moves_of_threads(seed)
    ),
    "learn_2048_memory": Benchmark(
        "look-ups/s", "the same entries, only read: memory's floor", lambda folder, seed: look_ups_of_learning(seed)
    ),
    "learn_yavalath": Benchmark("games/s", "1,500/s at C's 42 M", _learn_yavalath),
}
