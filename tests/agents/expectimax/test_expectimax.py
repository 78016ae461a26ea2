"""Expectimax against exact values and a plain-Python search, and the fused search of 2048 against the generic one."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests import naive
from tests.agents import naive_search as oracle
from tests.agents.expectimax.expectimax_searches import Generic, decide, expectimax, random_boards
from tests.agents.positions import DIRECTION, board_position, marks_position
from tests.contract.tiny_games import Fuse, Pig
from tests.naive import Board
from turnier.agents.evaluators.corner2048 import Corner2048
from turnier.agents.expectimax.agent import Expectimax
from turnier.agents.expectimax.schedule2048 import depth_of
from turnier.agents.expectimax.search import AFTERSTATE, LIMIT, STATE, STOPPED
from turnier.agents.registry import make_agent
from turnier.contract.evaluators import estimate
from turnier.core.errors import UserError
from turnier.core.kernel import JIT
from turnier.core.rng import stream
from turnier.games.abi import CHANCE, TERMINAL
from turnier.games.game import Game, Position
from turnier.games.registry import make_game

needs_jit = pytest.mark.skipif(not JIT, reason="thousands of evaluations")


# --- A plain-Python search through positions -------------------------------------------------------------------------


def value(
    agent: Expectimax,
    position: Position,
    depth: int,
    prob: float = 1.0,
    is_hopeless: Callable[[Position], bool] = lambda position: False,
) -> np.ndarray:
    """Returns each seat's value of a position that may have chance to move."""
    mover = position.to_move
    rare = prob < agent.cutoff
    leaf = mover == TERMINAL or (depth == 0 and (mover != CHANCE or agent.leaf == "afterstate"))
    if leaf or (rare and (mover == CHANCE) == (agent.leaf == "afterstate")) or is_hopeless(position):
        kernels = agent.evaluator.kernels(position.game, agent.rollout_depth, agent.score_method)
        return np.array(estimate(position.game, kernels, position.state, position.returns, stream(1)))
    if mover == CHANCE and agent.chance == "worst":
        outcomes = [position.play(outcome, draw_chance=False) for outcome, _ in position.outcomes()]
        return min((value(agent, after, depth, prob, is_hopeless) for after in outcomes), key=lambda found: found[0])
    if mover == CHANCE:
        return sum(  # type: ignore[return-value]
            p * value(agent, position.play(outcome, draw_chance=False), depth, prob * p, is_hopeless)
            for outcome, p in position.outcomes()
        )
    children = [
        value(agent, position.play(action, draw_chance=False), depth - 1, prob, is_hopeless)
        for action in position.legal_actions()
    ]
    return max(children, key=lambda child: float(child[mover]))


def expected_values(agent: Expectimax, position: Position) -> dict[int, float]:
    """Returns the value for the mover of every legal action."""
    return {
        action: float(value(agent, position.play(action, draw_chance=False), agent.depth - 1)[position.to_move])
        for action in position.legal_actions()
    }


def check(agent: Expectimax, position: Position) -> None:
    expected, decision = expected_values(agent, position), decide(agent, position)
    if len(expected) == 1:
        assert decision.action in expected and decision.nodes == 0
        return
    assert {a: decision.values[a] for a in expected} == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert decision.values[decision.action] == max(decision.values[a] for a in expected)


# --- Exact values ----------------------------------------------------------------------------------------------------


@needs_jit
def test_to_the_end_2x2_is_exact_value_iteration() -> None:
    """On reachable 2x2 boards, actions' values are the exact expected final scores under the best play."""
    agent = expectimax(depth=64, table=18)
    boards = sorted(board for board in oracle.reachable_boards(2) if len(naive.legal(board)) > 1)
    assert len(boards) > 100
    for board in boards[::7]:
        decision = decide(agent, board_position(board, 100.0))
        for direction, points in oracle.expectimax_actions(board).items():
            assert decision.values[DIRECTION[direction]] == pytest.approx(100 + float(points), rel=1e-12), board


@needs_jit
@pytest.mark.parametrize("table", [0, 18])
def test_to_the_end_3x3_is_exact_value_iteration(table: int) -> None:
    """The same on 3x3 boards that are nearly stuck: however they are played, they end within five plies."""
    agent, draws, checked = expectimax(depth=64, table=table), random.Random(3), 0
    while checked < 60:
        large = [2**e for e in draws.sample(range(3, 11), 7)]
        cells = draws.sample(large + [draws.choice((0, 2, 4)) for _ in range(2)], 9)
        board = tuple(tuple(cells[i : i + 3]) for i in (0, 3, 6))
        if len(naive.legal(board)) < 2 or oracle.over_within(board, 5) < 1:
            continue
        checked += 1
        exact = oracle.expectimax_actions(board)
        decision = decide(agent, board_position(board))
        for direction, points in exact.items():
            assert decision.values[DIRECTION[direction]] == pytest.approx(float(points), rel=1e-12), board


