"""Speed of playouts and searches relative to our C programs: the same play at 2048, and UCT at Yavalath."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from numba import types

from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchRecord, MatchSpec, derive_seed
from turnier.arena.play import play_matches, replay_positions
from turnier.bench.expectimax import expectimax_rates
from turnier.bench.programs import RANDOM_GAMES, Benchmark, Rates, run_program, scaled
from turnier.core.kernel import kernel
from turnier.core.rng import Rng, stream
from turnier.games.abi import GAME, State
from turnier.games.generic import copy_state
from turnier.games.registry import GAMES

MC_DECISIONS = 400
PLAYOUTS = 1_000_000
UCT_ITERATIONS, UCT_SEARCHES = 10_000, 20
MCTSE_TARGET = 60.0  # decisions/s, see `scaled`


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
    """Returns the number of decisions of a match with more than one legal action."""
    return sum(len(position.legal_actions()) > 1 for position in replay_positions(record.spec, record.plies))


def _random_2048(folder: Path, seed: int) -> Rates:
    theirs = run_program(folder, "reference_2048", "random", RANDOM_GAMES, seed)
    return Rates(_random_moves(seed), theirs["moves_per_second"])


def _mc_2048(folder: Path, seed: int) -> Rates:
    theirs = run_program(folder, "reference_2048", "mc", 1000, 20, MC_DECISIONS, seed)
    ours = _decisions("mc(iterations=1000,rollout_depth=20)", MC_DECISIONS, seed)
    return Rates(ours, theirs["decisions_per_second"])


def _mctse_2048(folder: Path, seed: int) -> Rates:
    target = scaled(MCTSE_TARGET, folder, seed)
    return Rates(_decisions("mctse(iterations=3500,rollout_depth=150,maxnodes=500)", 100, seed), target)


def _expectimax_2048(folder: Path, seed: int) -> Rates:
    return expectimax_rates(folder, depth=3, cutoff=0.0, table=18, seed=seed).evaluations


def _yavalath_playouts(folder: Path, seed: int) -> Rates:
    theirs = run_program(folder, "reference_yavalath", "playouts", PLAYOUTS, seed)
    return Rates(_playouts(seed), theirs["playouts_per_second"])


def _yavalath_uct(folder: Path, seed: int) -> Rates:
    theirs = run_program(folder, "reference_yavalath", "uct", UCT_ITERATIONS, UCT_SEARCHES, seed)
    return Rates(_uct_iterations(seed), theirs["iterations_per_second"])


PLAY_BENCHMARKS = {
    "random_2048": Benchmark("moves/s", "C, the same play", _random_2048),
    "mc_2048": Benchmark("decisions/s", "C, the same loop", _mc_2048),
    "mctse_2048": Benchmark("decisions/s", "60/s at C's 42 M moves/s", _mctse_2048),
    "expectimax_2048": Benchmark("evaluations/s", "C, the same search", _expectimax_2048),
    "yavalath_playouts": Benchmark("playouts/s", "C, the same play", _yavalath_playouts),
    "yavalath_uct": Benchmark("iterations/s", "C, UCT of its own", _yavalath_uct),
}
