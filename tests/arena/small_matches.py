"""Small matches that tests play: of games with and without chance, played in compiled code and to a limit."""

from __future__ import annotations

import dataclasses

from turnier.agents.registry import make_agent
from turnier.arena.match import MatchRecord, MatchSpec
from turnier.games.registry import make_game


def spec(game: str, *agents: str, seed: int = 1, max_plies: int = 0) -> MatchSpec:
    """Returns a match by short text forms; one agent plays in every seat."""
    made = make_game(game)
    seats = agents if len(agents) == made.num_seats else agents * made.num_seats
    return MatchSpec(made.full_text(), tuple(make_agent(agent).full_text() for agent in seats), seed, max_plies)


def timeless(record: MatchRecord) -> MatchRecord:
    """Returns a record without its seconds, the only thing that may differ."""
    return dataclasses.replace(record, seconds=0.0, seat_seconds=())


TTT_TREE = "mctse(iterations=15,maxnodes=10,rollout_depth=9)"
TTT_FLAT = "mc(iterations=4,rollout_depth=9)"
SMALL_TREE = "mctse(iterations=12,maxnodes=8,rollout_depth=5)"
BOARD_TREE = "mctse(iterations=6,rollout_depth=4,evaluator=heuristics2048(empty_method=1))"
SPECS = [
    *(spec("tictactoe", TTT_TREE, TTT_FLAT, seed=seed) for seed in range(3)),
    *(spec("tictactoe", TTT_FLAT, TTT_TREE, seed=seed) for seed in range(2)),
    spec("tictactoe", "random", seed=5),
    spec("tictactoe", "random", seed=5, max_plies=4),
    *(spec("2048(size=2)", SMALL_TREE, seed=seed) for seed in range(3)),
    *(spec("2048(size=3)", SMALL_TREE, seed=seed, max_plies=15) for seed in range(2)),
    dataclasses.replace(spec("tictactoe", TTT_TREE, TTT_FLAT), opening=(4,)),
    dataclasses.replace(spec("tictactoe", TTT_TREE, TTT_FLAT), opening=(0, 8)),
    spec("2048(size=2)", "greedy", seed=8),
    spec("2048", BOARD_TREE, seed=2, max_plies=6),
    spec("2048", "mc(iterations=2,rollout_depth=3)", seed=3, max_plies=6),
]
