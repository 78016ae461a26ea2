"""Judges: our solver against minimax in plain Python and the theory of nim, bitbully against our solver, refusals."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from tests.agents import naive_search as oracle
from tests.agents.positions import marks_position
from turnier.agents.perfect.judge import Solver, cannot_judge, judge_of
from turnier.core.errors import UserError
from turnier.core.kernel import JIT
from turnier.games.game import Game, Position
from turnier.games.registry import make_game

HAS_BITBULLY = importlib.util.find_spec("bitbully") is not None
needs_bitbully = pytest.mark.skipif(not HAS_BITBULLY, reason="bitbully is not installed")
few = pytest.mark.skipif(not JIT, reason="thousands of searches")
SOLVED = (
    "tictactoe",
    "hex(size=3)",
    "hex(size=3,swap=true)",
    "nim(piles=2;3;4)",
    "nim(piles=2;3;4,misere=true)",
    "connect_four(rows=3,columns=4)",
)


def minimax(position: Position, known: dict[tuple[int, ...], int]) -> int:
    """Returns seat 0's value by trying everything; games are told apart by what lies in the cells and who moves."""
    if position.over:
        return int(np.sign(position.returns[0] - position.returns[1]))
    key = (position.to_move, *position.game.cell_values(position.state).tolist())
    if key not in known:
        values = [minimax(position.stepped(action), known) for action in position.legal_actions()]
        known[key] = max(values) if position.to_move == 0 else min(values)
    return known[key]


def naive_values(position: Position, known: dict[tuple[int, ...], int]) -> dict[int, int]:
    sign = 1 if position.to_move == 0 else -1
    return {action: sign * minimax(position.stepped(action), known) for action in position.legal_actions()}


def random_positions(game: Game, count: int, least: int = 0, most: int = 1000) -> list[Position]:
    """Returns positions of random games that have from `least` to `most` empty cells."""
    found: list[Position] = []
    random = np.random.default_rng(5)
    while len(found) < count:
        line = [game.start()]
        while not line[-1].over:
            line.append(line[-1].stepped(int(random.choice(line[-1].legal_actions()))))
        fit = [position for position in line[:-1] if least <= game.phase(position.state) <= most]
        found += [fit[random.integers(len(fit))]] if fit else []
    return found


@few
@pytest.mark.parametrize("text", SOLVED)
def test_the_solver_says_what_minimax_says(text: str) -> None:
    """From the start on, in any order, with what its table has kept of other positions."""
    game = make_game(text)
    known: dict[tuple[int, ...], int] = {}
    positions = [game.start(), *random_positions(game, 120)]
    expected = [naive_values(position, known) for position in positions]
    assert {-1, 1} < {value for values in expected for value in values.values()} or text.startswith(("hex", "nim"))
    assert any(len(set(values.values())) > 1 for values in expected)
    one, other = Solver(game), Solver(game)
    assert [one.values(position) for position in positions] == expected
    assert [other.values(position) for position in positions[::-1]] == expected[::-1]


@few
def test_every_position_of_tictactoe_has_its_value() -> None:
    judge = judge_of(make_game("tictactoe"))
    for marks in oracle.all_marks():
        position = marks_position(marks)
        assert max(judge.values(position).values()) == oracle.minimax(marks) * (1 if position.to_move == 0 else -1)


def test_nim_is_won_by_leaving_piles_whose_xor_is_0() -> None:
    game = make_game("nim(piles=3;4;5)")
    judge = judge_of(game)
    for position in [game.start(), *random_positions(game, 30)]:
        for action, value in judge.values(position).items():
            left = np.bitwise_xor.reduce(game.cell_values(position.stepped(action).state))
            assert value == (1 if left == 0 else -1), position


@needs_bitbully
def test_the_first_player_wins_connect_four_by_the_middle_column_alone() -> None:
    """Known since Allis 1988: beside it a draw, further out a loss."""
    values = judge_of(make_game("connect_four")).values(make_game("connect_four").start())
    assert values == {0: -1, 1: -1, 2: 0, 3: 1, 4: 0, 5: -1, 6: -1}


@few
@needs_bitbully
def test_bitbully_and_the_solver_agree_late_in_connect_four() -> None:
    """Both seats, wins in one, full columns and the last cell included; the solver shares no code with bitbully."""
    game = make_game("connect_four")
    judge, solver = judge_of(game), Solver(game)
    positions = random_positions(game, 60, 1, 14) + random_positions(game, 5, 1, 1)
    found = [judge.values(position) for position in positions]
    assert {value for values in found for value in values.values()} == {-1, 0, 1}
    assert {position.to_move for position in positions} == {0, 1}
    assert found == [solver.values(position) for position in positions]


@needs_bitbully
def test_bitbully_sees_the_board_that_is_there() -> None:
    """Not its mirror image, nor with the seats or rows exchanged: three in a corner, of either seat."""
    game = make_game("connect_four")
    for moves, win in (("a g a g a f", 0), ("g a g a f a g", 0), ("b a c a d g", 4)):
        position = game.position_of(f"moves {moves}")
        values = judge_of(game).values(position)
        assert values[win] == 1 and position.stepped(win).over, moves


def test_games_without_a_judge_are_refused_in_a_sentence() -> None:
    refused = {
        "2048": "two seats",
        "yavalath(players=3)": "two seats",
        "spe_ed": "hides",
        "chess": "in Python",
        "hex(size=5)": "too many boards",
        "connect_four(rows=5)": "too many boards",
    }
    for text, part in refused.items():
        reason = cannot_judge(make_game(text))
        assert reason is not None and part in reason and text in reason and reason.endswith(".")
        with pytest.raises(UserError, match=part):
            judge_of(make_game(text))
    assert cannot_judge(make_game("hex(size=4)")) is None and cannot_judge(make_game("othello(size=4)")) is None


def test_a_search_that_takes_too_long_is_refused() -> None:
    game = make_game("hex(size=3)")
    with pytest.raises(UserError, match="more than 100 positions"):
        Solver(game, max_nodes=100).values(game.start())


def test_a_missing_bitbully_is_named_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    game = make_game("connect_four")
    assert "pip install 'turnier[judges]'" in str(cannot_judge(game))
    assert cannot_judge(make_game("connect_four(rows=4,columns=4)")) is None
