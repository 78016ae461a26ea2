"""Everything that holds addresses of machine code or of memory; `python -m tests.core.pickled_kernels` uses pickles.

It reads a dictionary of pickles from its standard input and prints, as JSON, what each of them does.
"""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.agents.agent_cases import PROGRAMS, SPE_ED_GAMES, small
from tests.games.python_games import Dice, Noughts
from turnier.agents.agent import CompiledAgent
from turnier.agents.registry import AGENTS, EVALUATORS, make_agent
from turnier.core.rng import stream
from turnier.environments import BoardsEnvironment, GameEnvironment, SeatsEnvironment
from turnier.games.generic import generic_playout
from turnier.games.registry import GAMES, make_game

TRIED = ("tictactoe", "2048", SPE_ED_GAMES[0])
THREADS = (
    "mc(iterations=10,threads=2)",
    "mctse(iterations=10,threads=2)",
    "mc(milliseconds=1)",
    "mctse(milliseconds=1)",
)


def holders() -> Iterator[tuple[str, Any]]:
    """Yields names and things: games' kernels, players with their kernels, evaluators and threads, environments."""
    for game in (*map(make_game, GAMES.names()), Noughts(), Dice()):
        yield f"kernels of {game}", (game.kernels, game.new_state())
    agents = [small(name) for name in AGENTS.names() if name not in PROGRAMS]
    agents += [make_agent(f"greedy(evaluator={name})") for name in EVALUATORS.names()]
    for agent in (*agents, *map(make_agent, THREADS)):
        if isinstance(agent, CompiledAgent):
            game = next(game for game in map(make_game, TRIED) if not agent.cannot_play(game))
            player, position = agent.start(game, 0, 7), game.start(3)
            player.act(position)  # threads are running
            yield str(agent), (player, position)
    yield "one environment", GameEnvironment("yavalath(size=3)", "mcts(iterations=5)")
    yield "an environment of all seats", SeatsEnvironment("tictactoe")
    boards = BoardsEnvironment("2048", num_envs=3)
    boards.reset(seed=2)
    yield "boards", boards


def done_by(name: str, holder: Any) -> list[float]:
    """Returns numbers that compiled code computes by addresses."""
    if name == "boards":
        return [float(number) for number in holder.step(np.array([0, 1, 2]))[0].ravel()]
    if name.endswith("environment"):
        holder.reset(seed=5)
        return [float(number) for number in holder.step(np.int64(4))[0].ravel()]
    if name.endswith("seats"):
        holder.reset(seed=5)
        holder.step(4)
        return [float(number) for number in holder.observe("seat_1")["observation"].ravel()]
    if name.startswith("kernels"):
        kernels, state = holder
        returns, rng, state = np.zeros(kernels.num_seats), stream(4), state.copy()
        kernels.init(state, rng)
        choices, probs = np.zeros(kernels.max_choices, np.int64), np.zeros(kernels.max_choices)
        return [float(generic_playout(kernels, state, 20, rng, returns, choices, probs)), *returns]
    player, position = holder
    decision = player.act(position)
    free = "milliseconds=" in name or name.startswith("mctse(iterations=10,threads=2")
    return [float(decision.action in position.legal_actions())] if free else [decision.action, *decision.visits]


if __name__ == "__main__":
    pickles = pickle.load(sys.stdin.buffer)
    print(json.dumps({name: done_by(name, pickle.loads(data)) for name, data in pickles.items()}))
