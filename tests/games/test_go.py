"""Go against an oracle in plain Python, and positions whose rules are known."""

from __future__ import annotations

import random

import numpy as np
import pytest

from turnier.core.errors import UserError
from turnier.core.kernel import JIT
from turnier.games.game import Position
from turnier.games.go.board import PLIES
from turnier.games.go.game import Go

Board = tuple[int, ...]  # 0 empty, 1 black, 2 white
PASS = "pass"


def around(size: int, cell: int) -> list[int]:
    row, column = divmod(cell, size)
    steps = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
    return [r * size + c for r, c in steps if 0 <= r < size and 0 <= c < size]


def region(board: Board, size: int, cell: int) -> tuple[set[int], set[int]]:
    """Returns the cells of one value that hang together with a cell, and the values beside them."""
    found, values, new = {cell}, set(), [cell]
    while new:
        for other in around(size, new.pop()):
            values.add(board[other])
            if board[other] == board[cell] and other not in found:
                found.add(other)
                new.append(other)
    return found, values - {board[cell]}


def placed(board: Board, size: int, cell: int, own: int) -> Board:
    """Returns the board after a stone, which may then have no liberty."""
    after = [*board[:cell], own, *board[cell + 1 :]]
    for other in around(size, cell):
        if after[other] == 3 - own:
            chain, values = region(tuple(after), size, other)
            if 0 not in values:
                for stone in chain:
                    after[stone] = 0
    return tuple(after)


def legal(history: list[Board], size: int, own: int, superko: bool) -> list[int]:
    found = []
    forbidden = set(history[:-1] if superko else history[-2:-1])
    for cell in range(size * size):
        if history[-1][cell] == 0:
            after = placed(history[-1], size, cell, own)
            if 0 in region(after, size, cell)[1] and after not in forbidden:
                found.append(cell)
    return [*found, size * size]


def lead(board: Board, size: int) -> int:
    total = 0
    for cell, value in enumerate(board):
        owners = {value} if value else region(board, size, cell)[1]
        total += (owners == {1}) - (owners == {2})
    return total


@pytest.mark.parametrize("game", [Go(5), Go(5, superko=False), Go(6, komi=0), Go(9)], ids=str)
def test_random_games_agree_with_the_oracle(game: Go) -> None:
    size, repeated, seen = game.size, 0, set()
    for seed in range((15 if size < 9 else 2) if JIT else 2):
        choose, position = random.Random(seed), game.start()
        history: list[Board] = [(0,) * size**2]
        passes = 0
        while passes < 2 and len(history) <= 3 * size**2:
            own = 1 + (len(history) - 1) % 2
            possible = legal(history, size, own, game.superko)
            repeated += len(possible) < len(legal(history[-1:], size, own, game.superko))
            assert not position.over and position.to_move == own - 1
            assert position.legal_actions() == possible
            # Few passes make games long, so that positions could come back.
            action = choose.choice(possible[:-1] or possible) if choose.random() < 0.97 else size**2
            passes = passes + 1 if action == size**2 else 0
            history.append(history[-1] if action == size**2 else placed(history[-1], size, action, own))
            position = position.play(action)
            assert tuple(game.cell_values(position.state).tolist()) == history[-1]
        won = float(np.sign(lead(history[-1], size) - game.komi))
        assert position.over and position.returns.tolist() == [won, -won]
        assert game.lead(position.state) == lead(history[-1], size) - game.komi
        seen.add(won)
    assert not JIT or size == 9 or (repeated and len(seen) > 1)


def play(position: Position, moves: str) -> Position:
    """Plays moves by their names, seats in turn."""
    for name in moves.split():
        numbers = {position.game.action_name(action): action for action in position.legal_actions()}
        position = position.play(numbers[name])
    return position


def names(position: Position) -> set[str]:
    return {position.game.action_name(action) for action in position.legal_actions()}


def test_a_surrounded_chain_is_captured() -> None:
    position = play(Go(5).start(), "B2 A2 C3 A1 A3 E5 B1")
    assert str(position) == "\n".join(
        [" 5 . . . . O", " 4 . . . . .", " 3 X . X . .", " 2 . X . . .", " 1 . X . . .", "   A B C D E"]
    )
    # Both cells are one liberty each for a white stone now, so neither is suicide.
    assert {"A1", "A2"} <= names(position)


def test_suicide_is_not_allowed_unless_it_captures() -> None:
    position = play(Go(5).start(), "A2 E5 B1 E4 D4")
    assert "A1" not in names(position)
    position = play(Go(5).start(), "A2 A3 B1 B2 E5 C1 E4")  # now a white stone at A1 captures both
    assert "A1" in names(position)
    after = play(position, "A1")
    assert str(after).splitlines()[3:5] == [" 2 . O . . .", " 1 O . O . ."]


KO = "B3 C3 A2 D2 B1 C1 C2 B2"  # white has just taken the stone at C2


@pytest.mark.parametrize("superko", [True, False])
def test_a_ko_waits_for_a_move_elsewhere(superko: bool) -> None:
    position = play(Go(5, superko=superko).start(), KO)
    assert "C2" not in names(position)
    assert "C2" in names(play(position, "E5 E4"))


def test_superko_alone_forbids_a_longer_circle() -> None:
    """White sends two stones, black takes both, white takes the one: all is as before they were sent."""
    for superko in (True, False):
        position = play(Go(5, superko=superko).start(), "A2 B1 B2 C2 E5 D1 pass A1 C1")
        assert str(position).splitlines()[-2] == " 1 . . X O ."
        assert ("B1" in names(position)) is not superko


def test_two_passes_end_the_game_and_komi_decides() -> None:
    empty = play(Go(5).start(), "pass pass")
    assert empty.over and empty.returns.tolist() == [-1, 1] and Go(5).lead(empty.state) == -7.5
    assert play(Go(5).start(), "C3 pass pass").returns.tolist() == [1, -1]  # 25 to 0
    drawn = play(Go(5, komi=0).start(), "pass pass")
    assert drawn.returns.tolist() == [0, 0]


def test_a_circle_without_superko_ends() -> None:
    position, moves = play(Go(5, superko=False).start(), "A2 B1 B2 C2 E5 D1"), ["pass", "A1", "C1", "B1"]
    while not position.over:
        position = play(position, moves[0])
        moves = [*moves[1:], moves[0]]
    assert position.state[PLIES] == 75


def test_empty_regions_of_both_colours_count_for_nobody() -> None:
    position = play(Go(5).start(), "B1 D1 B2 D2 B3 D3 B4 D4 B5 D5 pass pass")
    assert Go(5).lead(position.state) == 10 - 10 - 7.5


def test_drawing_names_and_parameters() -> None:
    game = Go(19)
    assert [game.action_name(action) for action in (0, 7, 8, 360, 361)] == ["A1", "H1", "J1", "T19", "pass"]
    assert str(play(game.start(), "Q16")).splitlines()[3] == "16" + " ." * 15 + " X" + " ." * 3
    svg = game.svg(play(game.start(), "A19").state, changed={342}, notes={0: "12"})
    assert 'cx="0.5" cy="0.5" r="0.46"' in svg and ">12</text>" in svg and ">19</text>" in svg
    with pytest.raises(UserError, match=r"komi must be a multiple of 0\.5, got 7\.3"):
        Go(komi=7.3)
