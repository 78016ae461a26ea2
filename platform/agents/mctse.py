"""MCTS-Expectimax: tree search for games with chance, which keeps an afterstate and its outcomes apart."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numba import types

from turnier.agents.abi import ACT, EVALUATOR, VALUES, VISITS, Root, new_scratch
from turnier.agents.agent import CompiledPlayer, Decision, SearchAgent
from turnier.agents.evaluators.evaluator import Evaluator
from turnier.agents.evaluators.rollout import Rollout
from turnier.agents.mcts_search import FINALS, MOST_CHUNKS, ROBUST, ROBUST_MAX, SECURE
from turnier.agents.tree import (
    DONE,
    NONE,
    NUM_ACTION_NODES,
    NUM_NODES,
    TREE,
    UNKNOWN,
    add_node,
    back_up,
    find_child,
    mean_value,
    new_tree,
)
from turnier.games.abi import CHANCE, GAME, TERMINAL, Actions, Floats, Rng, State, kernel
from turnier.games.game import Position
from turnier.games.generic import copy_state, draw_outcome
from turnier.games.parameters import parameter
from turnier.games.rng import below

ITERATIONS, MAXNODES, TREE_DEPTH, EXPLORATION, NORMALISED, FINAL, SECURITY, MINIMUM = range(8)  # settings
NORMALISE_AFTER = 100  # iterations (Kutsch 2017, 5)
NODES_PER_ITERATION = 3  # at most: a new outcome, an action below it and its outcome


@kernel(types.int64(TREE, types.int64, types.int64, Floats))
def select_action(tree, node, mover, settings):
    """Picks the action node by UCT, or UCTN (K eq. 3): v_i / (n_i m) + K sqrt(ln n_p / n_i).

    m is the largest value of a rollout of this search.
    """
    scale = 1.0
    if settings[NORMALISED] > 0.0 and tree.counts[DONE] >= NORMALISE_AFTER and tree.largest[mover] > 0.0:
        scale = 1.0 / tree.largest[mover]
    minimum = settings[MINIMUM] > 0.0
    log_parent = math.log(float(tree.visits[node]))
    best, best_score = NONE, -math.inf
    child = tree.first_child[node]
    while child != NONE:
        mean = mean_value(tree, child, mover, minimum)
        score = mean * scale + settings[EXPLORATION] * math.sqrt(log_parent / float(tree.visits[child]))
        if score > best_score:
            best, best_score = child, score
        child = tree.next_sibling[child]
    return best


@kernel(types.int64(GAME, TREE, types.int64, State, Rng, Actions))
def untried_action(game, tree, node, state, rng, choices):
    """Draws one of the legal actions that have no action node yet."""
    n = game.legal(state, choices)
    skip = below(rng, tree.untried[node])
    for i in range(n):
        if find_child(tree, node, choices[i]) == NONE:
            if skip == 0:
                return choices[i]
            skip -= 1
    return NONE  # never: `untried` counts exactly these


@kernel(types.int64(GAME, State, Rng, Floats, Actions, Floats))
def draw_chance(game, state, rng, returns, choices, probs):
    """Draws outcomes until a seat is to move or the game is over; returns a code that tells their sequences apart."""
    code = 0
    while game.to_move(state) == CHANCE:
        outcome = draw_outcome(game, state, rng, choices, probs)
        game.step(state, outcome, returns)
        code = (code & 0x7FFFFFFFFF) * 1_000_003 + outcome + 1  # stays below 2**60
    return code


@kernel(types.void(GAME, EVALUATOR, Floats, TREE, State, Floats, Rng, types.int64))
def search(game, evaluator, settings, tree, root_state, returns, rng, iterations):
    """Runs iterations on a tree, which may hold earlier ones; a full tree still learns from rollouts at its nodes."""
    scratch = new_scratch(game, root_state)
    choices, probs = scratch.choices, scratch.probs
    state, leaf_returns, values = np.empty_like(root_state), np.empty_like(returns), np.empty_like(returns)
    capacity = tree.visits.size
    tree_depth, minimum = np.int64(settings[TREE_DEPTH]), settings[MINIMUM] > 0.0
    path = np.empty(2 * tree_depth + 1, np.int64)
    for _ in range(iterations):
        copy_state(root_state, state)
        for seat in range(values.size):
            leaf_returns[seat] = returns[seat]
            values[seat] = 0.0
        node, length = 0, 1
        path[0] = 0
        fresh = False
        # Selection and expansion (K, algorithms 8 and 9); ends below a new action node, where the rollout starts.
        while not fresh and length < 2 * tree_depth + 1 and tree.counts[NUM_NODES] + NODES_PER_ITERATION <= capacity:
            mover = game.to_move(state)
            if mover == TERMINAL:
                break
            if tree.untried[node] == UNKNOWN:
                tree.untried[node] = game.legal(state, choices)
            fresh = tree.untried[node] > 0
            if fresh:
                if tree.counts[NUM_ACTION_NODES] >= settings[MAXNODES]:
                    break
                action = untried_action(game, tree, node, state, rng, choices)
                chosen = add_node(tree, node, action)
                tree.untried[node] -= 1
                tree.counts[NUM_ACTION_NODES] += 1
            else:
                chosen = select_action(tree, node, mover, settings)
            game.step(state, tree.label[chosen], leaf_returns)
            code = draw_chance(game, state, rng, leaf_returns, choices, probs)
            node = find_child(tree, chosen, code)
            if node == NONE:
                node = add_node(tree, chosen, code)
            path[length] = chosen
            path[length + 1] = node
            length += 2
        evaluator.evaluate(game, evaluator.weights, state, leaf_returns, 1, rng, values, scratch)
        back_up(tree, path, length, values, minimum)


@kernel(types.float64(TREE, types.int64, types.int64, Floats))
def standing(tree, child, mover, settings):
    """What a child of the root is chosen by, besides visits: its value, or the secure child's lower confidence."""
    caution = settings[SECURITY] / math.sqrt(float(tree.visits[child])) if settings[FINAL] == SECURE else 0.0
    return mean_value(tree, child, mover, settings[MINIMUM] > 0.0) - caution


