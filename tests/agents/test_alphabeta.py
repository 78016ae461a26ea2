"""Alpha-beta equals plain-Python minimax, however it gets there; budgets, proofs and forced wins."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest

from tests import naive
from tests.agents import naive_search as oracle
from tests.agents.agent_cases import law_best_mean, law_sentence
from tests.agents.positions import marks_position
from tests.agents.test_maxn import decide, random_positions
from tests.agents.two_seat_games import Coins, Takeaway
from tests.contract.tiny_games import Fuse, Pennies, Pig, Wander
from turnier.agents.agent import Agent, Decision
from turnier.agents.alphabeta.agent import TimedAlphaBetaPlayer
from turnier.agents.registry import make_agent
from turnier.contract import agents as contract
from turnier.core.errors import UserError
from turnier.core.kernel import JIT
from turnier.games.game import Game, Position
from turnier.games.registry import make_game

PLY = 2.0**-40
GAMES: tuple[Game, ...] = (
    make_game("tictactoe"),
    make_game("connect_four"),
    Coins(),
    Coins(length=7),
    Takeaway(),
    Takeaway(heap=16),
    Pennies(),
)
needs_jit = pytest.mark.skipif(not JIT, reason="hundreds of thousands of nodes")


def minimax(position: Position, depth: int) -> float:
    """Returns half the seats' difference at the end of best play / max_return, for seat 0, PLY nearer 0 every ply."""
    if position.over or depth == 0:
        value = (position.returns[0] - position.returns[1]) / 2 / position.game.max_return
        largest = 1 if position.over else 1 - 2.0**-20
        return math.floor(min(max(value, -largest), largest) / PLY + 0.5) * PLY
    values = [minimax(position.play(action), depth - 1) for action in position.legal_actions()]
    best = max(values) if position.to_move == 0 else min(values)
    return best - math.copysign(PLY, best) if best else best


def after(position: Position, action: int, depth: int) -> float:
    """Returns what playing an action is worth to the mover, by minimax."""
    value = minimax(position.play(action), depth - 1)
    value -= math.copysign(PLY, value) if value else 0.0
    return value if position.to_move == 0 else -value


def alphabeta(depth: int, **changes: object) -> Agent:
    return make_agent("alphabeta").replace(depth=depth, **changes)


def value_of(decision: Decision) -> float:
    return float(decision.values[decision.action])


@functools.cache
def samples(game: Game) -> list[tuple[Position, int, float]]:
    """Returns positions and depths with their minimax values for the mover."""
    positions = random_positions(game, 25 if game.max_legal < 4 else 6)
    return [
        (position, depth, minimax(position, depth) * (1 if position.to_move == 0 else -1))
        for position in positions
        for depth in ((1, 2, 3, 4, 6, 7) if game.max_legal < 4 else (1, 2, 3, 4))
    ]


@pytest.mark.parametrize("game", GAMES, ids=str)
@pytest.mark.parametrize("ordering", [False, True])
@pytest.mark.parametrize("table_bits", [0, 3, 16])
def test_values_are_those_of_minimax(game: Game, ordering: bool, table_bits: int) -> None:
    """At every depth, with any table, also one that is overwritten all the time; the action is one of the best."""
    for position, depth, expected in samples(game):
        decision = decide(alphabeta(depth, ordering=ordering, table_bits=table_bits), position)
        assert value_of(decision) == expected, (position.state, depth)
        tried = np.flatnonzero(decision.visits)
        # A proof ends the search sooner: then the others' values are those of a smaller depth.
        for action in [decision.action] if abs(expected) > 0.9 else tried:
            assert decision.values[action] == after(position, int(action), depth), (position.state, depth, action)


@needs_jit
@pytest.mark.parametrize("table_bits", [0, 16])
def test_tictactoe_is_solved(table_bits: int) -> None:
    """Searched to the end, every reachable position has its minimax value, and wins are the soonest there are."""
    for marks in oracle.all_marks():
        position = marks_position(marks)
        if len(position.legal_actions()) == 1:
            continue
        sign = 1 if naive.mover(marks) == "X" else -1
        value = value_of(decide(alphabeta(9, table_bits=table_bits), position))
        assert round(value) == sign * oracle.minimax(marks), marks
        if marks.count(".") < 7:
            assert value == sign * minimax(position, 9), marks
        assert (value == 1 - PLY) == bool(oracle.winning_cells(marks, str(naive.mover(marks))))


def test_a_win_at_once_is_played_at_once() -> None:
    """Wherever the mover can win with its next stone it does, at any depth: a later win is worth less."""
    for marks in oracle.all_marks():
        wins = oracle.winning_cells(marks, str(naive.mover(marks)))
        if wins and marks.count(".") < (9 if JIT else 5):
            assert decide(alphabeta(5), marks_position(marks)).action in wins, marks


