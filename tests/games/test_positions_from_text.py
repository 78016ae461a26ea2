"""Positions from text: every form that is read, and one sentence for whatever is wrong."""

from __future__ import annotations

import contextlib
import json
import random

import pytest

from turnier.core.errors import UserError
from turnier.games.abi import TERMINAL
from turnier.games.registry import make_game
from turnier.games.spe_ed.messages import message_of

FEN = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 0 1"


@pytest.mark.parametrize(
    ("game", "text", "mover", "cells"),
    [
        ("tictactoe", "X . O / . X . / . . .", 1, [1, 0, 2, 0, 1, 0, 0, 0, 0]),
        ("tictactoe", "xo.......", 0, [1, 2, 0, 0, 0, 0, 0, 0, 0]),
        ("tictactoe", "XXX/OO./...", TERMINAL, [1, 1, 1, 2, 2, 0, 0, 0, 0]),
        ("tictactoe", "moves b2, a1; C3", 1, [2, 0, 0, 0, 1, 0, 0, 0, 1]),
        ("connect_four(rows=4,columns=4)", "..../..../O.../X..X", 1, [0] * 8 + [2, 0, 0, 0, 1, 0, 0, 1]),
        ("hex(size=2)", "X. .O X to move", 0, [1, 0, 0, 2]),
        ("hex(size=2,swap=true)", "../O.", 0, [0, 0, 2, 0]),
        ("hex(size=2,swap=true)", "moves b1 swap", 0, [0, 0, 2, 0]),
        ("othello(size=4)", "..../.OX./.XO./....", 0, [0] * 5 + [2, 1, 0, 0, 1, 2] + [0] * 5),
        ("othello(size=4)", "..../.OX./.XO./.... O to move", 1, [0] * 5 + [2, 1, 0, 0, 1, 2] + [0] * 5),
        ("nim", "0 3 0 1, seat 1 to move", 1, [0, 3, 0, 1]),
        ("nim", "moves 3 from pile 2, 1 from pile 1", 0, [0, 0, 5, 7]),
        ("2048", "2 . . 2 / 4 8 . . / . . . . / . . . 1024", 0, [1, 0, 0, 1, 2, 3] + [0] * 9 + [10]),
        ("2048(size=2)", "2,4,8,16", TERMINAL, [1, 2, 3, 4]),
        ("2048(size=2)", "moves 2 at row 1, column 1 4 at row 2, column 2", 0, [1, 0, 0, 2]),
        ("go(size=5)", "...../...../..XO./...../XO...", 0, [1, 2, 0, 0, 0] + [0] * 7 + [1, 2] + [0] * 11),
        ("yavalath(size=3)", ".../..../..X../..../... O to move", 1, [0] * 9 + [1] + [0] * 9),
    ],
)
def test_texts_are_read(game: str, text: str, mover: int, cells: list[int]) -> None:
    position = make_game(game).position_of(text)
    assert position.to_move == mover
    assert position.game.cell_values(position.state).tolist() == cells


