"""Speed of searches on several workers relative to one, on positions from the middle of a game of 2048."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from benchmarks.expectimax import search_many
from benchmarks.programs import Benchmark, Rates, Round, Stopwatch
from turnier.agents.agent import Player
from turnier.agents.ensembles.pool import Pool, ThreadPool
from turnier.agents.registry import AGENTS
from turnier.agents.seats.seating import start_player
from turnier.arena.match import MatchSpec, derive_seed
from turnier.arena.play import play_matches, replay_positions
from turnier.core.rng import stream
from turnier.games.game import Position
from turnier.games.registry import GAMES

WORKERS = 2
SHORT_ROUNDS = 25  # more rounds, since other programs disturb short measurements more
DECISIONS = 16
VOTER = "mctse(iterations=3500)"
LONG_SEARCH = "mctse(iterations=12000)"  # at least 20 ms on every machine


def middle_positions(seed: int) -> list[Position]:
    """Returns DECISIONS positions with more than one legal action, from the second half of a game."""
    agent = AGENTS.make("mc(iterations=20,rollout_depth=10)").full_text()
    spec = MatchSpec(GAMES.make("2048").full_text(), (agent,), derive_seed("bench", seed))
    positions = list(replay_positions(spec, play_matches([spec])[0].plies))
    return [p for p in positions[len(positions) // 2 :] if len(p.legal_actions()) > 1][: 4 * DECISIONS : 4]


def _player(agent: str, pool: Pool | None = None) -> Player:
    return start_player(AGENTS.make(agent), GAMES.make("2048"), 0, 1, pool)


def _decide(player: Player, positions: Sequence[Position]) -> Stopwatch:
    with Stopwatch() as clocks:
        for position in positions:
            player.act(position)
    return clocks


def _majority_5(this: Round) -> Rates:
    """Decisions/s of a majority vote and of one voter; searches still running count, too."""
    positions = middle_positions(this.seed)[: this.part(DECISIONS)]
    one = _decide(_player(VOTER), positions)
    with Stopwatch() as clocks, ThreadPool(WORKERS) as pool:
        _decide(_player(f"majority(agent={VOTER},members=5)", pool), positions)
    return Rates(clocks.speed(len(positions)), one.speed(len(positions)))


def _ray_members(this: Round) -> Rates:
    """Searches/s of members in Ray actors and in threads, once both are warm."""
    from turnier.arena.workers.cluster.executor import RayPool

    positions, members = middle_positions(this.seed)[: this.part(DECISIONS)], 4
    with RayPool(WORKERS) as actors, ThreadPool(WORKERS) as threads:
        players = [_player(f"root_parallel(agent={LONG_SEARCH},members={members})", pool) for pool in (actors, threads)]
        for player in players:
            _decide(player, positions[:2])
        return Rates(*(_decide(player, positions).speed(members * len(positions)) for player in players))


def _speed_up(agent: str, this: Round, together: bool = True) -> Rates:
    """Decisions/s of consecutive decisions with WORKERS threads each, and in a compiled loop on one core.

    Without `together` every thread runs such a loop of its own: the machine's limit.
    """
    game, positions = GAMES.make("2048"), middle_positions(this.seed)[: this.part(DECISIONS)]
    single = AGENTS.make(agent)
    player = single.replace(threads=WORKERS).start(game, 0, this.seed)
    seats = [single.seat_kernels(game) for _ in range(WORKERS)]  # each with its own search memory
    states, returns = np.stack([p.state for p in positions]), positions[0].returns

    def loop(number: int) -> None:
        search_many(game.kernels, seats[number], states, returns, stream(this.seed + number), np.zeros(3), 1)

    loop(0)  # compiles; so does the next line
    player.act(positions[0])
    rates: list[Rates] = []
    with ThreadPoolExecutor(WORKERS) as threads:
        for _ in range(this.part(SHORT_ROUNDS)):
            with Stopwatch() as reference:
                loop(0)
            if together:
                rates.append(Rates(_decide(player, positions).speed(len(positions)), reference.speed(len(positions))))
            else:
                with Stopwatch() as clocks:
                    list(threads.map(loop, range(WORKERS)))
                rates.append(Rates(clocks.speed(WORKERS * len(positions)), reference.speed(len(positions))))
    return sorted(rates, key=lambda pair: pair.ours.wall / pair.reference.wall)[len(rates) // 2]


TREE_SEARCH = "mctse(iterations=3500,rollout_depth=150,maxnodes=500)"


def _tree_parallel(this: Round) -> Rates:
    return _speed_up(TREE_SEARCH, this)


def _two_trees(this: Round) -> Rates:
    return _speed_up(TREE_SEARCH, this, together=False)


def _leaf_parallel(this: Round) -> Rates:
    return _speed_up("mc(iterations=1000,rollout_depth=20)", this)


PARALLEL_BENCHMARKS = {
    "tree_parallel": Benchmark("decisions/s", "mctse on 1 of the 2 cores", _tree_parallel, "wall"),
    "two_trees": Benchmark("decisions/s", "the same, 2 cores on 2 trees: the machine's limit", _two_trees, "wall"),
    "leaf_parallel": Benchmark("decisions/s", "mc on 1 of the 2 cores", _leaf_parallel, "wall"),
    "majority_5": Benchmark("decisions/s", "one of its 5 voters; 2 threads: at least 0.35", _majority_5, "wall"),
    "ray_members": Benchmark("searches/s", "2 threads in place of 2 Ray actors", _ray_members, "wall"),
}
