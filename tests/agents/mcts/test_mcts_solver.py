"""What MCTS proves against full searches, forced wins that a game finds, and trees kept from move to move."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from tests import naive
from tests.agents import naive_search as oracle
from tests.agents.mcts import naive_mcts
from tests.agents.mcts.test_mcts import CAPACITY, grow, mcts, plain_shape, shape, tried
from tests.agents.positions import board_position, marks_position
from tests.agents.two_seat_games import Coins
from tests.contract.tiny_games import Fuse, Pennies
from turnier.agents.agent import CompiledPlayer, Decision, seat_rng
from turnier.agents.mcts.agent import MctsPlayer
from turnier.agents.mcts.search import search
from turnier.agents.mcts.tree import (
    ACTION,
    COUNT,
    DRAWN,
    MAX_NODES,
    NONE,
    OPEN,
    PROVEN,
    STATUS,
    clear_tree,
    copy_subtree,
    enter,
    find_position,
    new_tree,
)
from turnier.agents.registry import make_agent
from turnier.arena.match import MatchSpec, Termination
from turnier.arena.play import play_matches
from turnier.contract.evaluators import estimate
from turnier.core.kernel import JIT, kernel
from turnier.core.rng import stream
from turnier.games import abi
from turnier.games.abi import NO_WIN, TERMINAL
from turnier.games.game import Game, Position
from turnier.games.registry import make_game
from turnier.games.tictactoe import TicTacToe

needs_jit = pytest.mark.skipif(not JIT, reason="many searches; test_mcts.py runs small ones in plain Python")

# --- Proofs -----------------------------------------------------------------------------------------------------------


def check_proofs(tree: Any, node: int, position: Position, exact: Any) -> int:
    """Every proven node has one of the exact values of its position; returns how many there are."""
    found = 0
    if tree.nodes[node, STATUS] == PROVEN:
        assert tuple(tree.proofs[node]) in exact(position)
        found += 1
    for child in tried(tree, node):
        found += check_proofs(tree, child, position.play(int(tree.nodes[child, ACTION])), exact)
    return found


def marks_of(position: Position) -> str:
    return "".join(".XO"[value] for value in position.game.cell_values(position.state))


def tictactoe_values(position: Position) -> set[tuple[float, ...]]:
    value = float(oracle.minimax(marks_of(position)))
    return {(value, -value)}


@needs_jit
def test_tictactoe_is_solved_exactly_where_at_most_six_cells_are_empty() -> None:
    """The root is proven with its minimax value, a best action is played, and no proof in any tree is wrong."""
    positions = [marks for marks in oracle.all_marks() if len(oracle.cells(marks)) <= 6]
    assert len(positions) > 600
    agent, proofs = mcts(iterations=20_000, solver=True, tree_depth=9), 0
    for marks in positions:
        position = marks_position(marks)
        tree = grow(agent, position, agent.iterations)
        assert tree.nodes[0, STATUS] == PROVEN and tree.nodes[0, COUNT] < agent.iterations
        proofs += check_proofs(tree, 0, position, tictactoe_values)
        if len(oracle.cells(marks)) > 1:
            action = agent.start(position.game, position.to_move, 1).act(position).action
            assert oracle.minimax(naive.put(marks, action)) == oracle.minimax(marks)
    assert proofs > 5000


@needs_jit
def test_an_opening_of_tictactoe_is_proven_a_draw() -> None:
    """Seven empty cells, and only one seat can lose."""
    position = marks_position("X...O....")
    tree = grow(mcts(solver=True), position, 200_000, capacity=1_000_000)
    assert tree.nodes[0, STATUS] == PROVEN and tree.proofs[0].tolist() == [0.0, 0.0]
    assert check_proofs(tree, 0, position, tictactoe_values) > 500


@functools.cache
def _maxn(game: Game, words: tuple[int, ...], returns: tuple[float, ...]) -> frozenset[tuple[float, ...]]:
    position = game.position(np.array(words), np.array(returns))
    if position.over:
        return frozenset({tuple(float(r) / game.max_return for r in returns)})
    after = [position.play(action) for action in position.legal_actions()]
    options = [_maxn(game, tuple(map(int, p.state)), tuple(map(float, p.returns))) for p in after]
    mover = position.to_move
    # Among several best children the mover may take any, so a value is possible if no action is always better.
    sure = max(min(value[mover] for value in values) for values in options)
    return frozenset(value for values in options for value in values if value[mover] >= sure)


def maxn_values(position: Position) -> frozenset[tuple[float, ...]]:
    """Returns every vector that play can end with where each seat maximises its own return, however it breaks ties."""
    return _maxn(position.game, tuple(map(int, position.state)), tuple(map(float, position.returns)))


@pytest.mark.parametrize("length", [1, 2, 3])
def test_three_seats_are_solved(length: int) -> None:
    """Fuse: the proof of every position is a value of full Max-N search."""
    position = Fuse(length=length).start()
    tree = grow(mcts(solver=True, tree_depth=50), position, 3000)
    assert tree.nodes[0, STATUS] == PROVEN and tree.nodes[0, COUNT] < 3000
    assert check_proofs(tree, 0, position, maxn_values) >= length


@pytest.mark.parametrize("agent", ["mcts", "puct"])
def test_a_solver_needs_values_of_which_1_is_the_best(agent: str) -> None:
    """Two points of a hundred would be a proven win by their score."""
    for game, evaluator, fits in ((Coins(), "score", False), (Coins(), "rollout", True), (TicTacToe(), "score", True)):
        for solver in ("true", "false"):
            reason = make_agent(f"{agent}(evaluator={evaluator},solver={solver})").cannot_play(game)
            assert (reason is None) == (fits or solver == "false")
            assert reason is None or "needs values whose best is 1, got evaluator=score" in reason


def test_without_the_solver_nothing_is_proven() -> None:
    tree = grow(mcts(), marks_position("XO.OX...."), 500)
    assert tree.nodes[0, COUNT] == 500
    assert check_proofs(tree, 0, marks_position("XO.OX...."), tictactoe_values) == 0


# --- Forced wins ------------------------------------------------------------------------------------------------------

# Subtraction: from LEFT sticks one to three are taken in turn, who takes the last one wins. Multiples of four are lost.
LEFT, MOVER = 0, 1


@kernel(abi.INIT)
def sticks_init(state, rng):
    state[LEFT], state[MOVER] = 21, 0


@kernel(abi.TO_MOVE)
def sticks_to_move(state):
    return TERMINAL if state[LEFT] == 0 else state[MOVER]


@kernel(abi.LEGAL)
def sticks_legal(state, out):
    n = min(3, state[LEFT])
    for i in range(n):
        out[i] = i
    return n


@kernel(abi.STEP)
def sticks_step(state, action, rewards):
    state[LEFT] -= action + 1
    if state[LEFT] == 0:
        rewards[state[MOVER]] += 1.0
        rewards[1 - state[MOVER]] -= 1.0
    state[MOVER] = 1 - state[MOVER]


@kernel(abi.FORCED_WIN)
def sticks_forced_win(state, depth):
    """Wins with at most `depth` moves of the winner."""
    if state[LEFT] % 4 != 0 and state[LEFT] <= 4 * depth:
        return state[LEFT] % 4 - 1
    return NO_WIN


@dataclass(frozen=True)
class Sticks(Game):
    """Who takes the last of 21 sticks wins."""

    name: ClassVar[str] = "sticks"
    num_seats: ClassVar[int] = 2
    num_actions: ClassVar[int] = 3
    max_legal: ClassVar[int] = 3
    state_words: ClassVar[int] = 2

    def build_kernels(self) -> abi.GameKernels:
        return abi.game_kernels(sticks_init, sticks_to_move, sticks_legal, sticks_step, forced_win=sticks_forced_win)


STICKS = Sticks()


def sticks(left: int) -> Position:
    return STICKS.position(np.array([left, 0]))


def test_a_forced_win_at_the_root_is_played_at_once() -> None:
    for left in range(2, 22):
        decision = mcts(iterations=50, forced_depth=2).start(STICKS).act(sticks(left))
        if left % 4 and left <= 8:
            assert (decision.action, decision.nodes) == (left % 4 - 1, 1)
            assert decision.visits[decision.action] == decision.values[decision.action] == 1
        else:
            assert decision.nodes == 50
    assert mcts(iterations=50).start(STICKS).act(sticks(3)).nodes == 50


@pytest.mark.parametrize("solver", [False, True])
@pytest.mark.parametrize("left", [8, 9, 13])
def test_nodes_from_which_the_mover_wins_by_force_are_proven(left: int, solver: bool) -> None:
    """They have no children and no rollouts; the tree equals the plain oracle's; with the solver proofs rise."""
    agent, position = mcts(forced_depth=2, solver=solver, rollout_depth=4), sticks(left)
    evaluator, rng = agent.kernels(STICKS).evaluator, seat_rng(3, 0, 2)
    root = naive_mcts.mcts(
        agent, 60, position, rng, lambda s, r: [float(v) for v in estimate(STICKS, evaluator, s, r, rng)]
    )
    tree = grow(agent, position, 60, rng=seat_rng(3, 0, 2))
    assert shape(tree) == plain_shape(root)

    def exact(at: Position) -> set[tuple[float, ...]]:
        sign = 1.0 if (at.state[LEFT] % 4 != 0) == (at.state[MOVER] == 0) else -1.0
        return {(sign, -sign)}

    assert check_proofs(tree, 0, position, exact) > 0
    if left == 8:
        assert (tree.nodes[0, STATUS] == PROVEN) == solver
        assert not any(tried(tree, child) for child in tried(tree, 0))
    if left == 9 and solver:
        assert tree.proofs[0].tolist() == [1.0, -1.0] and root.visits < 60


