"""Speed of playouts and searches relative to our C programs: the same play at 2048, and UCT at Yavalath."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from benchmarks.expectimax import expectimax_rates
from benchmarks.programs import Benchmark, Rates, Round, Stopwatch, program_speed, require_equal, run_program
from turnier.agents.agent import decide
from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchSpec, derive_seed
from turnier.arena.play import play_matches
from turnier.core.rng import streams, streams_of
from turnier.games.registry import GAMES

JOBS = 64  # boards in the lanes of a processor
LONG = 1_000_000  # plies, more than any game has
RANDOM_GAMES = 400_000
MATCHES = 64  # twice as many as a worker plays together
MC_PLIES, MCTSE_PLIES = 12, 5  # of each match
MC, MCTSE = (
    "mc(iterations=1000,rollout_depth=20,score_method=2)",
    "mctse(iterations=3500,rollout_depth=150,maxnodes=500)",
)
PLAYOUTS = 1_000_000
UCT_ITERATIONS, UCT_SEARCHES, SPIEL_SEARCHES = 10_000, 20, 3


def _play_out(name: str, jobs: int, games: int, seed: int) -> tuple[float, Stopwatch]:
    """Plays `games` random games per job to the end; returns the points of the first seat."""
    game, rngs = GAMES.make(name), streams(seed, jobs)
    start, gains = game.new_state(), np.zeros((jobs, game.num_seats))
    game.kernels.init(start, rngs[0])
    states, counts, ended = np.tile(start, (jobs, 1)), np.full(jobs, games), np.zeros(jobs, np.int64)
    waiting, lanes, done = (
        np.ones(jobs, np.int64),
        np.zeros(game.kernels.lane_words, np.int64),
        np.zeros(jobs, np.int64),
    )
    with Stopwatch() as clocks:
        game.kernels.playouts(states, counts, waiting, LONG, rngs, gains, ended, lanes, jobs, done)
    require_equal("the number of playouts that reached the end", int(ended.sum()), jobs * games)
    return float(gains[:, 0].sum()), clocks


def _specs_2048(agent: str, plies: int, matches: int, seed: int) -> list[MatchSpec]:
    game, text = GAMES.make("2048").full_text(), AGENTS.make(agent).full_text()
    return [MatchSpec(game, (text,), derive_seed("bench", seed, i), plies) for i in range(matches)]


def _matches_2048(agent: str, plies: int, matches: int, this: Round, program: str, *arguments: object) -> Rates:
    """Decisions/s of the first plies of matches; forced moves do not count. Both programs must play the same moves."""
    specs = _specs_2048(agent, plies, matches, this.seed)
    file = this.folder / "streams"
    streams_of([spec.seed for spec in specs], 2).tofile(file)
    theirs = run_program(this.folder, program, *arguments, file, matches, plies)
    play_matches(specs[:1])  # compiles
    with Stopwatch() as clocks:
        records = play_matches(specs)
    require_equal("the sum of the scores", sum(record.scores[0] for record in records), theirs["score"])
    return Rates(clocks.speed(theirs["decisions"]), program_speed(theirs, "decisions"))


def _random_2048(program: str) -> Callable[[Round], Rates]:
    """Returns the measurement of random games, relative to that program."""

    def measure(this: Round) -> Rates:
        games = this.part(RANDOM_GAMES // JOBS)
        theirs = run_program(this.folder, program, "random", games, *streams(this.seed, JOBS).ravel())
        points, clocks = _play_out("2048", JOBS, games, this.seed)
        require_equal("the sum of the scores", points, theirs["score"])
        return Rates(clocks.speed(theirs["moves"]), program_speed(theirs, "moves"))

    return measure


def _mc_2048(program: str) -> Callable[[Round], Rates]:
    return lambda this: _matches_2048(MC, MC_PLIES, this.part(MATCHES), this, program, "mc", 1000, 20)


def _mctse_together(this: Round) -> Rates:
    """Matches/s of a worker with many to play, and of one that gets them one at a time."""
    specs = _specs_2048(MCTSE, MCTSE_PLIES, this.part(MATCHES), this.seed)
    play_matches(specs[:1])  # compiles
    with Stopwatch() as reference:
        single = [play_matches([spec])[0] for spec in specs]
    with Stopwatch() as clocks:
        records = play_matches(specs)
    require_equal("the moves", [record.plies for record in records], [record.plies for record in single])
    return Rates(clocks.speed(len(specs)), reference.speed(len(specs)))


def _mctse_2048(this: Round) -> Rates:
    return _matches_2048(MCTSE, MCTSE_PLIES, this.part(MATCHES), this, "reference_mctse2048", 3500, 150, 500, 10)


def _expectimax_2048(this: Round) -> Rates:
    return expectimax_rates(this, depth=3, cutoff=0.0, table=18).evaluations


def _require_alike(ours: float, theirs: float, games: int) -> None:
    """Raises RuntimeError if the first seat's points in equally many games differ by more than chance."""
    if abs(ours - theirs) > 7 * math.sqrt(2 * games):
        raise RuntimeError(f"both programs must win as often, got {ours} and {theirs} points in {games} games")