NEAR_THE_END: list[Board] = [
    ((64, 8, 32), (8, 128, 16), (2, 2, 4)),
    ((4, 2, 8), (2, 16, 4), (8, 2, 2)),
    ((16, 4, 8), (2, 32, 2), (4, 4, 64)),
]


@needs_jit
@pytest.mark.parametrize("board", NEAR_THE_END)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_3x3_boards_equal_the_plain_search(board: Board, depth: int) -> None:
    for leaf in ("afterstate", "state"):
        check(expectimax(depth=depth, leaf=leaf), board_position(board, 12.0))
        check(expectimax(depth=depth, leaf=leaf, chance="worst"), board_position(board, 12.0))


@pytest.mark.parametrize("evaluator", ["score", "rows2048", "heuristics2048(use_rollout=false)"])
def test_4x4_boards_equal_the_plain_search(evaluator: str) -> None:
    for position in random_boards(6 if JIT else 3):
        check(expectimax(evaluator, depth=1), position)
    for position in random_boards(2 if JIT else 1, seed=1):
        check(expectimax(evaluator, depth=2), position)
        check(expectimax(evaluator, depth=1, leaf="state"), position)
        check(expectimax(evaluator, depth=2, leaf="state", cutoff=0.03), position)


@needs_jit
@pytest.mark.parametrize("depth", [1, 2])
def test_the_worst_chance_is_an_opponent(depth: int) -> None:
    """With chance=worst values of 2048 are those of duel2048, where a second seat decides in between."""
    game = make_game("duel2048")
    for position in random_boards(4, fullest=13):
        alone = decide(expectimax("rows2048", depth=depth, chance="worst"), position)
        duel = game.position(position.state, np.array([position.returns[0], -position.returns[0]]))
        two = decide(expectimax("rows2048", depth=2 * depth - 1), duel)
        legal = position.legal_actions()
        assert alone.action == two.action
        assert alone.values[legal] == pytest.approx(two.values[legal], rel=1e-12)
    with pytest.raises(UserError, match="chance=worst is for games of one seat"):
        make_agent("expectimax(chance=worst)").require(game)


def test_depth_one_is_greedy() -> None:
    greedy = make_agent("greedy(evaluator=rows2048)")
    for position in random_boards(30):
        one, other = decide(expectimax("rows2048", depth=1), position), greedy.start(position.game, 0, 1).act(position)
        assert one.action == other.action
        if len(position.legal_actions()) > 1:
            assert np.array_equal(one.values, other.values) and np.array_equal(one.visits, other.visits)


@needs_jit
@pytest.mark.parametrize("game", [Pig(target=6), Pig(players=1, target=5), Fuse(length=4)], ids=str)
@pytest.mark.parametrize("changes", [{}, {"leaf": "state"}, {"cutoff": 0.05}, {"table": 0}], ids=str)
def test_every_seat_maximises_its_own(game: Game, changes: dict[str, Any]) -> None:
    """Games of one, two and three seats, with and without chance, from start to end."""
    changes = {"table": 0} | changes if "cutoff" in changes else changes
    for depth in (1, 3):
        agent = expectimax(depth=depth, **changes)
        position = game.start(depth)
        for _ in range(6):
            if position.over:
                break
            check(agent, position)
            position = position.play(position.legal_actions()[-1])


def test_tictactoe_is_minimax() -> None:
    for marks in ("XO.......", "XOX.O....", "X...O...X", "XXO.O...."):
        decision = decide(expectimax(depth=9), marks_position(marks))
        sign = 1 if naive.mover(marks) == "X" else -1
        for cell in oracle.cells(marks):
            assert decision.values[cell] == sign * oracle.minimax(naive.put(marks, cell)), (marks, cell)


# --- Table, cut-off, limits ------------------------------------------------------------------------------------------


@needs_jit
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("evaluator", ["rows2048", "rows2048(lost=0,corner=300,monotonicity_power=2.5)", "corner2048"])
def test_the_fused_search_finds_the_same_bit_for_bit(depth: int, evaluator: str) -> None:
    """Equal values and decisions with a table of any size and without; equal numbers of evaluations without."""
    positions = random_boards(60 if depth < 3 else 15, seed=depth) + random_boards(5, fullest=8, seed=9)
    for table in (0, 5, 18):
        fused, generic = (expectimax(evaluator, kind, depth=depth, table=table) for kind in (Expectimax, Generic))
        plain = expectimax(evaluator, depth=depth, table=0)
        for position in positions:
            one, other, third = decide(fused, position), decide(generic, position), decide(plain, position)
            assert one.action == other.action == third.action
            assert np.array_equal(one.values, other.values) and np.array_equal(one.values, third.values)
            assert (one.visits <= third.visits).all() and (other.visits <= third.visits).all()
            if table == 0:
                assert np.array_equal(one.visits, other.visits)


