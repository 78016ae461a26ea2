"""Speed of learning once the table has filled: 2048 with the 4x6 network, and Yavalath."""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from benchmarks.programs import Benchmark, Rates, Round, Stopwatch, program_speed, require_equal, run_program
from turnier.agents.ntuple.evaluator import NTuple
from turnier.agents.ntuple.network_kernels import EntryTable, Index, find_entries
from turnier.agents.ntuple.td import td_of
from turnier.agents.ntuple.training import Plan, TdLoop
from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchSpec, derive_seed
from turnier.arena.play import play_matches, replay_positions
from turnier.core.kernel import kernel
from turnier.core.rng import streams_of
from turnier.games.registry import GAMES

WARM_GAMES, GAMES_MEASURED = 1000, 2000
THREADS = 2
GAMES_READ = 4
PLAIN = "td(coherence=false,alpha=0.1)"
# Weitz 2022, table 4, TCL3, with a twelfth of its alpha.
YAVALATH = "td(alpha=0.08333,alpha_end=0.05,epsilon=0.3,epsilon_end=0.1)"


def _warmed_up(learning: str, this: Round) -> TdLoop:
    """Returns a training at 2048 after WARM_GAMES games."""
    plan = Plan(GAMES.make("2048"), NTuple(network="4x6"), td_of(learning), this.seed)
    training = TdLoop(plan, Path("no file is written"), WARM_GAMES + 2 * GAMES_MEASURED)
    training.play(0, this.part(WARM_GAMES))
    return training


def _learn(training: TdLoop, this: Round, games_before: int, threads: int = 1) -> tuple[int, Stopwatch]:
    """Learns from GAMES_MEASURED games; returns their moves."""
    games = this.part(GAMES_MEASURED) // threads
    with Stopwatch() as clocks, ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(lambda i: training.play(games_before + i * games, games)[1], range(threads)))
    return sum(parts), clocks


def _reference_2048(alpha: float, training: TdLoop, this: Round, games: int, *matches: object) -> dict[str, Any]:
    """Returns the C program's report on learning the same after the warm-up, or on playing matches with the result."""
    kind = "tc" if training.plan.learning.coherence else "td"
    arguments = (kind, training.key, this.part(WARM_GAMES), games, alpha, *matches)
    return run_program(this.folder, "reference_learning2048", *arguments)


def learned_moves(learning: str, this: Round) -> Rates:
    """Learned moves/s at 2048 with the network 4x6; both programs learn the same weights."""
    training, games = _warmed_up(learning, this), this.part(GAMES_MEASURED)
    theirs = _reference_2048(training.plan.learning.alpha, training, this, games)
    moves, clocks = _learn(training, this, this.part(WARM_GAMES))
    require_equal("the number of moves", moves, theirs["moves"])
    require_equal("the digest of the weights", _digest(training), theirs["digest"])
    return Rates(clocks.speed(moves), program_speed(theirs, "moves"))


def played_moves(this: Round) -> Rates:
    """Moves/s of `greedy` with a network 4x6 that has learned from WARM_GAMES games; both play the same matches."""
    training, weights, streams_file = _warmed_up(PLAIN, this), this.folder / "weights.npz", this.folder / "streams"
    training.weights().save(weights)
    agent = AGENTS.make(f"greedy(evaluator=ntuple(file={weights}))").full_text()
    game = training.plan.game.full_text()
    seeds = [derive_seed("bench", this.seed, number) for number in range(this.part(GAMES_MEASURED))]
    streams_of(seeds, 2).tofile(streams_file)
    alpha = training.plan.learning.alpha
    theirs = _reference_2048(alpha, training, this, 0, streams_file, len(seeds))
    specs = [MatchSpec(game, (agent,), seed) for seed in seeds]
    play_matches(specs[:1])  # compiles
    with Stopwatch() as clocks:
        records = play_matches(specs)
    require_equal("the sum of the scores", sum(round(record.scores[0]) for record in records), theirs["score"])
    moves = sum(record.decisions[0] for record in records)
    return Rates(clocks.speed(moves), program_speed(theirs, "moves"))


