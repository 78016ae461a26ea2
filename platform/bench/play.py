"""Speed of playouts and searches relative to our C programs: the same play at 2048, and UCT at Yavalath."""

from __future__ import annotations

import numpy as np
from numba import types

from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchSpec, derive_seed
from turnier.arena.play import play_matches
from turnier.bench.expectimax import expectimax_rates
from turnier.bench.programs import Benchmark, Rates, Round, Stopwatch, program_speed, require_equal, run_program
from turnier.core.kernel import kernel
from turnier.core.rng import Rng, stream, streams_of
from turnier.games.abi import GAME, State
from turnier.games.generic import copy_state
from turnier.games.registry import GAMES

RANDOM_GAMES = 200_000
MATCHES = 32  # a worker plays so many together
MC_PLIES, MCTSE_PLIES = 16, 8  # of each match
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
    play_out_many(game.kernels, start, stream(seed), 1)  # compiles
    with Stopwatch() as clocks:
        plies = play_out_many(game.kernels, start, rng, games)
    return int(plies), clocks


def _matches_2048(agent: str, plies: int, matches: int, this: Round, program: str, *arguments: object) -> Rates:
    """Decisions/s of the first plies of matches; forced moves do not count. Both programs must play the same moves."""
    game, text = GAMES.make("2048").full_text(), AGENTS.make(agent).full_text()
    specs = [MatchSpec(game, (text,), derive_seed("bench", this.seed, i), plies) for i in range(matches)]
    file = this.folder / "streams"
    streams_of([spec.seed for spec in specs], 2).tofile(file)
    theirs = run_program(this.folder, program, *arguments, file, matches, plies)
    play_matches(specs[:1])  # compiles
    with Stopwatch() as clocks:
        records = play_matches(specs)
    require_equal("the sum of the scores", sum(record.scores[0] for record in records), theirs["score"])
    return Rates(clocks.speed(theirs["decisions"]), program_speed(theirs, "decisions"))


def _random_2048(this: Round) -> Rates:
    games = this.part(RANDOM_GAMES)
    theirs = run_program(this.folder, "reference_2048", "random", games, *stream(this.seed))
    plies, clocks = _play_out("2048", games, this.seed)
    require_equal("the number of moves", plies, theirs["moves"])
    return Rates(clocks.speed(plies), program_speed(theirs, "moves"))


def _mc_2048(this: Round) -> Rates:
    agent = "mc(iterations=1000,rollout_depth=20)"
    return _matches_2048(agent, MC_PLIES, this.part(MATCHES), this, "reference_2048", "mc", 1000, 20)


def _mctse_2048(this: Round) -> Rates:
    agent = "mctse(iterations=3500,rollout_depth=150,maxnodes=500)"
    return _matches_2048(agent, MCTSE_PLIES, this.part(MATCHES), this, "reference_mctse2048", 3500, 150, 500, 10)


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
    "mc_2048": Benchmark("decisions/s", "C, the same games", _mc_2048),
    "mctse_2048": Benchmark("decisions/s", "C, the same games", _mctse_2048),
    "expectimax_2048": Benchmark("evaluations/s", "C, the same search", _expectimax_2048),
    "yavalath_playouts": Benchmark("playouts/s", "C, the same play", _yavalath_playouts),
    "yavalath_uct": Benchmark("iterations/s", "C, UCT of its own", _yavalath_uct),
}