# --- Trees kept from move to move -------------------------------------------------------------------------------------


def as_reused(agent: Any, game: Game, seat: int, seed: int) -> MctsPlayer:
    player = agent.replace(reuse=True).start(game, seat, seed)
    assert isinstance(player, MctsPlayer) and agent.replace(reuse=True).seat_kernels(game) is None
    return player


def same(one: Decision, other: Decision) -> bool:
    return one.action == other.action and np.array_equal(one.visits, other.visits) and np.array_equal(
        one.values, other.values
    )  # fmt: skip


@pytest.mark.parametrize(
    "position", [marks_position("........."), Fuse().start(), Pennies().start(), sticks(21)], ids=str
)
def test_the_subtree_of_the_new_position_is_kept(position: Position) -> None:
    """The first decision is that of a new tree; later ones start with the visits of the position's old node."""
    game, agent, kept = position.game, mcts(iterations=300), 0
    player = as_reused(agent, game, 0, 7)
    assert same(player.act(position), agent.start(game, 0, 7).act(position))
    decision = player.act(position)  # the same position again is not below itself
    assert decision.nodes == 300
    while True:
        old = player.tree
        position = position.play(decision.action)
        path = [int(player.last[2])] if player.last else []
        while not position.over and position.to_move != 0:
            action = position.legal_actions()[-1]
            position = position.play(action)
            path += [c for c in tried(old, path[-1]) if old.nodes[c, ACTION] == action][:1] if path else []
        if position.over or len(position.legal_actions()) == 1:
            break
        carried = int(old.nodes[path[-1], COUNT])
        decision = player.act(position)
        # In the other games another way to the same position may have more visits.
        count = int(player.tree.nodes[0, COUNT])
        assert count == carried + 300 if game.name == "tictactoe" else count >= carried + 300
        assert decision.nodes == 300 and decision.visits.sum() == count - 1  # all but the one that made the node
        kept += 1
    assert kept > 0


