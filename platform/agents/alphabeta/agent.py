"""Alpha-beta: exact search for two seats without chance, by iterative deepening within a depth or budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...core.kernel import kernel, types
from ...core.parameters import parameter
from ...games.abi import GAME, NO_WIN, Actions, Floats, State
from ...games.game import Game, NumArray, Position
from ..abi import ACT, VALUES, VISITS, Root
from ..agent import CompiledPlayer, SearchAgent, rollout_depth_parameter, score_method_parameter
from ..budget import AMOUNT
from ..evaluator import Evaluator, Score, ValueUnit, results_in
from ..timed import run_chunks
from ..transposition import TABLE, enough_bits, new_table
from .search import (
    DEPTH,
    FORCED_DEPTH,
    MAX_NODES,
    NODES,
    TABLE_BITS,
    UNLIMITED,
    choose,
    deepen,
    forced_value,
    new_stack,
)

DEEPEST = 255  # plies


@kernel(types.int64(GAME, Floats, State, Actions, Root))
def sure_action(game, settings, state, choices, root):
    """Returns the only legal action, or one that wins by forcing moves, or NO_WIN."""
    if game.legal(state, choices) == 1:
        return choices[0]
    forced_depth = np.int64(settings[FORCED_DEPTH])
    action = game.forced_win(state, forced_depth) if forced_depth > 0 and game.has_forced_win else NO_WIN
    if action != NO_WIN:
        root[VISITS, action], root[VALUES, action] = 1.0, forced_value(forced_depth)
    return action


@kernel(TABLE(GAME, Floats, State, Actions))
def table_for(game, settings, state, choices):
    """Returns an empty table, no larger than the nodes expected: those of a full search to 3/4 of the depth."""
    depth = np.int64(settings[DEPTH])
    return new_table(enough_bits(np.int64(settings[TABLE_BITS]), game.legal(state, choices), depth - depth // 4), 1)


@kernel(ACT)
def act_alphabeta(game, evaluator, settings, state, returns, rng, root):
    choices = np.empty(game.max_choices, np.int64)
    action = sure_action(game, settings, state, choices, root)
    if action != NO_WIN:
        return action
    depth = np.int64(settings[DEPTH])
    stack = new_stack(game, state, depth)
    table = table_for(game, settings, state, choices)
    limit = np.int64(settings[MAX_NODES]) if settings[MAX_NODES] > 0.0 else UNLIMITED
    deepen(game, evaluator, settings, stack, table, state, returns, rng, limit, root)
    return choose(stack, root)


class TimedAlphaBetaPlayer(CompiledPlayer):
    """Searches chunks of nodes on one stack until the time is up or the search is done."""

    def _decide(self, position: Position, root: NumArray, began: float) -> tuple[int, int]:
        assert isinstance(self.agent, AlphaBeta)
        game, settings, state = self.game.kernels, self.kernels.settings, position.view(position.to_move)
        choices = np.empty(game.max_choices, np.int64)
        action = int(sure_action(game, settings, state, choices, root))
        if action != NO_WIN:
            return action, int(root[VISITS].sum())
        stack = new_stack(game, state, self.agent.depth)
        table = table_for(game, settings, state, choices)
        max_nodes = self.agent.nodes or UNLIMITED

        def search_chunk(nodes: int) -> bool:
            limit = min(int(stack.counts[NODES]) + nodes, max_nodes)
            done = deepen(
                game, self.kernels.evaluator, settings, stack, table, state, position.returns, self.rng, limit, root
            )
            return bool(not done and stack.counts[NODES] < max_nodes)

        run_chunks(search_chunk, 100, began, self.agent.milliseconds)
        return int(choose(stack, root)), int(stack.counts[NODES])


@dataclass(frozen=True)
class AlphaBeta(SearchAgent):
    """Alpha-beta with iterative deepening and a transposition table; prefers sooner wins and later losses.

    The search stops at the depth, when the budget is spent (the last complete iteration then counts), or once a win, a
    loss or the whole tree is proven. A value is a return / max_return, reduced by 2**-40 of its size for every ply
    until it is reached. Actions only shown to be no better than the chosen one have neither visits nor values.
    """

    name: ClassVar[str] = "alphabeta"
    timed_player: ClassVar[type[CompiledPlayer]] = TimedAlphaBetaPlayer
    act_kernel: ClassVar[Any] = act_alphabeta

    depth: int = parameter(6, "maximum plies to search", low=1, high=DEEPEST, search=(1, 10))
    nodes: int = parameter(
        0, "maximum nodes per move, 0 = no limit", low=0, high=1_000_000_000, log=True, search=(100, 100_000)
    )
    table_bits: int = parameter(
        16, "maximum size of the table: 2**bits entries of 24 bytes, 0 = no table", low=0, high=28, search=(0, 20)
    )
    ordering: bool = parameter(True, "try the table's action, killers and frequent cut-offs first")
    forced_depth: int = parameter(
        0,
        "maximum forcing moves of a win searched for at the root and the horizon, 0 = none",
        low=0,
        high=100,
        search=(0, 9),
    )
    evaluator: Evaluator = parameter(Score(), "evaluates the states at the horizon")
    rollout_depth: int = rollout_depth_parameter(150)
    score_method: int = score_method_parameter(2)
    milliseconds: int = parameter(0, "maximum time per move, 0 = no limit", low=0, high=3_600_000, search=(0, 100))

    budgets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "ms": {"milliseconds": AMOUNT, "depth": DEEPEST, "nodes": 0},
        "nodes": {"nodes": AMOUNT, "depth": DEEPEST, "milliseconds": 0},
        "plies": {"depth": AMOUNT, "nodes": 0, "milliseconds": 0},
    }

    def draws_numbers(self, game: Game) -> bool | None:
        return self.evaluator_or_clock_draws(game)

    def settings(self) -> tuple[float, ...]:
        in_points = isinstance(self.evaluator, Score)
        return (self.depth, self.nodes, self.table_bits, self.ordering, self.forced_depth, in_points)

    def value_unit(self, game: Game) -> ValueUnit:
        return ValueUnit(game.max_return, results_in(game))  # ends of games are mixed in, whatever the evaluator

    def cannot_play(self, game: Game) -> str | None:
        if game.num_seats != 2:
            return f"alphabeta plays games of two seats, got {game} with {game.num_seats}; use maxn."
        if game.has_chance:
            return f"alphabeta plays games without chance, got {game}; use mctse or mc."
        return super().cannot_play(game)
