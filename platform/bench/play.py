"""Speed of playouts and searches relative to our C programs: the same play at 2048, and UCT at Yavalath."""

from __future__ import annotations

import numpy as np
from numba import types

from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchRecord, MatchSpec, derive_seed
from turnier.arena.play import play_matches, replay_positions
from turnier.bench.expectimax import expectimax_rates
from turnier.bench.programs import Benchmark, Rates, Round, Speed, Stopwatch, program_speed, run_program
from turnier.core.kernel import kernel
from turnier.core.rng import Rng, stream
from turnier.games.abi import GAME, State
from turnier.games.generic import copy_state
from turnier.games.registry import GAMES

RANDOM_GAMES = 200_000
MC_DECISIONS = 400
PLAYOUTS = 1_000_000
UCT_ITERATIONS, UCT_SEARCHES = 10_000, 20


@kernel(types.int64(GAME, State, Rng, types.int64))
def play_out_many(game, start, rng, games):
    """Returns the plies of that many fused playouts from a start state to the end."""
    state, returns = np.empty_like(start), np.zeros(game.num_seats)
    plies = 0
    for _ in range(games):
        copy_state(start, state)
        plies += game.playout(state, 1_000_000, rng, returns)
    return plies


def _play_out(name: str, games: int, seed: int) -> tuple[int, Stopwatch]:
    """Plays that many random games by the fused playout, from the start to the end; returns their plies."""
    game = GAMES.make(name)
    start, rng = game.new_state(), stream(seed)
    game.kernels.init(start, rng)
    play_out_many(game.kernels, start, rng, 1)  # compiles
    with Stopwatch() as clocks:
        plies = play_out_many(game.kernels, start, rng, games)
    return int(plies), clocks


def _decisions(agent: str, plies: int, seed: int) -> Speed:
    """Decisions/s over the first `plies` moves of a compiled match; forced moves do not count, as in C."""
    spec = MatchSpec(
        GAMES.make("2048").full_text(), (AGENTS.make(agent).full_text(),), derive_seed("bench", seed), plies
    )
    with Stopwatch() as clocks:
        record = play_matches([spec])[0]
    return clocks.speed(_free_choices(record))


def _free_choices(record: MatchRecord) -> int:
    """Returns the number of decisions of a match with more than one legal action."""
    return sum(len(position.legal_actions()) > 1 for position in replay_positions(record.spec, record.plies))


def _random_2048(this: Round) -> Rates:
    games = this.part(RANDOM_GAMES)
    theirs = run_program(this.folder, "reference_2048", "random", games, this.seed)
    plies, clocks = _play_out("2048", games, this.seed)
    return Rates(clocks.speed(plies), program_speed(theirs, "moves"))


def _mc_2048(this: Round) -> Rates:
    decisions = this.part(MC_DECISIONS)
    theirs = run_program(this.folder, "reference_2048", "mc", 1000, 20, decisions, this.seed)
    return Rates(
        _decisions("mc(iterations=1000,rollout_depth=20)", decisions, this.seed), program_speed(theirs, "decisions")
    )


def _expectimax_2048(this: Round) -> Rates:
    return expectimax_rates(this, depth=3, cutoff=0.0, table=18).evaluations


def _yavalath_playouts(this: Round) -> Rates:
    playouts = this.part(PLAYOUTS)
    theirs = run_program(this.folder, "reference_yavalath", "playouts", playouts, this.seed)
    _, clocks = _play_out("yavalath", playouts, this.seed)
    return Rates(clocks.speed(playouts), program_speed(theirs, "playouts"))


def _yavalath_uct(this: Round) -> Rates:
    """Searches from the empty board with rollouts to the end."""
    game, iterations, searches = GAMES.make("yavalath"), this.part(UCT_ITERATIONS), this.part(UCT_SEARCHES)
    theirs = run_program(this.folder, "reference_yavalath", "uct", iterations, searches, this.seed)
    player, start = AGENTS.make(f"mcts(iterations={iterations})").start(game, seed=this.seed), game.start()
    player.act(start)  # compiles
    with Stopwatch() as clocks:
        for _ in range(searches):
            player.act(start)
    return Rates(clocks.speed(iterations * searches), program_speed(theirs, "iterations"))


PLAY_BENCHMARKS = {
    "random_2048": Benchmark("moves/s", "C, the same play", _random_2048),
    "mc_2048": Benchmark("decisions/s", "C, the same loop", _mc_2048),
    "expectimax_2048": Benchmark("evaluations/s", "C, the same search", _expectimax_2048),
    "yavalath_playouts": Benchmark("playouts/s", "C, the same play", _yavalath_playouts),
    "yavalath_uct": Benchmark("iterations/s", "C, UCT of its own", _yavalath_uct),
}
