"""Tree search with priors (PUCT, Gumbel) around any evaluator, best around a learned network."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...core.errors import UserError
from ...core.kernel import kernel, types
from ...core.parameters import parameter
from ...core.rng import Rng
from ...games.abi import GAME, Floats, State
from ...games.game import Game, NumArray, Position
from ...games.registry import GAMES
from ..abi import ACT, EVALUATOR, VISITS, SeatKernels
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
from ..expectimax.one_ply_boards import fits_boards
from ..mcts.search import without_search
from ..mcts.tree import (
    ACTION,
    COUNT,
    FIRST,
    MAX_NODES,
    NONE,
    PROVEN,
    STATUS,
    TREE,
    WIDTH,
    clear_tree,
    new_tree,
    tree_in,
    tree_words,
)
from ..ntuple.evaluator import NTuple
from ..ntuple.weights import read_policy, weights_from_file
from ..residual.evaluator import Residual
from ..timed import run_chunks
from .gumbel import set_improved_logits, sort_by_score
from .search import (
    BY_HEADS,
    BY_NETWORK,
    CONSIDERED,
    FORCED_DEPTH,
    GUMBEL,
    ITERATIONS,
    NUM_SETTINGS,
    POLICY,
    VALUE_SCALE,
    WORK,
    clear_extremes,
    final_child,
    iterate,
    mix_priors,
    new_work,
)


@kernel(types.void(TREE, types.int64, types.float64, Floats, Floats))
def set_scores(tree, mover, value_scale, noise, scores):
    """Fills in what the root's children are ranked by: noise + logit + sigma(Q)."""
    set_improved_logits(tree, 0, mover, value_scale, scores)
    for i in range(tree.nodes[0, WIDTH]):
        scores[i] += noise[i]