@needs_jit
def test_the_table_saves_evaluations() -> None:
    for kind in (Expectimax, Generic):
        nodes = [
            sum(decide(expectimax("rows2048", kind, depth=3, table=table), p).nodes for p in random_boards(5))
            for table in (0, 18)
        ]
        assert nodes[1] < 0.9 * nodes[0]


@needs_jit
def test_the_cut_off_is_the_same_in_both_and_bounds_the_search() -> None:
    """Without a table equal in both searches; the lower it is the more is evaluated, from depth 1 to all."""
    for position in random_boards(8, seed=4):
        nodes = []
        for cutoff in (1.0, 0.1, 0.01, 1e-9, 0.0):
            one, other = (
                decide(expectimax("rows2048", kind, depth=3, cutoff=cutoff, table=0), position)
                for kind in (Expectimax, Generic)
            )
            assert one.action == other.action and np.array_equal(one.values, other.values)
            assert np.array_equal(one.visits, other.visits)
            nodes.append(one.nodes)
        assert nodes == sorted(nodes) and nodes[-1] == nodes[-2]
        with_table = decide(expectimax("rows2048", depth=3, cutoff=0.01), position)
        assert with_table.nodes <= nodes[2]


def test_cut_off_at_once_is_depth_two() -> None:
    """Every outcome is less than certain: what would be the second decision's afterstates are the leaves."""
    for position in random_boards(3, seed=5):
        one = decide(expectimax("rows2048", depth=9, cutoff=1.0), position)
        other = decide(expectimax("rows2048", depth=2), position)
        assert np.array_equal(one.values, other.values)


@needs_jit
@pytest.mark.parametrize("hopeless", [0.5, 2.0])
def test_hopeless_boards_are_searched_no_further(hopeless: float) -> None:
    """Those with fewer points than so many times the largest tile's; none where the board has less than 0."""
    agent, plain = (expectimax(f"corner2048(hopeless={h})", depth=3, cutoff=0.05, table=0) for h in (hopeless, 0))
    assert isinstance(agent.evaluator, Corner2048)
    stopped, negative = 0, 0
    for position in random_boards(5, seed=8) + [falling(each) for each in random_boards(6, top=9, seed=9)]:
        rank = int(position.game.facts(position.state)["max_tile"]).bit_length() - 1
        nothing, most = 8 * agent.evaluator.lost, position.game.max_return
        floor = (nothing + hopeless * (rank << rank)) / most
        below_nothing = points(agent, position) < nothing / most

        def is_hopeless(after: Position, floor: float = -1.0 if below_nothing else floor) -> bool:
            return after.to_move == CHANCE and points(agent, after) < floor

        decision = decide(agent, position)
        for action in position.legal_actions():
            after = position.play(action, draw_chance=False)
            expected = value(agent, after, 2, is_hopeless=is_hopeless)[0]
            assert len(position.legal_actions()) == 1 or decision.values[action] == pytest.approx(expected, rel=1e-12)
        stopped += decision.nodes < decide(plain, position).nodes
        negative += below_nothing
    assert stopped > 2 and negative > 2


def falling(position: Position) -> Position:
    """Returns a board of the same tiles that fall from the top left corner."""
    tiles = sorted((2 ** int(rank) if rank else 0 for rank in position.game.cell_values(position.state)), reverse=True)
    return board_position((tuple(tiles[:4]), tuple(tiles[4:8]), tuple(tiles[8:12]), tuple(tiles[12:])))


def points(agent: Expectimax, position: Position) -> float:
    kernels = agent.evaluator.kernels(position.game, agent.rollout_depth, agent.score_method)
    return float(estimate(position.game, kernels, position.state, position.returns, stream(1))[0])


@needs_jit
def test_tiles_beyond_the_row_tables_are_searched_generically() -> None:
    """Where 32,768s could merge the fused search hands over: 65,536 counts as a tile, not as an empty cell."""
    boards: list[Board] = [
        ((32768, 32768, 4, 2), (16, 8, 4, 2), (2, 4, 8, 16), (2, 4, 2, 0)),
        ((65536, 16, 4, 2), (16, 8, 4, 2), (2, 4, 8, 16), (2, 4, 2, 0)),
        ((32768, 16384, 8192, 4096), (256, 512, 1024, 2048), (128, 64, 32, 16), (0, 4, 8, 8)),
    ]
    for board in boards:
        for depth in (1, 2, 3):
            one, other = (
                decide(expectimax("rows2048", kind, depth=depth), board_position(board))
                for kind in (Expectimax, Generic)
            )
            assert one.action == other.action and np.array_equal(one.values, other.values)
        check(expectimax("rows2048", depth=2), board_position(board))


