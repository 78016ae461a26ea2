"""Speed beside C programs of our own, or of several workers beside one: quotients of one run, as machines are noisy."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numba import types
from rich.console import Console
from rich.table import Table

from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchRecord, MatchSpec, derive_seed
from turnier.arena.play import play_matches, replay_positions
from turnier.bench.expectimax import expectimax_rates
from turnier.bench.learning import (
    learned_games_of_yavalath,
    learned_moves,
    learned_moves_of_threads,
    look_ups_of_learning,
)
from turnier.bench.parallel import PARALLEL_MEASURES
from turnier.bench.programs import run_program
from turnier.bench.spe_ed import SPE_ED_MEASURES
from turnier.core.errors import unknown
from turnier.core.kernel import kernel
from turnier.core.rng import Rng, stream
from turnier.games.abi import GAME, State
from turnier.games.generic import copy_state
from turnier.games.registry import GAMES

RANDOM_GAMES = 200_000
MC_DECISIONS = 400
PLAYOUTS = 1_000_000
UCT_ITERATIONS, UCT_SEARCHES = 10_000, 20
# What the C program's random play makes on the machine on which 60 mctse decisions/s were asked for.
SCALE_MOVES, SCALE_MCTSE = 42e6, 60.0


Pair = tuple[float, float]  # ours, the reference's


def run_benchmarks(console: Console, rounds: int, names: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """Returns name -> value, unit, reference, quotient and what the reference is; alternates with the C programs.

    Raises UserError for a name that is none of MEASURES; no names are all.
    """
    for name in names:
        if name not in MEASURES:
            raise unknown("measure", name, MEASURES)
    chosen = {name: MEASURES[name] for name in names or MEASURES}
    pairs: dict[str, list[Pair]] = {name: [] for name in chosen}
    with tempfile.TemporaryDirectory() as folder, console.status("") as status:
        for i in range(rounds + 1):
            for name, (_, _, measure) in chosen.items():
                status.update(f"{name}, round {i} of {rounds}" if i else f"{name}, warming up")
                pair = measure(Path(folder), i)
                pairs[name] += [pair] * (i > 0)
    return {
        name: {
            "value": statistics.median(value for value, _ in pairs[name]),
            "unit": unit,
            "reference": statistics.median(reference for _, reference in pairs[name]),
            "quotient": statistics.median(value / reference for value, reference in pairs[name]),
            "of": reference,
        }
        for name, (unit, reference, _) in chosen.items()
    }


def benchmark_table(measured: dict[str, dict[str, Any]]) -> Table:
    """Returns what `run_benchmarks` found as a table for a terminal."""
    table = Table("name", title="one core, medians; the quotient is what counts")
    for heading in ("value", "reference", "unit", "quotient"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("what the reference is")
    for name, row in measured.items():
        value, reference = (f"{row[key]:,.0f}" for key in ("value", "reference"))
        table.add_row(name, value, reference, row["unit"], f"{row['quotient']:.2f}", row["of"])
    return table


@kernel(types.int64(GAME, State, Rng, types.int64))
def play_out_many(game, start, rng, games):
    """Returns the plies of that many fused playouts from a start state to the end."""
    state, returns = np.empty_like(start), np.zeros(game.num_seats)
    plies = 0
    for _ in range(games):
        copy_state(start, state)
        plies += game.playout(state, 1_000_000, rng, returns)
    return plies


def _random_moves(seed: int) -> float:
    """Moves/s of the fused playout from an empty board to the end, called from a compiled loop."""
    game = GAMES.make("2048")
    start, rng = game.new_state(), stream(seed)
    game.kernels.init(start, rng)
    began = time.perf_counter()
    plies = play_out_many(game.kernels, start, rng, RANDOM_GAMES)
    return float(plies / (time.perf_counter() - began))


def _playouts(seed: int) -> float:
    """Random games/s of the fused playout from the empty board, called from a compiled loop."""
    game = GAMES.make("yavalath")
    start, rng = game.new_state(), stream(seed)
    game.kernels.init(start, rng)
    began = time.perf_counter()
    play_out_many(game.kernels, start, rng, PLAYOUTS)
    return float(PLAYOUTS / (time.perf_counter() - began))


def _uct_iterations(seed: int) -> float:
    """Iterations/s of searches from the empty board with rollouts to the end."""
    game = GAMES.make("yavalath")
    player, start = AGENTS.make(f"mcts(iterations={UCT_ITERATIONS})").start(game, seed=seed), game.start()
    began = time.perf_counter()
    for _ in range(UCT_SEARCHES):
        player.act(start)
    return float(UCT_ITERATIONS * UCT_SEARCHES / (time.perf_counter() - began))


def _decisions(agent: str, plies: int, seed: int) -> float:
    """Decisions/s over the first `plies` moves of a compiled match; forced moves do not count, as in C."""
    spec = MatchSpec(
        GAMES.make("2048").full_text(), (AGENTS.make(agent).full_text(),), derive_seed("bench", seed), plies
    )
    began = time.perf_counter()
    record = play_matches([spec])[0]
    seconds = time.perf_counter() - began
    return _free_choices(record) / seconds


def _free_choices(record: MatchRecord) -> int:
    """Returns how many decisions of a match had more than one legal action."""
    return sum(len(position.legal_actions()) > 1 for position in replay_positions(record.spec, record.plies))


def _random_2048(folder: Path, seed: int) -> Pair:
    return _random_moves(seed), run_program(folder, "reference_2048", "random", RANDOM_GAMES, seed)["moves_per_second"]


def _mc_2048(folder: Path, seed: int) -> Pair:
    theirs = run_program(folder, "reference_2048", "mc", 1000, 20, MC_DECISIONS, seed)
    return _decisions("mc(iterations=1000,rollout_depth=20)", MC_DECISIONS, seed), theirs["decisions_per_second"]


def _mctse_2048(folder: Path, seed: int) -> Pair:
    scale = run_program(folder, "reference_2048", "random", RANDOM_GAMES, seed)["moves_per_second"] / SCALE_MOVES
    return _decisions("mctse(iterations=3500,rollout_depth=150,maxnodes=500)", 100, seed), scale * SCALE_MCTSE


def _learn_2048(learning: str, target: float, folder: Path, seed: int) -> Pair:
    scale = run_program(folder, "reference_2048", "random", RANDOM_GAMES, seed)["moves_per_second"] / SCALE_MOVES
    return learned_moves(learning, seed), scale * target


def _learn_yavalath(folder: Path, seed: int) -> Pair:
    scale = run_program(folder, "reference_2048", "random", RANDOM_GAMES, seed)["moves_per_second"] / SCALE_MOVES
    return learned_games_of_yavalath(seed), scale * 1500.0


def _learn_2048_threads(folder: Path, seed: int) -> Pair:
    return learned_moves_of_threads(seed)


def _learn_2048_memory(folder: Path, seed: int) -> Pair:
    return look_ups_of_learning(seed)


def _expectimax_2048(folder: Path, seed: int) -> Pair:
    return expectimax_rates(folder, depth=3, cutoff=0.0, table=18, seed=seed)[0]


def _yavalath_playouts(folder: Path, seed: int) -> Pair:
    theirs = run_program(folder, "reference_yavalath", "playouts", PLAYOUTS, seed)
    return _playouts(seed), theirs["playouts_per_second"]


def _yavalath_uct(folder: Path, seed: int) -> Pair:
    theirs = run_program(folder, "reference_yavalath", "uct", UCT_ITERATIONS, UCT_SEARCHES, seed)
    return _uct_iterations(seed), theirs["iterations_per_second"]


# name -> unit, what the reference is, and the measurement (folder for programs, seed)
MEASURES: dict[str, tuple[str, str, Callable[[Path, int], Pair]]] = {
    "random_2048": ("moves/s", "C, the same play", _random_2048),
    "mc_2048": ("decisions/s", "C, the same loop", _mc_2048),
    "mctse_2048": ("decisions/s", "60/s at C's 42 M moves/s", _mctse_2048),
    "learn_td_2048": ("moves/s", "1.5 M/s at C's 42 M", partial(_learn_2048, "td(coherence=false,alpha=0.1)", 1.5e6)),
    "learn_tc_2048": ("moves/s", "1.0 M/s at C's 42 M", partial(_learn_2048, "td", 1e6)),
    "learn_2048_threads": ("moves/s", "tc on 1 of the 2 cores; target 1.7", _learn_2048_threads),
    "learn_2048_memory": ("look-ups/s", "the same entries, only read: memory's floor", _learn_2048_memory),
    "learn_yavalath": ("games/s", "1,500/s at C's 42 M", _learn_yavalath),
    "expectimax_2048": ("evaluations/s", "C, the same search", _expectimax_2048),
    "yavalath_playouts": ("playouts/s", "C, the same play", _yavalath_playouts),
    "yavalath_uct": ("iterations/s", "C, UCT of its own", _yavalath_uct),
    **SPE_ED_MEASURES,
    **PARALLEL_MEASURES,
}
