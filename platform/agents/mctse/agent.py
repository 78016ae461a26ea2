"""MCTS-Expectimax: tree search for games with chance, with separate nodes for an afterstate and its outcomes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...core.helper_threads import LINE, HelperThreads
from ...core.kernel import kernel
from ...core.packing import pack
from ...core.parameters import parameter
from ...core.rng import fork_streams
from ...games.game import Game, NumArray, Position
from ..abi import ACT
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
from ..final_move import EXTRA_CHUNKS, FINALS, final_parameter, security_parameter
from ..timed import run_chunks
from .search import ITERATIONS, NUM_SETTINGS, final_action, needs_more, search
from .threads import lead_mctse, lead_search, pack_share, share_mctse
from .together import act_mctse_together
from .tree import COUNTS, DONE, NODES_PER_ITERATION, capacity_of, clear, has_room, new_tree_copy, tree_in, tree_words
from .tree_copies import new_copies

Words = npt.NDArray[np.uint64]


@kernel(ACT)
def act_mctse(game, evaluator, settings, state, returns, rng, root):
    choices = np.empty(game.max_choices, np.int64)
    if game.legal(state, choices) == 1:
        return choices[0]
    iterations, mover = np.int64(settings[ITERATIONS]), game.to_move(state)
    largest, next_node, counts = np.empty(returns.size), np.empty(1, np.int64), np.empty(COUNTS, np.int64)
    progress = np.empty(1)
    space = settings[NUM_SETTINGS:].view(np.int64)
    tree = tree_in(space, capacity_of(space.size, returns.size), largest, progress, next_node, counts, 0)
    search(game, evaluator, settings, tree, state, returns, rng, iterations)
    for _ in range(EXTRA_CHUNKS):
        if not needs_more(tree, mover, settings):
            break
        search(game, evaluator, settings, tree, state, returns, rng, iterations // EXTRA_CHUNKS)
    return final_action(tree, mover, settings, root)


class MctsePlayer(CompiledPlayer):
    """Searches one tree by the clock, or with several threads, or both."""

    TIMED_NODES = 1_000_000  # maximum nodes in a search by the clock
    FEW_NODES = 100_000  # any thread may add this many

    def __init__(self, agent: Mctse, game: Game, rng: Words) -> None:
        super().__init__(agent, game, rng)
        self.milliseconds = agent.milliseconds
        longest = 2 * agent.iterations if agent.final == "robust_max" else agent.iterations
        nodes = self.TIMED_NODES if agent.milliseconds else NODES_PER_ITERATION * longest
        # Slow threads leave iterations to the others; unused nodes take no memory.
        share = min(nodes, max(self.FEW_NODES, 2 * nodes // agent.threads))
        self.state, self.returns = game.new_state(), np.zeros(game.num_seats)
        self.rngs = np.zeros((1 + agent.threads, LINE), np.uint64)[1:]  # each in its own cache lines
        self.trees = [new_tree_copy(share, game.num_seats, agent.threads, i) for i in range(agent.threads)]
        self.copies = new_copies(agent.threads, game.num_seats)
        shares = [
            pack(pack_share, game.kernels, self.kernels, tree, self.copies, self.state, self.returns, rng[:4])
            for tree, rng in zip(self.trees, self.rngs, strict=True)
        ]
        self.packed = shares[0]
        self.helpers = HelperThreads(share_mctse, shares[1:])

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy has threads, trees and streams of its own: nothing of them outlasts a decision."""
        return MctsePlayer, (self.agent, self.game, self.rng)

    @property
    def tree(self) -> Any:
        return self.trees[0]

    def _decide(self, position: Position, root: NumArray, began: float) -> tuple[int, int]:
        self.state[:], self.returns[:] = position.view(position.to_move), position.returns
        if self.milliseconds:
            action = self._search_by_clock(began, position, root)
        else:
            action = self.helpers.lead(lead_mctse, self.packed, self.rng, self.rngs, root)
        return int(action), int(self.tree.counts[DONE])

    def _search_by_clock(self, began: float, position: Position, root: npt.NDArray[np.float64]) -> int:
        """Runs iterations until the time is up or the tree is full."""
        legal = position.legal_actions()
        if len(legal) == 1:
            clear(self.tree)
            return legal[0]
        fork_streams(self.rng, self.rngs)
        new_search = True

        def search_chunk(iterations: int) -> bool:
            nonlocal new_search
            self.helpers.lead(lead_search, self.packed, iterations, new_search)
            new_search = False
            return bool(has_room(self.tree))

        run_chunks(search_chunk, 8, began, self.milliseconds)
        return int(final_action(self.tree, position.to_move, self.kernels.settings, root))