def _yavalath_playouts(*program: str) -> Callable[[Round], Rates]:
    """Returns the measurement of random games. The program draws other cells, but its games are won equally often."""

    def measure(this: Round) -> Rates:
        games = this.part(PLAYOUTS // JOBS)
        theirs = run_program(this.folder, *program, JOBS * games, this.seed)
        points, clocks = _play_out("yavalath", JOBS, games, this.seed)
        _require_alike(points, theirs["outcomes"], JOBS * games)
        return Rates(clocks.speed(JOBS * games), program_speed(theirs, "playouts"))

    return measure


def _yavalath_uct(this: Round) -> Rates:
    """Searches from the empty board with rollouts to the end."""
    game, iterations, searches = GAMES.make("yavalath"), this.part(UCT_ITERATIONS), this.part(UCT_SEARCHES)
    theirs = run_program(this.folder, "reference_yavalath", "uct", iterations, searches, this.seed)
    player, start = AGENTS.make(f"mcts(iterations={iterations})").start(game, seed=this.seed), game.start()
    player.act(start)  # compiles
    with Stopwatch() as clocks:
        decisions = [decide(player, start) for _ in range(searches)]
    points = sum(float(decision.visits @ decision.values) for decision in decisions)
    _require_alike(points, theirs["outcomes"], iterations * searches)
    return Rates(clocks.speed(iterations * searches), program_speed(theirs, "iterations"))


def _open_spiel_uct(this: Round) -> Rates:
    """The same search, with a solver and rollouts to the end, from the empty board of connect four."""
    import pyspiel  # which is optional

    iterations, searches = this.part(UCT_ITERATIONS, 2), this.part(SPIEL_SEARCHES)
    game = pyspiel.load_game("connect_four")
    rollout = pyspiel.RandomRolloutEvaluator(1, this.seed)
    bot = pyspiel.MCTSBot(game, rollout, 2, iterations, 1000, True, this.seed, False)
    state = game.new_initial_state()
    with Stopwatch() as reference:
        for _ in range(searches):
            bot.mcts_search(state)
    ours = GAMES.make("connect_four")
    player, start = AGENTS.make(f"mcts(iterations={iterations},exploration=1.0,solver=true)").start(ours), ours.start()
    player.act(start)  # compiles
    with Stopwatch() as clocks:
        for _ in range(searches):
            player.act(start)
    return Rates(*(one.speed(iterations * searches) for one in (clocks, reference)))


PLAY_BENCHMARKS = {
    "random_2048": Benchmark("moves/s", "scalar C, the same play", _random_2048("reference_2048"), lanes=True),
    "random_2048_lanes": Benchmark(
        "moves/s", "C with vector extensions, the same play", _random_2048("reference_lanes2048"), lanes=True
    ),
    "mc_2048": Benchmark("decisions/s", "scalar C, the same games", _mc_2048("reference_2048"), lanes=True),
    "mc_2048_lanes": Benchmark(
        "decisions/s", "C with vector extensions, the same games", _mc_2048("reference_lanes2048"), lanes=True
    ),
    "mctse_2048": Benchmark("decisions/s", "scalar C, the same games", _mctse_2048, lanes=True),
    "mctse_together": Benchmark("matches/s", "the same matches one by one", _mctse_together, lanes=True),
    "expectimax_2048": Benchmark("evaluations/s", "C, the same search", _expectimax_2048),
    "yavalath_playouts": Benchmark(
        "playouts/s", "scalar C, the same play", _yavalath_playouts("reference_yavalath", "playouts"), lanes=True
    ),
    "yavalath_lanes": Benchmark(
        "playouts/s",
        "C with vector extensions, the same play",
        _yavalath_playouts("reference_lanes_yavalath"),
        lanes=True,
    ),
    "open_spiel_uct": Benchmark("iterations/s", "OpenSpiel, its search in C++ at connect four", _open_spiel_uct),
    "yavalath_uct": Benchmark("iterations/s", "C, UCT of its own", _yavalath_uct),
}
