"""Monte Carlo tree search (UCT) for any number of seats, with a solver, forced wins and a reusable tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...core.kernel import kernel, types
from ...core.parameters import parameter
from ...games.game import Game, NumArray, Position
from ..abi import ACT, VISITS, SeatKernels
from ..agent import (
    CompiledPlayer,
    Player,
    SearchAgent,
    milliseconds_parameter,
    rollout_depth_parameter,
    score_method_parameter,
    seat_rng,
)
from ..budget import OF_ITERATIONS
from ..evaluator import Evaluator
from ..evaluators.rollout import Rollout
from ..final_move import FINALS, final_parameter, security_parameter
from ..timed import run_chunks
from .search import FORCED_DEPTH, ITERATIONS, NUM_SETTINGS, final_child, search, search_all, without_search
from .tree import (
    ACTION,
    COUNT,
    FIRST,
    MAX_NODES,
    NONE,
    PROVEN,
    STATUS,
    TRIED,
    clear_tree,
    copy_subtree,
    find_position,
    new_tree,
    tree_in,
    tree_words,
)


@kernel(types.int64(types.int64, types.int64))
def enough_nodes(iterations, max_choices):
    """An iteration expands at most one node; robust_max may double the iterations."""
    return min(1 + 2 * iterations * max_choices, MAX_NODES)


@kernel(ACT)
def act_mcts(game, evaluator, settings, state, returns, rng, root):
    action = without_search(game, np.int64(settings[FORCED_DEPTH]), state, root)
    if action != NONE:
        return action
    tree = tree_in(
        enough_nodes(np.int64(settings[ITERATIONS]), game.max_choices), returns.size, settings[NUM_SETTINGS:]
    )
    search_all(game, evaluator, settings, tree, state, returns, rng)
    return tree.nodes[final_child(tree, settings, root), ACTION]


class MctsPlayer(CompiledPlayer):
    """Searches by the clock, or on the tree of earlier moves, or both."""

    agent: Mcts
    PLIES = 4  # per seat: how far below the last position to look for the new one

    def __init__(self, agent: Mcts, game: Game, rng: npt.NDArray[np.uint64]) -> None:
        super().__init__(agent, game, rng)
        self.tree = new_tree(MAX_NODES, game.num_seats)
        self.spare = new_tree(MAX_NODES, game.num_seats) if agent.reuse else None
        self.last: tuple[Any, Any, int] | None = None  # the last search's state and returns, and the child chosen

    def _decide(self, position: Position, root: NumArray, began: float) -> tuple[int, int]:
        state, settings = position.view(position.to_move), self.kernels.settings
        kept = 0  # visits of earlier moves, not of this one
        action = int(without_search(self.game.kernels, self.agent.forced_depth, state, root))
        if action == NONE:
            self.plant(state, position.returns)
            kept = self._visits_below_root()
            work = (self.game.kernels, self.kernels.evaluator, settings, self.tree, state, position.returns, self.rng)
            if self.agent.milliseconds:
                self.search_by_clock(work, began)
            else:
                search_all(*work)
            chosen = int(final_child(self.tree, settings, root))
            action = int(self.tree.nodes[chosen, ACTION])
            self.last = (state, position.returns.copy(), chosen)
        return action, int(root[VISITS].sum()) - kept

    def _visits_below_root(self) -> int:
        first, tried = self.tree.nodes[0, [FIRST, TRIED]]  # the others have only actions
        return int(self.tree.nodes[first : first + tried, COUNT].sum()) if tried > 0 else 0

    def plant(self, state: Any, returns: Any) -> None:
        """Makes the position the tree's root, with the subtree of the last search if there is one."""
        node = NONE
        if self.spare is not None and self.last is not None:
            plies = self.PLIES * self.game.num_seats
            node = find_position(self.game.kernels, self.tree, *self.last, state, returns, plies)
        if node == NONE:
            clear_tree(self.tree)
        else:
            copy_subtree(self.tree, node, self.spare)
            self.tree, self.spare = self.spare, self.tree

    def search_by_clock(self, work: tuple[Any, ...], began: float) -> None:
        """Runs iterations until the time is up or the root is proven."""

        def search_chunk(iterations: int) -> bool:
            search(*work, iterations)
            return bool(self.tree.nodes[0, STATUS] != PROVEN)

        run_chunks(search_chunk, 8, began, self.agent.milliseconds)


@dataclass(frozen=True)
class Mcts(SearchAgent):
    """Monte Carlo tree search with UCT for any number of seats; every seat maximises its own value (Max-N).

    A known flaw in games with chance: one outcome per action is drawn and frozen in the tree (Kutsch 2017, 4.4); mctse
    is made for those. Proofs stop at chance; with hidden information they hold only for a seat's view. Source: Weitz
    2022, 2.3.4 (the defaults are MCTS1); Kutsch 2017, 4; Winands 2008 (solver). Differs: ties are broken by the random
    order in which actions are first tried, not by noise; rewards from -1 to 1 are normalised to 0 to 1 by doubling the
    exploration, which ranks actions equally; the secure child is the one with the best lower confidence bound, mean - L
    / sqrt(n), not with a plus as printed by Kutsch; robust_max runs for at most as many iterations again, then becomes
    robust; Kutsch has ln n, not ln(n + 1).
    """

    name: ClassVar[str] = "mcts"
    timed_player: ClassVar[type[CompiledPlayer]] = MctsPlayer
    act_kernel: ClassVar[Any] = act_mcts

    iterations: int = parameter(10_000, "iterations per move", low=1, high=10_000_000, log=True, search=(10, 10_000))
    rollout_depth: int = rollout_depth_parameter(2000)
    tree_depth: int = parameter(25, "maximum actions on a path", low=1, high=10_000, search=(1, 50))
    exploration: float = parameter(1.414, "K of UCT", low=0, high=100, log=True, search=(0.01, 10))
    normalise: bool = parameter(True, "rewards from 0 to 1 instead of -1 to 1")
    final: str = final_parameter()
    security: float = security_parameter()
    backup: str = parameter("mean", "a node's value: the mean or the least of its rewards", choices=("mean", "minimum"))
    solver: bool = parameter(False, "back up proven wins and losses")
    forced_depth: int = parameter(
        0, "longest forced win to look for, if the game can; 0 = none", low=0, high=1000, search=(0, 9)
    )
    reuse: bool = parameter(False, "keep the tree from move to move")
    score_method: int = score_method_parameter(2)
    evaluator: Evaluator = parameter(Rollout(), "evaluates new nodes")
    milliseconds: int = milliseconds_parameter("iterations")

    budgets: ClassVar[Mapping[str, Mapping[str, Any]]] = OF_ITERATIONS

    def draws_numbers(self, game: Game) -> bool:
        return True

    def cannot_play(self, game: Game) -> str | None:
        return (self.evaluator.cannot_prove(game) if self.solver else None) or super().cannot_play(game)

    def memory_words(self, game: Game) -> int:
        return int(tree_words(enough_nodes(self.iterations, game.kernels.max_choices), game.num_seats))

    def settings(self) -> tuple[float, ...]:
        exploration = self.exploration * (2.0 if self.normalise else 1.0)
        choices = (FINALS.index(self.final), self.security, self.backup == "minimum")
        return (self.iterations, self.tree_depth, exploration, *choices, self.solver, self.forced_depth)

    def seat_kernels(self, game: Game) -> SeatKernels | None:
        return None if self.reuse else super().seat_kernels(game)

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        if not self.reuse:
            return super().start(game, seat, seed)
        self.require(game)
        return MctsPlayer(self, game, seat_rng(seed, seat, game.num_seats))