def test_a_position_that_the_tree_does_not_hold_gets_a_new_tree() -> None:
    """Decisions are then those of an agent without memory whose stream of random numbers is as far."""
    game = make_game("tictactoe")
    agent = mcts(iterations=200)
    remembering, forgetting = as_reused(agent, game, 0, 3), agent.start(game, 0, 3)
    assert isinstance(forgetting, CompiledPlayer)
    for marks in (".........", "XO.OX....", "X.O......", "....XO..."):
        assert same(remembering.act(marks_position(marks)), forgetting.act(marks_position(marks)))
        assert (remembering.rng == forgetting.rng).all()


@pytest.mark.parametrize("solver", [False, True])
def test_a_copied_subtree_is_the_subtree(solver: bool) -> None:
    """Every node below keeps its numbers; a search continues from it, and nodes no longer reachable are gone."""
    for position in (marks_position("X........"), board_position(((2, 4, 2), (8, 2, 0), (0, 0, 2)))):
        tree = grow(mcts(rollout_depth=9, solver=solver), position, 900)
        target = new_tree(CAPACITY, position.game.num_seats)
        for child in tried(tree, 0):
            copy_subtree(tree, child, target)
            one, other = shape(tree, child), shape(target)
            assert one[0:2] == other[0:2] and one[4] == other[4] and target.size[0] < tree.size[0]
            if tree.nodes[child, STATUS] == DRAWN:
                assert target.nodes[0, STATUS] == OPEN
        seeds = {int(tree.seeds[c]) for c in tried(tree, tried(tree, 0)[-1]) if tree.nodes[c, STATUS] == DRAWN}
        assert seeds == {int(target.seeds[c]) for c in tried(target, 0) if target.nodes[c, STATUS] == DRAWN}
        clear_tree(target)
        assert target.size[0] == 1 and not tried(target, 0)