def test_a_loss_is_put_off() -> None:
    """A heap of 8 is lost. Taking one or two lets the other one finish no sooner; every loss takes four plies."""
    decision = decide(alphabeta(20), Takeaway(heap=8).start())
    assert value_of(decision) == -(1 - 4 * PLY)
    blocked = decide(alphabeta(9), marks_position("X...O...."))
    assert value_of(blocked) == 0.0
    # X threatens twice: O blocks one line although it loses all the same.
    lost = decide(alphabeta(9), marks_position("X.XO..XO."))
    assert value_of(lost) < -0.9 and lost.action in (1, 4)


Columns = tuple[str, ...]  # stones from the bottom up


def is_won(columns: Columns, rows: int, mark: str) -> bool:
    cells = {(c, r) for c, column in enumerate(columns) for r in range(len(column)) if column[r] == mark}
    steps = ((1, 0), (0, 1), (1, 1), (1, -1))
    return any(all((c + i * x, r + i * y) in cells for i in range(4)) for c, r in cells for x, y in steps)


@functools.cache
def solve(columns: Columns, rows: int) -> int:
    """Returns X's result under best play in connect four, X and O in turn."""
    stones = sum(map(len, columns))
    mark, other, sign = ("X", "O", 1) if stones % 2 == 0 else ("O", "X", -1)
    if is_won(columns, rows, other):
        return -sign
    free = [c for c, column in enumerate(columns) if len(column) < rows]
    results = [solve((*columns[:c], columns[c] + mark, *columns[c + 1 :]), rows) for c in free]
    return sign * max((sign * result for result in results), default=0)


@needs_jit
@pytest.mark.parametrize(("rows", "columns", "stones"), [(4, 4, 6), (4, 5, 11), (5, 4, 11), (4, 6, 15)])
def test_connect_four_is_solved_on_small_boards(rows: int, columns: int, stones: int) -> None:
    """Positions after random play with that many stones have the values of a plain-Python solver."""
    game = make_game(f"connect_four(rows={rows},columns={columns})")
    draws, values = np.random.default_rng(rows * columns), []
    while len(values) < 30:
        position, board = game.start(), [""] * columns
        while not position.over and sum(map(len, board)) < stones:
            action = int(draws.choice(position.legal_actions()))
            board[action] += "XO"[position.to_move]
            position = position.play(action)
        if len(position.legal_actions()) > 1:
            sign = 1 if position.to_move == 0 else -1
            values.append(sign * round(value_of(decide(alphabeta(50), position))))
            assert values[-1] == solve(tuple(board), rows), board
    assert len({*values}) > 1


@needs_jit
@pytest.mark.parametrize(("rows", "columns"), [(4, 4), (5, 4)])
def test_connect_four_is_a_draw_on_small_boards(rows: int, columns: int) -> None:
    """Source: J. Tromp, "John's Connect Four Playground", table of solved sizes."""
    start = make_game(f"connect_four(rows={rows},columns={columns})").start()
    decision = decide(alphabeta(rows * columns, table_bits=20), start)
    assert value_of(decision) == 0.0


@needs_jit
def test_ordering_and_table_save_nodes() -> None:
    """And the value stays: the full tree of 549,946 nodes, alpha-beta alone, with ordering, with the table too."""
    start = make_game("tictactoe").start()
    kinds = [{"ordering": False, "table_bits": 0}, {"table_bits": 0}, {"ordering": False}, {}]
    plain, ordered, table, both = (decide(alphabeta(9, **changes), start) for changes in kinds)
    assert [value_of(d) for d in (plain, ordered, table, both)] == [0.0] * 4
    assert 549_946 > plain.nodes > ordered.nodes > both.nodes and plain.nodes > table.nodes > both.nodes


def test_the_search_ends_with_a_proof() -> None:
    """Deeper limits cost nothing where the tree is exhausted or a win or a loss is proven."""
    start = Takeaway(heap=9).start()
    nodes = {depth: decide(alphabeta(depth), start).nodes for depth in (3, 5, 9, 50)}
    assert nodes[3] < nodes[5] == nodes[9] == nodes[50]  # the win takes five plies
    drawn = next(m for m in oracle.all_marks() if m.count(".") == 3 and oracle.minimax(m) == 0)
    assert decide(alphabeta(3), marks_position(drawn)).nodes == decide(alphabeta(255), marks_position(drawn)).nodes