@kernel(types.int64(TREE, types.int64, Floats))
def choose(tree, mover, settings):
    """Returns the root's child that `final` asks for (Kutsch 2017, 4.1); robust_max as robust, ties by the mean."""
    by_visits = settings[FINAL] == ROBUST or settings[FINAL] == ROBUST_MAX
    best, child = NONE, tree.first_child[0]
    while child != NONE:
        more = 1 if best == NONE else 0
        if by_visits and best != NONE:
            more = tree.visits[child] - tree.visits[best]
        if more > 0 or (more == 0 and standing(tree, child, mover, settings) > standing(tree, best, mover, settings)):
            best = child
        child = tree.next_sibling[child]
    return best


@kernel(types.boolean(TREE, types.int64, Floats))
def is_settled(tree, mover, settings):
    """Whether `choose` has what `final` asks for: for robust_max, a child with both the best mean and most visits."""
    if settings[FINAL] != ROBUST_MAX:
        return True
    chosen = choose(tree, mover, settings)
    child = tree.first_child[0]
    while child != NONE:
        if standing(tree, child, mover, settings) > standing(tree, chosen, mover, settings):
            return False
        child = tree.next_sibling[child]
    return True


@kernel(types.int64(TREE, types.int64, Floats, Root))
def report(tree, mover, settings, root):
    """Fills `root` with the root's children and returns the action of the chosen one."""
    child = tree.first_child[0]
    while child != NONE:
        root[VISITS, tree.label[child]] = float(tree.visits[child])
        root[VALUES, tree.label[child]] = mean_value(tree, child, mover, settings[MINIMUM] > 0.0)
        child = tree.next_sibling[child]
    return tree.label[choose(tree, mover, settings)]


