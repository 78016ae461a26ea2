"""Positions from Python: friendly, and nothing that is asked or played changes the position it came from."""

from __future__ import annotations

import numpy as np
import pytest

from tests.contract.tiny_games import Pennies, Pig
from turnier.core.errors import UserError
from turnier.games.abi import CHANCE, TERMINAL
from turnier.games.game import Game, Position
from turnier.games.registry import make_game
from turnier.games.setup.grids import grid_neighbours, square_symmetries


def line(game: Game, *actions: int) -> Position:
    """Returns the position after some actions from the start of seed 1."""
    position = game.start(1)
    for action in actions:
        position = position.play(action)
    return position


def test_a_game_from_start_to_end() -> None:
    position = line(make_game("tictactoe"), 0, 3, 1, 4)
    assert (position.to_move, position.over, position.legal_actions()) == (0, False, [2, 5, 6, 7, 8])
    position = position.play(2)
    assert (position.to_move, position.over, position.legal_actions()) == (TERMINAL, True, [])
    assert position.returns.tolist() == [1, -1]


def test_a_position_shows_itself() -> None:
    """In a console its board as text, in a notebook as a picture; both say whose turn it is."""
    position = line(make_game("tictactoe"), 0, 3)
    assert repr(position) == f"tictactoe: seat 0 to move, returns 0, 0\n{position}"
    assert "seat 0 to move" in position._repr_html_() and position.game.svg(position.state) in position._repr_html_()
    assert repr(line(position.game, 0, 3, 1, 4, 2)).startswith("tictactoe: over, returns 1, -1\n")
    assert repr(Pennies().start().play(0, draw_chance=False)).startswith("tests.contract.tiny_games:Pennies@")


def test_playing_leaves_the_position_as_it_was() -> None:
    before = make_game("2048").start(7)
    state, returns, text = before.state.copy(), before.returns.copy(), str(before)
    first, second = (before.play(before.legal_actions()[0]) for _ in range(2))
    assert np.array_equal(before.state, state) and np.array_equal(before.returns, returns) and str(before) == text
    assert np.array_equal(first.state, second.state)


def test_chance_comes_from_the_seed() -> None:
    game = make_game("2048")

    def text(seed: int) -> str:
        position = game.start(seed)
        while not position.over:
            position = position.play(position.legal_actions()[0])
        return f"{position}{position.returns}"

    assert text(1) == text(1)
    assert len({text(seed) for seed in range(5)}) == 5


def test_an_afterstate_has_outcomes_and_no_legal_actions() -> None:
    position = Pig().start(1)
    assert position.outcomes() == []
    after = position.play(1, draw_chance=False)
    assert (after.to_move, after.over, after.legal_actions()) == (CHANCE, False, [])
    assert after.outcomes() == [(face, pytest.approx(1 / 6)) for face in range(1, 7)]
    assert after.play(5).to_move == 0
    assert after.play(1).to_move == 1
    state = after.state.copy()
    assert after.draw_outcome() in range(1, 7)
    assert np.array_equal(after.state, state)
    assert after.after_chance() is after and after.to_move >= 0


def test_illegal_actions_are_refused_with_the_legal_ones() -> None:
    position = line(make_game("tictactoe"), *(0, 1, 2, 4, 3, 5))
    with pytest.raises(UserError) as caught:
        position.play(4)
    said = str(caught.value)
    assert said == "an action of tictactoe must be legal, got 4; legal here: 6 (a3), 7 (b3), 8 (c3)."


def test_nothing_can_be_played_when_the_game_is_over() -> None:
    with pytest.raises(UserError, match=r"got 5; legal here: none, the game is over\.$"):
        line(make_game("tictactoe"), 0, 3, 1, 4, 2).play(5)


def test_an_outcome_that_cannot_happen_is_refused() -> None:
    with pytest.raises(UserError, match="must be legal, got 0"):
        Pig().start(1).play(1, draw_chance=False).play(0)


def test_a_position_of_a_given_state_is_a_copy() -> None:
    game = make_game("tictactoe")
    state, returns = game.start().play(0).state, np.array([0.5, 0.25])
    position = game.position(state, returns, seed=3)
    assert position.to_move == 1 and position.returns.tolist() == [0.5, 0.25]
    assert not np.shares_memory(position.state, state) and not np.shares_memory(position.returns, returns)
    assert game.position(state).returns.tolist() == [0, 0]


def test_a_seat_sees_what_it_may_know() -> None:
    views = [line(Pennies(), side).view(1) for side in (0, 1)]
    assert np.array_equal(*views)
    assert Pennies().position(views[0]).to_move == 1


def test_without_hidden_information_a_view_is_a_copy_of_the_state() -> None:
    position = line(make_game("tictactoe"), 4)
    view = position.view(0)
    assert np.array_equal(view, position.state) and not np.shares_memory(view, position.state)


def test_a_game_draws_its_words_unless_it_says_otherwise() -> None:
    assert str(Pennies(rounds=3).start()) == "3 3 0 0 0"
    assert (Pennies().action_name(1), Pennies().outcome_name(2), Pennies().facts(Pennies().new_state())) == (
        "1",
        "2",
        {},
    )


def test_a_game_without_a_recorded_format_says_so() -> None:
    with pytest.raises(UserError, match="pennies has no recorded format"):
        Pennies().verify_record({})


def test_square_symmetries_and_grid_neighbours() -> None:
    table = square_symmetries(3)
    assert table.shape == (8, 9)
    assert table[1].tolist() == [2, 5, 8, 1, 4, 7, 0, 3, 6]
    assert grid_neighbours(2, 3) == ((1, 3), (0, 2, 4), (1, 5), (0, 4), (1, 3, 5), (2, 4))


def test_moves_are_read_as_engines_write_them() -> None:
    game = make_game("go(size=5)")
    position = game.start()
    assert game.move_text(position.state, 7) == "C2" and game.move_of(position.state, "c2") == 7
    after = position.play(7)
    assert game.move_of(after.state, "C2") is None  # no longer legal
    assert game.move_of(after.state, "PASS") == 25 and game.move_of(after.state, "Z9") is None