@pytest.mark.parametrize("game", [make_game("tictactoe"), Coins()], ids=str)
def test_an_interrupted_search_answers_with_its_last_complete_iteration(game: Game) -> None:
    """With a budget of n nodes it plays what the deepest search that fits n nodes plays, and has searched n.

    Without a table, whose size follows the depth.
    """
    position = game.start()
    complete = [decide(alphabeta(depth, table_bits=0), position) for depth in (1, 2, 3, 4, 5)]
    assert len({decision.nodes for decision in complete}) == 5
    for budget in range(1, complete[-1].nodes, 1 if JIT else 23):
        decision = decide(alphabeta(5, table_bits=0, nodes=budget), position)
        last = [d for d in complete if d.nodes <= max(budget, complete[0].nodes)][-1]
        assert decision.action == last.action and np.array_equal(decision.values, last.values), budget
        assert decision.nodes == max(budget, complete[0].nodes)


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_a_search_in_chunks_is_the_same_search(game: Game) -> None:
    """With more time than it needs, the timed player decides as the compiled one: pausing changes nothing."""
    for position in random_positions(game, 5):
        timed, plain = (decide(alphabeta(5, milliseconds=ms), position) for ms in (600_000, 0))
        assert contract.same(timed, plain)


def test_a_timed_search_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the clock runs out the last complete iteration counts; the budget of nodes holds too."""
    ticks = itertools.count()
    monkeypatch.setattr("turnier.agents.agent.time.perf_counter", lambda: next(ticks) / 1000)
    agent, position = alphabeta(40, milliseconds=8, table_bits=0), Coins(length=40).start()
    assert agent.seat_kernels(position.game) is None
    assert isinstance(agent.start(position.game), TimedAlphaBetaPlayer)
    decision = decide(agent, position)
    fitting = [decide(alphabeta(depth, table_bits=0), position) for depth in range(1, 8)]
    last = [d for d in fitting if d.nodes <= decision.nodes][-1]
    assert 0 < decision.nodes < 2000 and decision.action == last.action and value_of(decision) == value_of(last)
    assert decide(agent.replace(milliseconds=1000, nodes=77), position).nodes == 77


def test_timed_decisions_keep_the_laws() -> None:
    game = make_game("tictactoe")
    for law in (contract.law_legal, contract.law_untouched, contract.law_arrays, law_best_mean):
        law(alphabeta(9, milliseconds=1), game)
    contract.law_forced(alphabeta(9, milliseconds=1), game)


@needs_jit
def test_rollouts_do_not_change_what_is_proven() -> None:
    agent = make_agent("alphabeta(depth=9,evaluator=rollout)")
    for marks in ["X........", "XO.......", "XOX.O....", ".X.OO.X.."]:
        sign = 1 if naive.mover(marks) == "X" else -1
        assert round(value_of(decide(agent, marks_position(marks)))) == sign * oracle.minimax(marks)


def test_rollouts_value_the_horizon_but_prove_nothing() -> None:
    """From a heap of 4 every rollout after taking three wins for the other seat; that is below a proven loss."""
    decision = decide(make_agent("alphabeta(depth=1,evaluator=rollout,nodes=9)"), Takeaway(heap=4).start())
    assert decision.values[decision.visits > 0].min() > -1 + 2.0**-21


@pytest.mark.parametrize("milliseconds", [0, 600_000])
def test_forced_wins_are_seen_at_the_root(milliseconds: int) -> None:
    """A heap of 21 is won in six own moves: seen at once with six forcing moves, not by one ply and five."""
    start = Takeaway(heap=21).start()
    for forced_depth, value, nodes in ((0, 0.0, 3), (5, 0.0, 3), (6, 1 - 11 * PLY, 1), (9, 1 - 17 * PLY, 1)):
        agent = alphabeta(1, forced_depth=forced_depth, milliseconds=milliseconds)
        decision = decide(agent, start)
        assert (decision.action, value_of(decision), decision.nodes) == (0, value, nodes)


def test_forced_wins_are_seen_at_the_horizon() -> None:
    """With five forcing moves, two plies see that taking one of 21 wins, and one ply that a heap of 20 is lost."""
    won, lost = decide(alphabeta(2, forced_depth=5), Takeaway(heap=21).start()), Takeaway(heap=20).start()
    assert won.action == 0 and value_of(won) == 1 - 11 * PLY
    assert value_of(decide(alphabeta(1, forced_depth=5), lost)) == -(1 - 10 * PLY)
    assert value_of(decide(alphabeta(1, forced_depth=4), lost)) == 0.0
    marks = marks_position("XO.......")
    assert contract.same(decide(alphabeta(4, forced_depth=5), marks), decide(alphabeta(4), marks))


@pytest.mark.parametrize(
    ("game", "sentence"),
    [
        (make_game("2048"), "two seats"),
        (Wander(), "two seats"),
        (Fuse(), "two seats"),
        (Pig(), "without chance"),
    ],
    ids=str,
)
def test_unfit_games_are_refused_in_a_sentence(game: Game, sentence: str) -> None:
    reason = alphabeta(3).cannot_play(game)
    law_sentence(reason)
    with pytest.raises(UserError, match=f"alphabeta plays games .*{sentence}"):
        alphabeta(3).start(game)