@dataclass(frozen=True)
class Mctse(SearchAgent):
    """MCTS-Expectimax with UCT or UCTN, a limit on action nodes, and any evaluator instead of the rollout.

    Source: Kutsch 2017, 5 and 7.1. Differs: the nodes keep no state; each iteration replays its path. The thesis
    subtracts 1 from the score of a rollout that ended the game (score_method=2), but its program, part of the public
    GBG framework, no longer did, and the published scores require method 1, the default here.

    Several threads search one tree (outlook of the thesis, 7.3), each on its own copy; `maxnodes` is then not exact.
    The same seed may then give different decisions, as with a budget in milliseconds, since threads interleave.
    """

    name: ClassVar[str] = "mctse"
    timed_player: ClassVar[type[CompiledPlayer]] = MctsePlayer
    act_kernel: ClassVar[Any] = act_mctse
    together_kernel: ClassVar[Any] = act_mctse_together

    iterations: int = parameter(3500, "iterations per move", low=1, high=10_000_000, log=True, search=(10, 10_000))
    rollout_depth: int = rollout_depth_parameter(150)
    maxnodes: int = parameter(
        500, "maximum action nodes in the tree", low=1, high=10_000_000, log=True, search=(10, 10_000)
    )
    tree_depth: int = parameter(10, "maximum action nodes on a path", low=1, high=10_000, search=(1, 50))
    selection: str = parameter("uctn", "weighting of means in selection", choices=("uct", "uctn"))
    exploration: float = parameter(
        math.sqrt(2), "K of UCT(N); 0.0566 is best for uct", low=0, high=100, log=True, search=(0.01, 10)
    )
    exploration_end: float = parameter(0.0, "K from exploration_points on", low=0, high=100, later=True)
    exploration_points: float = parameter(
        0.0,
        "points of the game so far at which K has gone from exploration to exploration_end, evenly; 0 = it stays",
        low=0,
        high=10_000_000,
        search=(0, 100_000),
        later=True,
    )
    final: str = final_parameter()
    security: float = security_parameter()
    backup: str = parameter("mean", "a node's value: the mean or the least of its rewards", choices=("mean", "minimum"))
    score_method: int = score_method_parameter(1)
    evaluator: Evaluator = parameter(Rollout(), "evaluates new nodes")
    threads: int = parameter(1, "cores per decision", low=1, high=256, search=(1, 16))
    milliseconds: int = milliseconds_parameter("iterations")

    budgets: ClassVar[Mapping[str, Mapping[str, Any]]] = OF_ITERATIONS

    def draws_numbers(self, game: Game) -> bool:
        return True

    def memory_words(self, game: Game) -> int:
        longest = 2 * self.iterations if self.final == "robust_max" else self.iterations
        return int(tree_words(NODES_PER_ITERATION * longest + 1, game.num_seats))

    def settings(self) -> tuple[float, ...]:
        choices = (self.selection == "uctn", FINALS.index(self.final), self.security, self.backup == "minimum")
        falling = (self.exploration_end, self.exploration_points)
        return (self.iterations, self.maxnodes, self.tree_depth, self.exploration, *choices, *falling)
