"""Speed of searches on several workers beside one, on positions from the middle of a game of 2048."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
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
from turnier.core.rng import stream
from turnier.games.game import Position
from turnier.games.registry import GAMES

WORKERS = 2
SHORT_ROUNDS = 25  # the middle quotient counts: other programs' moments on one of the cores weigh more here
DECISIONS = 16
VOTER = "mctse(iterations=3500)"
LONG_SEARCH = "mctse(iterations=12000)"  # 20 ms and more on every machine
Pair = tuple[float, float]


def middle_positions(seed: int) -> list[Position]:
    """Returns DECISIONS positions with more than one legal action, from the middle of a game on."""
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


def _majority_5(folder: Path, seed: int) -> Pair:
    """Microseconds of a vote's decision, and of one of its voters'; what a vote leaves running is waited for."""
    positions = middle_positions(seed)
    alone = _seconds(_player(VOTER), positions)
    began = time.perf_counter()
    with ThreadPool(WORKERS) as pool:
        _seconds(_player(f"majority(agent={VOTER},members=5)", pool), positions)
    return 1e6 * (time.perf_counter() - began) / len(positions), 1e6 * alone / len(positions)


def _ray_members(folder: Path, seed: int) -> Pair:
    """Searches/s of members in actors and in threads, once both are warm."""
    from turnier.arena.workers.ray_workers import RayPool

    positions, ensemble, members = middle_positions(seed), "root_parallel(agent={},members=4)", 4
    searches = members * len(positions)
    with RayPool(WORKERS) as actors, ThreadPool(WORKERS) as threads:
        players = [_player(ensemble.format(LONG_SEARCH), pool) for pool in (actors, threads)]
        for player in players:
            _seconds(player, positions[:2])
        ours, theirs = (searches / _seconds(player, positions) for player in players)
    return ours, theirs


def _speed_up(agent: str, seed: int, together: bool = True) -> Pair:
    """Decisions/s of one decision after the other with WORKERS threads, and in a compiled loop without them.

    Without `together` each thread makes decisions of its own in such a loop: more the machine does not give.
    """
    game, positions = GAMES.make("2048"), middle_positions(seed)
    alone = AGENTS.make(agent)
    seat, player = alone.seat_kernels(game), alone.replace(threads=WORKERS).start(game, 0, seed)
    assert seat is not None
    states, returns = np.stack([p.state for p in positions]), positions[0].returns

    def loop(number: int) -> None:
        search_many(game.kernels, seat, states, returns, stream(seed + number), np.zeros(3), 1)

    loop(0)  # compiles; so does the next line
    player.act(positions[0])
    seconds: list[Pair] = []
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
            seconds.append((ours, reference))
    _, (ours, theirs) = sorted((reference / ours, (ours, reference)) for ours, reference in seconds)[SHORT_ROUNDS // 2]
    return len(positions) / ours, len(positions) / theirs


TREE_SEARCH = "mctse(iterations=3500,rollout_depth=150,maxnodes=500)"


def _tree_parallel(folder: Path, seed: int) -> Pair:
    return _speed_up(TREE_SEARCH, seed)


def _two_trees(folder: Path, seed: int) -> Pair:
    return _speed_up(TREE_SEARCH, seed, together=False)


def _leaf_parallel(folder: Path, seed: int) -> Pair:
    return _speed_up("mc(iterations=1000,rollout_depth=20)", seed)


# As bench.MEASURES: name -> unit, what the reference is, and the measurement (folder for programs, seed).
PARALLEL_MEASURES: dict[str, tuple[str, str, Callable[[Path, int], Pair]]] = {
    "tree_parallel": ("decisions/s", "mctse on 1 of the 2 cores", _tree_parallel),
    "two_trees": ("decisions/s", "the same, 2 cores on 2 trees: the machine's limit", _two_trees),
    "leaf_parallel": ("decisions/s", "mc on 1 of the 2 cores", _leaf_parallel),
    "majority_5": ("µs/decision", "one of its 5 voters; 2 threads: at most 2.9", _majority_5),
    "ray_members": ("searches/s", "2 threads in place of 2 Ray actors", _ray_members),
}
