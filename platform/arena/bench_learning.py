"""Speed of learning 2048 with the 4x6 network on one core, after the games in which the table is still empty."""

from __future__ import annotations

import time
from pathlib import Path

from turnier.agents.evaluators.ntuple import NTuple
from turnier.agents.learning.td import LEARNING
from turnier.agents.learning.training import Plan, Training
from turnier.games.registry import GAMES

WARM_GAMES, GAMES_MEASURED = 1000, 2000


def learned_moves(learning: str, seed: int) -> float:
    """Returns learned moves/s of `learning`, such as td(coherence=false,alpha=0.1)."""
    plan = Plan(GAMES.make("2048"), NTuple(network="4x6"), LEARNING.make(learning), seed)
    training = Training(plan, Path("no file is written"), WARM_GAMES + GAMES_MEASURED)
    training.play(0, WARM_GAMES)
    began = time.perf_counter()
    _, moves = training.play(WARM_GAMES, GAMES_MEASURED)
    return moves / (time.perf_counter() - began)
