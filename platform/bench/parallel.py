"""Speed of searches on several workers relative to one, on positions from the middle of a game of 2048."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from turnier.agents.agent import Player
from turnier.agents.ensembles.ensemble import start_player
from turnier.agents.ensembles.pool import Pool, ThreadPool
from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchSpec, derive_seed
from turnier.arena.play import play_matches, replay_positions
from turnier.bench.expectimax import search_many
from turnier.bench.programs import Benchmark, Rates
from turnier.core.rng import stream
from turnier.games.game import Position
from turnier.games.registry import GAMES

WORKERS = 2
SHORT_ROUNDS = 25  # the median quotient counts: other programs disturb short measurements more
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


def _seconds(player: Player, positions: Sequence[Position]) -> float:
    began = time.perf_counter()
    for position in positions:
        player.act(position)
    return time.perf_counter() - began


def _majority_5(folder: Path, seed: int) -> Rates:
    """Microseconds per decision of a majority vote and of one voter; searches left running count too."""
    positions = middle_positions(seed)
    one = _seconds(_player(VOTER), positions)
    began = time.perf_counter()
    with ThreadPool(WORKERS) as pool:
        _seconds(_player(f"majority(agent={VOTER},members=5)", pool), positions)
    return Rates(1e6 * (time.perf_counter() - began) / len(positions), 1e6 * one / len(positions))


def _ray_members(folder: Path, seed: int) -> Rates:
    """Searches/s of members in Ray actors and in threads, once both are warm."""
    from turnier.arena.workers.ray_executor import RayPool

    positions, ensemble, members = middle_positions(seed), "root_parallel(agent={},members=4)", 4
    searches = members * len(positions)
    with RayPool(WORKERS) as actors, ThreadPool(WORKERS) as threads:
        players = [_player(ensemble.format(LONG_SEARCH), pool) for pool in (actors, threads)]
        for player in players:
            _seconds(player, positions[:2])
        ours, theirs = (searches / _seconds(player, positions) for player in players)
    return Rates(ours, theirs)


def _speed_up(agent: str, seed: int, together: bool = True) -> Rates:
    """Decisions/s of one decision after another with WORKERS threads each, and in a compiled loop on one core.

    Without `together` every thread runs such a loop of its own: the most that the machine can give.
    """
    game, positions = GAMES.make("2048"), middle_positions(seed)
    single = AGENTS.make(agent)
    seat, player = single.seat_kernels(game), single.replace(threads=WORKERS).start(game, 0, seed)
    assert seat is not None
    states, returns = np.stack([p.state for p in positions]), positions[0].returns

    def loop(number: int) -> None:
        search_many(game.kernels, seat, states, returns, stream(seed + number), np.zeros(3), 1)

    loop(0)  # compiles; so does the next line
    player.act(positions[0])
    seconds: list[Rates] = []
    with ThreadPoolExecutor(WORKERS) as threads:
        for _ in range(SHORT_ROUNDS):
            began = time.perf_counter()
            loop(0)
            reference = time.perf_counter() - began
            if together:
                ours = _seconds(player, positions)
            else:
                began = time.perf_counter()
                list(threads.map(loop, range(WORKERS)))
                ours = (time.perf_counter() - began) / WORKERS
            seconds.append(Rates(ours, reference))
    middle = sorted(seconds, key=lambda pair: pair.reference / pair.ours)[SHORT_ROUNDS // 2]
    return Rates(len(positions) / middle.ours, len(positions) / middle.reference)


TREE_SEARCH = "mctse(iterations=3500,rollout_depth=150,maxnodes=500)"


def _tree_parallel(folder: Path, seed: int) -> Rates:
    return _speed_up(TREE_SEARCH, seed)


def _two_trees(folder: Path, seed: int) -> Rates:
    return _speed_up(TREE_SEARCH, seed, together=False)


def _leaf_parallel(folder: Path, seed: int) -> Rates:
    return _speed_up("mc(iterations=1000,rollout_depth=20)", seed)


PARALLEL_BENCHMARKS = {
    "tree_parallel": Benchmark("decisions/s", "mctse on 1 of the 2 cores", _tree_parallel),
    "two_trees": Benchmark("decisions/s", "the same, 2 cores on 2 trees: the machine's limit", _two_trees),
    "leaf_parallel": Benchmark("decisions/s", "mc on 1 of the 2 cores", _leaf_parallel),
    "majority_5": Benchmark("µs/decision", "one of its 5 voters; 2 threads: at most 2.9", _majority_5),
    "ray_members": Benchmark("searches/s", "2 threads in place of 2 Ray actors", _ray_members),
}