@kernel(ACT)
def act_mctse(game, evaluator, settings, state, returns, rng, root):
    choices = np.empty(game.max_choices, np.int64)
    if game.legal(state, choices) == 1:
        return choices[0]
    iterations, mover = np.int64(settings[ITERATIONS]), game.to_move(state)
    longest = 2 * iterations if settings[FINAL] == ROBUST_MAX else iterations
    tree = new_tree(NODES_PER_ITERATION * longest + 1, returns.size)
    search(game, evaluator, settings, tree, state, returns, rng, iterations)
    for _ in range(MOST_CHUNKS):
        if is_settled(tree, mover, settings):
            break
        search(game, evaluator, settings, tree, state, returns, rng, iterations // MOST_CHUNKS)
    return report(tree, mover, settings, root)


class TimedMctsePlayer(CompiledPlayer):
    """Runs chunks of iterations on one tree until the milliseconds are over or the tree is full."""

    CAPACITY = 1_000_001  # nodes

    def act(self, position: Position) -> Decision:
        began = time.perf_counter()
        assert isinstance(self.agent, Mctse)
        end = began + self.agent.milliseconds / 1000
        root = np.zeros((2, self.game.num_actions))
        legal = position.legal_actions()
        if len(legal) == 1:
            return Decision(legal[0], root[VISITS], root[VALUES], 0, time.perf_counter() - began)
        state = position.view(position.to_move)
        tree = new_tree(self.CAPACITY, self.game.num_seats)
        chunk, now = 8, began
        while now < end and tree.counts[NUM_NODES] + NODES_PER_ITERATION <= self.CAPACITY:
            search(
                self.game.kernels, self.kernels.evaluator, self.kernels.settings, tree, state, position.returns,
                self.rng, chunk,
            )  # fmt: skip
            per_iteration = (time.perf_counter() - now) / chunk
            now = time.perf_counter()
            # Chunks grow to a tenth of the budget, and never past its end.
            chunk = max(1, int(min(self.agent.milliseconds / 10_000, end - now) / per_iteration))
        action = report(tree, position.to_move, self.kernels.settings, root)
        return Decision(int(action), root[VISITS], root[VALUES], int(tree.counts[DONE]), time.perf_counter() - began)


@dataclass(frozen=True)
class Mctse(SearchAgent):
    """MCTS-Expectimax with UCT or UCTN, a limit of action nodes, and any evaluator in the rollout's place.

    Source: Kutsch 2017, 5 and 7.1. Differs: no state is kept in the nodes, an iteration replays its path. The thesis
    takes 1 off the score of a rollout that ended (score_method=2), but its program, part of the public GBG framework,
    did so no more when mctse was written, and the published scores need method 1, the default here.
    """

    name: ClassVar[str] = "mctse"
    timed_player: ClassVar[type[CompiledPlayer]] = TimedMctsePlayer
    act_kernel: ClassVar[Any] = act_mctse

    iterations: int = parameter(3500, "iterations per move", low=1, high=10_000_000, log=True)
    rollout_depth: int = parameter(150, "most plies of a rollout", low=0, high=1_000_000)
    maxnodes: int = parameter(500, "most action nodes in the tree", low=1, high=10_000_000, log=True)
    tree_depth: int = parameter(10, "most action nodes on a path", low=1, high=10_000)
    selection: str = parameter("uctn", "how selection weighs means", choices=("uct", "uctn"))
    exploration: float = parameter(math.sqrt(2), "K of UCT(N); 0.0566 is best for uct", low=0, high=100)
    final: str = parameter("max", "what is played: best mean, most visits, both, best lower bound", choices=FINALS)
    security: float = parameter(1.0, "L of the secure child's lower bound", low=0, high=100)
    backup: str = parameter("mean", "a node's value: the mean or the least of its rewards", choices=("mean", "minimum"))
    score_method: int = parameter(
        1, "value of a rollout in which a one-seat game ended: 1 its score, 2 its score - 1", low=1, high=2
    )
    evaluator: Evaluator = parameter(Rollout(), "what values a new node")
    milliseconds: int = parameter(0, "time per move in place of iterations, 0 = none", low=0, high=3_600_000)

    def settings(self) -> tuple[float, ...]:
        choices = (self.selection == "uctn", FINALS.index(self.final), self.security, self.backup == "minimum")
        return (self.iterations, self.maxnodes, self.tree_depth, self.exploration, *choices)