def _digest(training: TdLoop) -> str:
    """Returns a digest of the weights as in the C program: a sum of their bits, each with its own factor."""
    table = training.weights().table(training.network.layout(training.plan.learning.coherence, in_quarters=False))
    places = np.flatnonzero(table.view(np.uint32)).astype(np.uint64)
    factors = np.uint64(2) * places + np.uint64(1)
    total = int((table.view(np.uint32)[places] * factors).sum(dtype=np.uint64))
    return str(total)


def learned_moves_of_threads(this: Round) -> Rates:
    """Learned moves/s of THREADS threads that share a table, relative to one thread."""
    training = _warmed_up("td", this)
    moves, one = _learn(training, this, this.part(WARM_GAMES))
    moves_of_all, all_threads = _learn(training, this, this.part(WARM_GAMES) + this.part(GAMES_MEASURED), THREADS)
    return Rates(all_threads.speed(moves_of_all), one.speed(moves))


def look_ups_of_learning(this: Round) -> Rates:
    """Look-ups/s of learning with temporal coherence, relative to only reading these entries in order.

    The reference is the limit of memory: afterstates of all legal actions in games of a good player, without computing.
    """
    training = _warmed_up("td", this)
    places, moves = _places(training, this.part(GAMES_READ))
    moves_learned, clocks = _learn(training, this, this.part(WARM_GAMES))
    read_entries(training.table, places[:1])  # compiles
    with Stopwatch() as reading:
        read_entries(training.table, places)
    return Rates(clocks.speed(moves_learned * places.size / moves), reading.speed(places.size))


def learned_games_of_yavalath(this: Round) -> Rates:
    """Training games/s with 200 tuples of 7 cells and temporal coherence; both programs learn the same weights."""
    evaluator, learning = NTuple(network="walk", tuples=200, length=7), td_of(YAVALATH)
    games_before, games = this.part(WARM_GAMES), this.part(GAMES_MEASURED)
    plan = Plan(GAMES.make("yavalath"), evaluator, learning, this.seed)
    training = TdLoop(plan, Path("no file is written"), games_before + games)
    tuples, file = this.folder / "tuples", this.folder / "weights"
    np.array(training.network.tuples, np.int64).tofile(tuples)
    schedules = (learning.alpha, learning.alpha_end, learning.epsilon, learning.epsilon_end)
    theirs = run_program(
        this.folder, "reference_learning_yavalath", tuples, evaluator.tuples, training.key, games_before, games,
        *schedules, file,
    )  # fmt: skip
    training.play(0, games_before)
    with Stopwatch() as clocks:
        _, moves = training.play(games_before, games)
    require_equal("the number of moves", moves, theirs["moves"])
    values, signed, absolute = training.columns
    learned = np.concatenate([values, np.column_stack([signed, absolute]).ravel()])
    require_equal("the weights", learned.tobytes() == file.read_bytes(), True)
    return Rates(clocks.speed(games), program_speed(theirs, "games"))


def _places(training: TdLoop, games: int) -> tuple[npt.NDArray[np.uint64], int]:
    """Returns the places of the entries of all afterstates in some games, in order, and the number of moves."""
    game, network, words = training.plan.game, training.network, training.words
    agent, entries, moves = AGENTS.make("greedy(evaluator=rows2048)").full_text(), [], 0
    for number in range(games):
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


LEARNING_BENCHMARKS = {
    "learn_yavalath": Benchmark("games/s", "C, the same weights", learned_games_of_yavalath),
    "learn_2048_plain": Benchmark("moves/s", "C, the same weights", functools.partial(learned_moves, PLAIN)),
    "learn_2048": Benchmark("moves/s", "C, the same weights", functools.partial(learned_moves, "td")),
    "play_2048": Benchmark("moves/s", "C, the same matches", played_moves),
    "learn_2048_threads": Benchmark("moves/s", "tc on 1 of the 2 cores", learned_moves_of_threads, "wall"),
    "learn_2048_memory": Benchmark("look-ups/s", "the same entries, only read: memory's limit", look_ups_of_learning),
}