@needs_jit
@pytest.mark.parametrize("kind", [Expectimax, Generic])
def test_a_search_over_its_limit_stops(kind: type[Expectimax]) -> None:
    position = random_boards(1)[0]
    agent = expectimax("rows2048", kind, depth=3, table=0)
    kernels, root = agent.kernels(position.game), np.zeros((2, 4))
    nodes = decide(agent, position).nodes
    for limit, stops in ((nodes, False), (nodes - 1, True), (1, True)):
        settings = kernels.settings.copy()
        settings[LIMIT] = limit
        action = kernels.act(
            position.game.kernels, kernels.evaluator, settings, position.state, position.returns, stream(1), root
        )
        assert (action == STOPPED) == stops, limit


@needs_jit
def test_deepening_ends_with_the_value_of_a_completed_depth() -> None:
    position = random_boards(1, seed=2)[0]
    timed = decide(expectimax("rows2048", milliseconds=30), position)
    depths = [decide(expectimax("rows2048", depth=depth), position).values for depth in range(1, 6)]
    assert any(np.array_equal(timed.values, values) for values in depths)
    assert not np.array_equal(timed.values, depths[0])
    assert timed.nodes >= timed.visits.sum()


# --- Schedules -------------------------------------------------------------------------------------------------------


def scheduled(schedule: str, board: Board, moves: int | None = None, **changes: Any) -> tuple[int, int]:
    """Returns depth and leaf on a board whose score implies that number of moves."""
    potential, tiles = naive.potential(board), naive.tile_sum(board)
    fours = tiles // 2 - 2 - moves if moves is not None else 0
    position = board_position(board, float(potential - 4 * fours))
    settings = np.array(expectimax(schedule=schedule, depth=3, **changes).settings(), np.float64)
    depth, leaf_ = depth_of(position.game.kernels, settings, position.state, position.returns)
    return int(depth), int(leaf_)


FULL_BOARD: Board = ((2, 4, 8, 16), (4, 8, 16, 32), (2, 4, 8, 16), (4, 8, 16, 16))
SIX_EMPTY: Board = ((2, 4, 8, 16), (4, 8, 0, 0), (2, 0, 0, 16), (0, 0, 16, 16))


@pytest.mark.parametrize(
    ("board", "moves", "depth"),
    [(SIX_EMPTY, m, d) for m, d in ((0, 2), (299, 2), (300, 3), (699, 3), (700, 4), (4499, 4), (4500, 5))]
    + [(FULL_BOARD, m, d) for m, d in ((10, 7), (4499, 7), (4500, 8))],
)
def test_the_schedule_by_empty_cells(board: Board, moves: int, depth: int) -> None:
    assert scheduled("empty", board, moves) == (depth, AFTERSTATE)
    assert scheduled("empty", board, moves, leaf="state") == (depth, STATE)
    assert scheduled("empty_plies", board, moves) == (1 + depth // 2, STATE if depth % 2 else AFTERSTATE)


@needs_jit
def test_moves_are_found_from_board_and_score() -> None:
    """Fours cost a move's tile, not a merge: the schedule counts what was really played."""
    game = make_game("2048")
    player = expectimax("rows2048", depth=2).start(game)
    position, moves = game.start(4), 0
    agent = expectimax(schedule="empty")
    settings = np.array(agent.settings(), np.float64)
    seen = set()
    while not position.over and moves < 720:
        depth, _ = depth_of(game.kernels, settings, position.state, position.returns)
        empty = int((game.cell_values(position.state) == 0).sum())
        least = 2 if moves < 300 else 3 if moves < 700 else 4
        assert depth == max(7 - empty, least)
        seen.add((least, depth))
        position = position.play(player.act(position).action)
        moves += 1
    assert {least for least, _ in seen} == {2, 3, 4}


def test_the_schedule_by_distinct_tiles() -> None:
    assert scheduled("distinct", FULL_BOARD) == (4, AFTERSTATE)
    many: Board = ((2, 4, 8, 16), (512, 256, 64, 32), (1024, 0, 0, 0), (0, 0, 0, 0))
    assert scheduled("distinct", many) == (8, AFTERSTATE)
    assert scheduled("fixed", many) == (3, AFTERSTATE)
    assert scheduled("distinct", many, deepest=5) == (5, AFTERSTATE)


def test_schedules_are_for_2048_only() -> None:
    for schedule in ("empty", "empty_plies", "distinct"):
        reason = expectimax(schedule=schedule).cannot_play(make_game("tictactoe"))
        assert reason is not None and schedule in reason and "tictactoe" in reason
        assert expectimax(schedule=schedule).cannot_play(make_game("2048(size=3)")) is None
    assert expectimax().cannot_play(make_game("tictactoe")) is None