@kernel(types.int64(GAME, EVALUATOR, Floats, TREE, State, Floats, Rng, Floats, Floats, WORK))
def search_by_halving(game, evaluator, settings, tree, root_state, returns, rng, extremes, noise, work):
    """Runs the iterations of a decision; returns the best of the most visited children, NONE where the root is proven.

    The first iteration expands the root. Of n others, each of m considered actions gets n / (m log2 m) in a round.
    Arguments are those of `search_all`. Source: Danihelka et al. 2022, algorithm 2.
    """
    nodes, scores, value_scale = tree.nodes, np.empty(game.max_choices), settings[VALUE_SCALE]
    mover = game.to_move(root_state)
    iterate(game, evaluator, settings, tree, root_state, returns, rng, extremes, 1, NONE, work)
    first, width = int(nodes[0, FIRST]), int(nodes[0, WIDTH])
    places = np.arange(width)
    for i in range(width):  # before there are visits, values have no say
        scores[i] = tree.seeds.view(np.float64)[first + i] + noise[i]
    sort_by_score(scores, width, places)
    considered = min(int(settings[CONSIDERED]), width)
    left = int(settings[ITERATIONS]) - 1
    total, rounds = left, max(1, math.ceil(math.log2(float(considered))))
    while left > 0:
        each = max(1, total // (rounds * considered))
        for _ in range(each):
            for k in range(min(considered, left)):
                if nodes[0, STATUS] == PROVEN:
                    return NONE
                through = first + places[k]
                iterate(game, evaluator, settings, tree, root_state, returns, rng, extremes, 1, through, work)
            left = max(left - considered, 0)
        set_scores(tree, mover, value_scale, noise, scores)
        sort_by_score(scores, considered, places)
        considered = max(min(2, considered), considered // 2)
    if nodes[0, STATUS] == PROVEN:
        return NONE
    set_scores(tree, mover, value_scale, noise, scores)
    best = places[0]
    for k in range(width):
        more = nodes[first + places[k], COUNT] - nodes[first + best, COUNT]
        if more > 0 or (more == 0 and scores[places[k]] > scores[best]):
            best = places[k]
    return first + best


@kernel(types.int64(types.int64, types.int64))
def enough_nodes(iterations, max_choices):
    """An iteration expands at most one node and finds one chance outcome."""
    return min(1 + iterations * (max_choices + 1), MAX_NODES)


@kernel(types.int64(GAME, EVALUATOR, Floats, TREE, State, Floats, Rng, Floats, Floats))
def search_all(game, evaluator, settings, tree, state, returns, rng, extremes, noise):
    """Runs the iterations of one decision on a tree with only its root; returns its favourite child, or NONE.

    Args:
        extremes: [2] see `clear_extremes`.
        noise: [max_choices] with Gumbel added to the logits of the root's children, with PUCT mixed into their priors
            as shares; zeros = none.
    """
    work = new_work(game, evaluator, settings, state)
    clear_extremes(extremes, returns.size)
    if settings[GUMBEL] > 0.0:
        return search_by_halving(game, evaluator, settings, tree, state, returns, rng, extremes, noise, work)
    iterations = np.int64(settings[ITERATIONS])
    iterate(game, evaluator, settings, tree, state, returns, rng, extremes, 1, NONE, work)
    mix_priors(tree, noise)
    iterate(game, evaluator, settings, tree, state, returns, rng, extremes, iterations - 1, NONE, work)
    return NONE


@kernel(ACT)
def act_puct(game, evaluator, settings, state, returns, rng, root):
    action = without_search(game, np.int64(settings[FORCED_DEPTH]), state, root)
    if action != NONE:
        return action
    capacity = enough_nodes(np.int64(settings[ITERATIONS]), game.max_choices)
    tree = tree_in(capacity, returns.size, settings[NUM_SETTINGS:])
    favourite = search_all(
        game, evaluator, settings, tree, state, returns, rng, np.empty(2), np.zeros(game.max_choices)
    )
    return tree.nodes[final_child(tree, favourite, root), ACTION]


class PuctPlayer(CompiledPlayer):
    """Searches by the clock."""

    agent: Puct

    def __init__(self, agent: Puct, game: Game, rng: npt.NDArray[np.uint64]) -> None:
        super().__init__(agent, game, rng)
        self.tree = new_tree(MAX_NODES, game.num_seats)
        self.extremes = np.empty(2)

    def _decide(self, position: Position, root: NumArray, began: float) -> tuple[int, int]:
        state, settings = position.view(position.to_move), self.kernels.settings
        action = int(without_search(self.game.kernels, self.agent.forced_depth, state, root))
        if action == NONE:
            clear_tree(self.tree)
            clear_extremes(self.extremes, self.game.num_seats)
            kernels = (self.game.kernels, self.kernels.evaluator, settings)
            work = new_work(*kernels, state)

            def search_chunk(iterations: int) -> bool:
                arrays = (self.tree, state, position.returns, self.rng, self.extremes)
                iterate(*kernels, *arrays, iterations, NONE, work)
                return bool(self.tree.nodes[0, STATUS] != PROVEN)

            run_chunks(search_chunk, 8, began, self.agent.milliseconds)
            action = int(self.tree.nodes[final_child(self.tree, NONE, root), ACTION])
        return action, int(root[VISITS].sum())


@dataclass(frozen=True)
class Puct(SearchAgent):
    """Tree search with priors by its evaluator, for any number of seats, also with chance.

    A new state gets all its children at once, with the values of one decision ahead; their softmax gives the priors.
    Around `residual` the network's own policy gives them, whatever the temperature, and children begin with the state's
    value. Every seat maximises its own value (Max-N). Outcomes of chance are drawn anew each time and have their own
    nodes. `puct` plays the most visited action; `gumbel` repeatedly halves the actions considered and plays the better
    of the last two; by the clock, with an unknown number of iterations, it plays the most visited one. Sources: Rosin
    2011; Silver et al. 2017 (PUCT); Danihelka et al. 2022 (Gumbel, here without noise); Winands 2008 (solver).
    """

    name: ClassVar[str] = "puct"
    timed_player: ClassVar[type[CompiledPlayer]] = PuctPlayer
    act_kernel: ClassVar[Any] = act_puct

    iterations: int = parameter(1_000, "iterations per move", low=1, high=10_000_000, log=True, search=(10, 10_000))
    evaluator: Evaluator = parameter(Rollout(), "evaluates new nodes and the states after their actions")
    selection: str = parameter("puct", "choice of actions", choices=("puct", "gumbel"))
    exploration: float = parameter(1.25, "puct: c", low=0, high=100, log=True, search=(0.1, 10))
    temperature: float = parameter(
        0.1, "temperature of the softmax of values from 0 to 1", low=0.001, high=1000, log=True, search=(0.01, 10)
    )
    considered: int = parameter(16, "gumbel: actions that the root considers", low=1, high=1000, search=(2, 64))
    value_scale: float = parameter(
        1.0, "gumbel: weight of values relative to logits", low=0, high=100, log=True, search=(0.01, 10)
    )
    leaf: str = parameter("state", "a new node's value: its own, or its best child's", choices=("state", "best"))
    tree_depth: int = parameter(100, "maximum actions on a path", low=1, high=10_000, search=(1, 100))
    solver: bool = parameter(False, "back up proven wins and losses")
    forced_depth: int = parameter(
        0, "longest forced win to look for, if the game can; 0 = none", low=0, high=1000, search=(0, 9)
    )
    rollout_depth: int = rollout_depth_parameter(150)
    score_method: int = score_method_parameter(2)
    milliseconds: int = milliseconds_parameter("iterations")
    policy: str = parameter(
        "", "weights of a policy that corrects the priors, from `turnier train GAME puct`", later=True, carried=True
    )
    digest: str = parameter("", "digest that the weights of the policy must have; filled in", later=True)

    budgets: ClassVar[Mapping[str, Mapping[str, Any]]] = OF_ITERATIONS

    def draws_numbers(self, game: Game) -> bool | None:
        drawn = self.evaluator_or_clock_draws(game)
        return drawn or game.has_chance or drawn

    def check(self) -> None:
        if self.digest and not self.policy:
            raise UserError("puct: a digest must belong to a policy, got none; leave the digest out.")
        if self.policy and not self.digest:
            object.__setattr__(self, "digest", read_policy(self.carried_path("policy"))["digest"])

    def cannot_play(self, game: Game) -> str | None:
        if self.leaf == "best" and type(self.evaluator) is Residual:
            return "puct with leaf=best needs values of one decision ahead, got residual; use leaf=state."
        if self.policy:
            if type(self.evaluator) is not NTuple or game.num_seats == 1:
                return (
                    "puct with a policy needs an n-tuple network as its evaluator and a game of several seats, got"
                    f" {self.evaluator} and {game}; leave the policy out."
                )
            file = self.carried_path("policy")
            # Stored matches can be counted without it; playing raises an error.
            learned = GAMES.make(read_policy(file)["network"]["game"]) if os.path.isfile(file) else game
            if learned != game:
                return f"the policy in {self.policy} is for {learned}, got {game}; train one for it."
        return (self.evaluator.cannot_prove(game) if self.solver else None) or super().cannot_play(game)

    def memory_words(self, game: Game) -> int:
        return int(tree_words(enough_nodes(self.iterations, game.kernels.max_choices), game.num_seats))

    def settings(self) -> tuple[float, ...]:
        gumbel = (self.selection == "gumbel", self.considered, self.value_scale)
        return (
            self.iterations, self.tree_depth, self.exploration, self.temperature, self.leaf == "best", self.solver,
            self.forced_depth, *gumbel, False, 0, False,
        )  # fmt: skip

    def kernels(self, game: Game) -> SeatKernels:
        seat = super().kernels(game)
        if self.policy:
            return with_policy(seat, weights_from_file(str(self.carried_path("policy").resolve()), self.digest))
        seat.settings[BY_NETWORK] = fits_boards(self.evaluator, seat)
        seat.settings[BY_HEADS] = type(self.evaluator) is Residual
        return seat


def with_policy(seat: SeatKernels, policy: npt.NDArray[np.float64]) -> SeatKernels:
    """Returns the kernels with a policy's header and entries behind those of the network of values."""
    values = seat.evaluator.weights
    seat.settings[BY_NETWORK], seat.settings[POLICY] = True, len(values)
    return replace(seat, evaluator=replace(seat.evaluator, weights=np.concatenate([values, policy])))