def test_positions_are_found_by_state_and_returns_below_the_action_played() -> None:
    position = board_position(((2, 4, 2), (8, 2, 0), (0, 0, 2)), score=8.0)
    game, k = position.game, position.game.kernels
    tree = grow(mcts(rollout_depth=5), position, 400)
    found = 0
    for child in tried(tree, 0):
        for grandchild in tried(tree, child):
            state, returns = position.state.copy(), position.returns.copy()
            scratch = np.zeros(4, np.uint64), np.zeros(k.max_choices, np.int64), np.zeros(k.max_choices)
            for node in (child, grandchild):
                enter(k, tree.nodes, tree.seeds, node, state, returns, stream(0), *scratch)

            def look(below: int, returns: Any, plies: int, state: Any = state) -> int:
                return int(find_position(k, tree, position.state, position.returns, below, state, returns, plies))

            assert look(child, returns, 2) == look(child, returns, 3) == grandchild
            assert look(child, returns, 1) == look(child, returns + 1, 3) == NONE
            others = [c for c in tried(tree, 0) if c != child]
            assert all(look(other, returns, 2) != grandchild for other in others)
            found += 1
    assert found > 4 and game.name == "2048"


def test_a_kept_proof_without_children_still_gives_an_action() -> None:
    """A node proven by a forced win is no root to choose from: the forced win is asked for again and played."""
    agent = mcts(iterations=100, forced_depth=2, solver=True)
    player = as_reused(agent, STICKS, 0, 1)
    first = player.act(sticks(12))  # lost, so nothing is played at once
    after = sticks(12).play(first.action).play(0)
    decision = player.act(after)
    assert decision.action in after.legal_actions() and decision.nodes >= 1


@pytest.mark.parametrize("agent", ["mcts(iterations=60,reuse=true)", "mcts(milliseconds=2,reuse=true)"])
@pytest.mark.parametrize("game", ["tictactoe", "2048(size=2)", "2048(size=3)"])
def test_whole_matches_with_a_kept_tree(agent: str, game: str) -> None:
    seats = (make_agent(agent).full_text(),) * make_game(game).num_seats
    for record in play_matches([MatchSpec(game, seats, seed, 30 if JIT else 6) for seed in range(2)]):
        assert record.termination in (Termination.NORMAL, Termination.LIMIT), record.error


def test_a_timed_search_stops_when_all_is_proven() -> None:
    """An hour for a position of two empty cells: the proof ends the search."""
    decision = mcts(milliseconds=3_600_000, solver=True).start(make_game("tictactoe"), 1, 1).act(
        marks_position("XOXXO.O.X")
    )  # fmt: skip
    assert decision.action == 7 and decision.values[7] == 1.0


def test_a_timed_search_keeps_to_the_largest_tree() -> None:
    """The players' trees hold MAX_NODES; a search on a full one continues."""
    position = marks_position(".........")
    player = mcts(milliseconds=1).start(position.game, 0, 1)
    assert isinstance(player, MctsPlayer) and player.tree.stats.shape[0] == MAX_NODES
    small = new_tree(40, 2)
    kernels = mcts().kernels(position.game)
    work = (position.game.kernels, kernels.evaluator, kernels.settings, small, position.state, position.returns)
    search(*work, stream(1), 500)
    assert small.nodes[0, COUNT] == 500 and small.size[0] <= 40