@pytest.mark.parametrize(
    ("game", "text", "sentence"),
    [
        ("tictactoe", "X.O/.X.", "must have 3 rows, got 2"),
        ("tictactoe", "X.O/.X./..", "row 3 of tictactoe must have 3 cells, got 2"),
        ("tictactoe", "X.O/.Y./...", "must be one of . _ - X O, got 'Y' in row 2"),
        ("tictactoe", "XXX/.../...", "as many stones as O or one more, got 3 and 0"),
        ("tictactoe", "XXX/OOO/...", "seat 0 has won already, yet is to move"),
        ("tictactoe", "X../.../... X to move", "seat 1 must be to move"),
        ("tictactoe", "X../.../... seat 4 to move", "has the seats 0 to 1, got 'seat 4 to move'"),
        ("tictactoe", "", "must be a text such as"),
        ("tictactoe", "moves a1 a1", "ply 2 must be a move that is possible there, got 'a1'; possible: b1, c1, a2"),
        (
            "2048(size=2)",
            "moves 2 at row 1, column 1 4 at row 2, column 2 rigth",
            "got 'rigth'; did you mean right?",
        ),
        ("tictactoe", "moves a1 a2 b1 b2 c1 c2", "nothing may follow the end of the game, got 'c2' as ply 6"),
        ("connect_four(rows=2,columns=2)", "X./..", "a stone of column a does not lie on another"),
        ("hex(size=2)", "XX/XX", "as many stones as O or one more, got 4 and 0"),
        ("othello(size=4)", "..../..../..../....", "one of the four middle cells is empty"),
        ("nim", "9 9 9 9", "must have at most 1 3 5 7 in its piles, got '9 9 9 9'"),
        ("nim", "1 x 3 4", "must be a number or a dot, got 'x'"),
        ("2048", "2 . . / 4", "must have 4 rows of 4 cells"),
        ("2048(size=2)", "3 . / . .", "a power of two from 2 to 131072, got 3"),
        ("2048(size=2)", ". . / . .", "must have a tile, got none"),
        ("2048", "131072 131072 . . / . . . . / . . . . / . . . 2", "a sum below 262,144, got 262,146; correct the"),
        (
            "2048(size=2)",
            "32 32 / . .",
            "the tiles of 2048(size=2) must have a sum below 64, got 64; correct the board",
        ),
        ("2048(size=2)", "moves left", "must be an outcome of chance that is possible there, got 'left'"),
        ("go(size=5)", "XO.../O..../...../...../.....", "the chain at A5 has no liberty"),
        ("yavalath(size=3)", "XX./..../...../..../...", "must have placed their stones in turn, got [2, 0]"),
        ("yavalath(size=3)", "XXX/OO../X..../OO../...", "had three or four in a row before"),
        ("yavalath(size=3,players=3)", "XXX/OO#./#.O../..../#..", "none of three players"),
        ("chess", "rnbqkbnr/8/8 w", "chess: fen must be"),
        ("spe_ed", "....", "the board, `round N` and a line"),
        ("spe_ed", '{"width": 5}', "a message must be from the official server"),
    ],
)
def test_what_is_wrong_is_one_sentence(game: str, text: str, sentence: str) -> None:
    with pytest.raises(UserError) as raised:
        make_game(game).position_of(text)
    assert sentence in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "name", ["2048", "chess", "connect_four", "go", "hex", "nim", "othello", "spe_ed", "tictactoe", "yavalath"]
)
def test_damaged_boards_are_positions_or_sentences(name: str) -> None:
    game, choose, read = make_game(name), random.Random(1), 0
    for _ in range(60):
        position = game.start(choose.randrange(5))
        for _ in range(choose.randrange(6)):
            position = position if position.over else position.play(choose.choice(position.legal_actions()))
        text = game.board_text(position.state)
        for _ in range(choose.randrange(4)):
            at = choose.randrange(len(text))
            text = text[:at] + choose.choice(["", *"XO#.0189 /\n,;()-Aaé²"]) + text[at + choose.randrange(2) :]
        with contextlib.suppress(UserError):
            found = game.position_of(text)
            assert found.over or 0 < len(found.legal_actions()) <= game.max_legal
            read += 1
    assert 10 < read < 60


def test_chess_reads_fen_alone_or_below_a_board() -> None:
    chess = make_game("chess")
    position = chess.position_of(FEN)
    mate = position.game.move_of(position.state, "f3f7")
    assert mate is not None and position.play(mate).returns.tolist() == [1, -1]
    again = chess.position_of(position.game.draw(position.state))
    assert again.legal_actions() == position.legal_actions() and again.game == position.game


@pytest.mark.parametrize(
    ("fen", "returns"),
    [
        ("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", [-1, 1]),
        ("R5k1/5ppp/8/8/8/8/8/4K3 b - - 100 80", [1, -1]),
        ("7k/8/5KQ1/8/8/8/8/8 b - - 0 1", [0, 0]),  # a stalemate
    ],
)
def test_an_end_in_fen_has_its_result(fen: str, returns: list[int]) -> None:
    position = make_game("chess").position_of(fen)
    assert position.over and position.returns.tolist() == returns
    assert position.game.position_of("moves").returns.tolist() == returns


def test_chess_takes_moves_in_standard_notation() -> None:
    chess = make_game("chess")
    played = chess.position_of("moves e4 e5 Nf3 g8f6 Bc4 Nxe4 O-O")
    assert (played.state == chess.position_of("moves e2e4 e7e5 g1f3 g8f6 f1c4 f6e4 e1g1").state).all()
    assert chess.move_of(chess.start().state, "Nf3") is None  # which engines do not write
    with pytest.raises(UserError, match="ply 2 must be a move that is possible there, got 'Ke8'"):
        chess.position_of("moves e4 Ke8")


def test_spe_ed_reads_messages_of_any_size_with_their_rounds() -> None:
    small = make_game("spe_ed(width=9,height=7,players=3)")
    position = small.start(3)
    for _ in range(6):
        position = position.play(4)
    message = message_of(position.state, you=1) | {"rounds": 2}
    read = make_game("spe_ed").position_of(json.dumps(message))
    assert read.game == small and (read.state == position.state).all()


