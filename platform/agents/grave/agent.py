"""Monte Carlo tree search that learns of moves wherever they are played: GRAVE in the tree, MAST in playouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...core.kernel import kernel
from ...core.parameters import parameter
from ...games.game import Game, NumArray, Position
from ..abi import ACT, VISITS
from ..agent import (
    CompiledPlayer,
    SearchAgent,
    milliseconds_parameter,
    rollout_depth_parameter,
    score_method_parameter,
)
from ..budget import OF_ITERATIONS
from ..evaluator import Evaluator
from ..evaluators.rollout import Rollout
from ..final_move import FINALS, final_parameter, security_parameter
from ..mcts.agent import enough_nodes
from ..mcts.search import ITERATIONS, final_child, without_search
from ..mcts.tree import ACTION, MAX_NODES, NONE, clear_tree, new_tree, tree_in, tree_words
from ..timed import run_chunks
from .knowledge import enough_tables, forget, knowledge_in, knowledge_words
from .search import AMAF, NUM_SETTINGS, search, search_all

GRAVE, UCT = "grave", "uct"


@kernel(ACT)
def act_grave(game, evaluator, settings, state, returns, rng, root):
    action = without_search(game, 0, state, root)
    if action != NONE:
        return action
    iterations, moves = np.int64(settings[ITERATIONS]), game.num_seats * game.num_actions
    capacity = enough_nodes(iterations, game.max_choices)
    tables = enough_tables(iterations, moves) if settings[AMAF] > 0.0 else 0
    behind = NUM_SETTINGS + tree_words(capacity, returns.size)
    tree = tree_in(capacity, returns.size, settings[NUM_SETTINGS:behind])
    knowledge = knowledge_in(capacity, tables, moves, settings[behind:])
    search_all(game, evaluator, settings, tree, knowledge, state, returns, rng)
    return tree.nodes[final_child(tree, settings, root), ACTION]


class GravePlayer(CompiledPlayer):
    """Searches by the clock."""

    agent: Grave

    def __init__(self, agent: Grave, game: Game, rng: npt.NDArray[np.uint64]) -> None:
        super().__init__(agent, game, rng)
        moves = game.num_seats * game.num_actions
        tables = enough_tables(MAX_NODES, moves) if agent.selection == GRAVE else 0
        self.tree = new_tree(MAX_NODES, game.num_seats)
        self.knowledge = knowledge_in(MAX_NODES, tables, moves, np.empty(knowledge_words(MAX_NODES, tables, moves)))

    def _decide(self, position: Position, root: NumArray, began: float) -> tuple[int, int]:
        state, settings = position.view(position.to_move), self.kernels.settings
        action = int(without_search(self.game.kernels, 0, state, root))
        if action == NONE:
            clear_tree(self.tree)
            forget(self.knowledge)
            work = (self.game.kernels, self.kernels.evaluator, settings, self.tree, self.knowledge)

            def search_chunk(iterations: int) -> bool:
                search(*work, state, position.returns, self.rng, iterations)
                return True

            run_chunks(search_chunk, 8, began, self.agent.milliseconds)
            action = int(self.tree.nodes[final_child(self.tree, settings, root), ACTION])
        return action, int(root[VISITS].sum())


@dataclass(frozen=True)
class Grave(SearchAgent):
    """Monte Carlo tree search whose selection is GRAVE and whose playouts are MAST, for any number of seats.

    GRAVE values an action that has few visits by all simulations that had it later (AMAF), as counted at the nearest
    ancestor with enough of them; with ref=0, which makes that the node itself, it is RAVE. MAST prefers the moves with
    the best mean over all simulations of the search. Sources: Cazenave 2015, "Generalized Rapid Action Value
    Estimation"; Gelly and Silver 2011 (RAVE); Finnsson and Bjornsson 2008, "Simulation-Based Approach to General Game
    Playing" (MAST); Tak, Winands and Bjornsson 2012 (the best move with a probability, in place of a Gibbs
    distribution). Differs: actions that no simulation had are tried first; exploration may be added, and then counts an
    untried action as tried once; the means are of one decision, not of a match; there is no transposition table. With
    selection=uct and mast=0 it is mcts.
    """

    name: ClassVar[str] = "grave"
    timed_player: ClassVar[type[CompiledPlayer]] = GravePlayer
    act_kernel: ClassVar[Any] = act_grave

    iterations: int = parameter(10_000, "iterations per move", low=1, high=10_000_000, log=True, search=(10, 10_000))
    rollout_depth: int = rollout_depth_parameter(2000)
    tree_depth: int = parameter(25, "maximum actions on a path", low=1, high=10_000, search=(1, 50))
    selection: str = parameter(GRAVE, "by AMAF and means, or by means alone", choices=(GRAVE, UCT))
    ref: int = parameter(
        50, "grave: visits of a node from which its own AMAF values count", low=0, high=10_000_000, search=(0, 400)
    )
    bias: float = parameter(
        0.001, "grave: the larger, the sooner visits outweigh AMAF", low=0, high=1, log=True, search=(1e-7, 0.1)
    )
    exploration: float = parameter(0.0, "K of UCT, for rewards from 0 to 1", low=0, high=100, search=(0, 2))
    mast: float = parameter(
        0.6, "share of a playout's moves by their means, 0 = all are random", low=0, high=1, search=(0, 1)
    )
    final: str = final_parameter("robust")
    security: float = security_parameter()
    score_method: int = score_method_parameter(2)
    milliseconds: int = milliseconds_parameter("iterations")

    budgets: ClassVar[Mapping[str, Mapping[str, Any]]] = OF_ITERATIONS

    def draws_numbers(self, game: Game) -> bool:
        return True

    def used_evaluator(self) -> tuple[Evaluator, int, int]:
        return Rollout(), self.rollout_depth, self.score_method

    def memory_words(self, game: Game) -> int:
        nodes, moves = enough_nodes(self.iterations, game.kernels.max_choices), game.num_seats * game.num_actions
        tables = enough_tables(self.iterations, moves) if self.selection == GRAVE else 0
        return int(tree_words(nodes, game.num_seats) + knowledge_words(nodes, tables, moves))

    def settings(self) -> tuple[float, ...]:
        of_mcts = (self.iterations, self.tree_depth, 2.0 * self.exploration, FINALS.index(self.final), self.security)
        return (*of_mcts, False, False, 0, self.selection == GRAVE, self.ref, self.bias, self.mast)