@pytest.mark.parametrize(
    ("living", "rounds", "returns"),
    [([1], None, [-1, 1, -1]), ([1], 9, [-1, 1, -1]), ([], None, [0, 0, 0]), ([], 9, [0, 0, 0])],
)
def test_who_lives_has_won_a_message_of_the_end(living: list[int], rounds: int | None, returns: list[int]) -> None:
    message = message_of(make_game("spe_ed(width=9,height=7,players=3)").start(3).state) | {"running": False}
    message |= {} if rounds is None else {"rounds": rounds}  # the official server does not say it
    for seat in range(3):
        message["players"][str(1 + seat)]["active"] = seat in living
    read = make_game("spe_ed").position_of(json.dumps(message))
    assert read.over and read.returns.tolist() == returns


@pytest.mark.parametrize(
    ("ends", "returns"),
    [
        ((", out in round 4", ", out in round 5", ", out in round 5"), [-1, 0, 0]),
        ((", out in round 5", ", out in round 2", ""), [-1, -1, 1]),
    ],
)
def test_who_went_out_last_has_not_lost_a_printed_end(ends: tuple[str, ...], returns: list[int]) -> None:
    seats = [f"seat {seat}: ({seat}, {seat % 2}) down, speed 1{end}" for seat, end in enumerate(ends)]
    text = "\n".join(["1.3.", ".2..", "....", "....", "round 5", *seats])
    assert make_game("spe_ed(width=4,height=4,players=3)").position_of(text).returns.tolist() == returns


@pytest.mark.parametrize(
    ("second", "sentence"),
    [
        ("(99999999999999999999, 1) down, speed 1, out in round 3", "got 1 seats and round 5; complete it"),
        (
            "(6, 1) down, speed 1, out in round 3",
            "player 2 must be on the board or beside it with a speed from 0 to 11",
        ),
        ("(0, -2) down, speed 1, out in round 3", "player 2 must be on the board or beside it"),
        ("(0, 1) down, speed 12, out in round 3", "player 2 must be on the board or beside it"),
        ("(0, 1) down, speed 99999999999999999999, out in round 3", "got 1 seats and round 5; complete it"),
        ("(-1, 1) down, speed 1", "player 2 must be on the board with a speed from 1 to 10"),
        ("(0, 1) down, speed 1, out in round 6", "seat 1 must be out in a round from 0 to 5, got 6; correct it"),
        ("(0, 1) down, speed 1, out in round 99999999999999999999", "got 1 seats and round 5; complete it"),
    ],
)
def test_numbers_that_a_spe_ed_board_cannot_have_are_one_sentence(second: str, sentence: str) -> None:
    text = f"A....\n.....\n.....\n.....\n.....\nround 5\nseat 0: (0, 0) down, speed 1\nseat 1: {second}"
    with pytest.raises(UserError) as raised:
        make_game("spe_ed(width=5,height=5)").position_of(text)
    assert sentence in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("rounds", [-1, 10**6, 10**30])
def test_rounds_that_no_message_can_have_are_one_sentence(rounds: int) -> None:
    message = message_of(make_game("spe_ed").start(1).state) | {"rounds": rounds}
    with pytest.raises(UserError, match="there must be 0 to 999,999 rounds before a board"):
        make_game("spe_ed").position_of(json.dumps(message))


def test_who_is_out_of_a_message_without_rounds_stays_out() -> None:
    """As `board_text` has it, seats that may be beside the board are out in round 0."""
    message = message_of(make_game("spe_ed(width=9,height=7,players=3)").start(3).state)
    message["players"]["2"] |= {"x": -1, "speed": 11, "active": False}
    read = make_game("spe_ed").position_of(json.dumps(message))
    again = read.game.position_of(read.game.board_text(read.state))
    assert (again.state == read.state).all() and not again.over


def test_the_score_of_a_2048_board_counts() -> None:
    assert make_game("2048").position_of("2 . . 2 / 4 8 . . / . . . . / . . . ., score 1234").returns.tolist() == [1234]


@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_largest_2048_board_is_read_and_over(size: int) -> None:
    """It is full, with one tile of every power from 4 up."""
    tiles = [2**power for power in range(2, size**2 + 2)]
    assert make_game(f"2048(size={size})").position_of(" ".join(map(str, tiles))).over


def test_chance_after_the_named_moves_follows_the_seed() -> None:
    game = make_game("2048")
    boards = [game.position_of("moves", seed).state.tolist() for seed in (1, 1, 2)]
    assert boards[0] == boards[1] != boards[2] and boards[0] == game.start(1).state.tolist()
