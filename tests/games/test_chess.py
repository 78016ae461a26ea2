"""Chess against published perft counts, and games whose end is known."""

from __future__ import annotations

import sys

import pytest

from turnier.core.errors import UserError
from turnier.games.chess.game import NAMES, NUMBERS, Chess, ChessState
from turnier.games.game import Position

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
PROMOTIONS = "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1"
# Lines of n plies. Source: https://www.chessprogramming.org/Perft_Results.
PERFT = {
    "standard": (20, 400, 8_902),
    KIWIPETE: (48, 2_039, 97_862),
    PROMOTIONS: (24, 496, 9_483),
}
LONG_PERFT = {"standard": (4, 197_281), KIWIPETE: (4, 4_085_603), PROMOTIONS: (4, 182_838)}


def perft(game: Chess, state: ChessState, depth: int) -> int:
    if depth == 1:
        return len(state.legal)
    return sum(perft(game, game.step(state, action)[0], depth - 1) for action in state.legal)


@pytest.mark.parametrize("fen", PERFT)
def test_positions_have_the_published_perft_counts(fen: str) -> None:
    game = Chess(fen)
    assert tuple(perft(game, game.begin(), depth) for depth in (1, 2, 3)) == PERFT[fen]


@pytest.mark.long
@pytest.mark.parametrize("fen", LONG_PERFT)
def test_positions_have_the_published_deeper_perft_counts(fen: str) -> None:
    depth, count = LONG_PERFT[fen]
    assert perft(Chess(fen), Chess(fen).begin(), depth) == count


def play(game: Chess, moves: str) -> Position:
    position = game.start()
    for text in moves.split():
        action = game.move_of(position.state, text)
        assert action is not None, text
        position = position.play(action)
    return position


def ends(position: Position) -> list[float] | None:
    return position.returns.tolist() if position.over else None


SHUFFLE = "g1f3 g8f6 f3g1 f6g8 "  # the position is the same again


def test_games_end_as_they_must() -> None:
    assert ends(play(Chess(), "f2f3 e7e5 g2g4 d8h4")) == [-1, 1]
    assert ends(play(Chess(), "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7")) == [1, -1]
    assert ends(play(Chess("7k/5K2/8/6Q1/8/8/8/8 w - - 0 1"), "g5g6")) == [0, 0]  # a stalemate
    assert ends(play(Chess("8/8/8/3k4/8/8/3pB3/3K4 w - - 0 1"), "d1d2")) == [0, 0]  # king and bishop are too little


def test_the_third_occurrence_of_a_position_draws() -> None:
    assert ends(play(Chess(), SHUFFLE + SHUFFLE.rpartition(" f6g8")[0])) is None
    assert ends(play(Chess(), SHUFFLE * 2)) == [0, 0]
    # White could castle at first, so the position is another one when its king is back for the first time.
    king = Chess("4k3/8/8/8/8/8/8/4K2R w K - 0 1")
    walk = "e1e2 e8e7 e2e1 e7e8 "
    assert ends(play(king, walk * 2)) is None
    assert ends(play(king, walk * 2 + "e1e2")) == [0, 0]


def test_fifty_moves_of_each_side_draw_unless_the_last_one_mates() -> None:
    assert ends(play(Chess("4k3/8/8/8/8/8/8/R3K3 w - - 98 80"), "a1a2")) is None
    assert ends(play(Chess("4k3/8/8/8/8/8/8/R3K3 w - - 98 80"), "a1a2 e8e7")) == [0, 0]
    assert ends(play(Chess("6k1/5ppp/8/8/8/8/8/R3K3 w - - 99 80"), "a1a8")) == [1, -1]


def test_a_game_is_drawn_at_its_greatest_length() -> None:
    assert ends(play(Chess(longest=4), "f2f3 e7e5 g2g4 d8h4")) == [-1, 1]
    assert ends(play(Chess(longest=4), "f2f3 e7e5 g2g4 d8e7")) == [0, 0]
    assert Chess(longest=4).start().state.size < Chess().start().state.size


def test_special_moves() -> None:
    castled = play(Chess("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"), "e1g1 e8c8")
    assert str(castled).splitlines()[-1].startswith("2kr3r/8/8/8/8/8/8/R4RK1 w")
    taken = play(Chess(), "e2e4 a7a6 e4e5 d7d5 e5d6")
    assert "/p2P4/" in str(taken).splitlines()[-1]
    promoted = play(Chess("8/P6k/8/8/8/8/8/K7 w - - 0 1"), "a7a8n")
    assert str(promoted).splitlines()[-1].startswith("N7/7k/")


def test_moves_have_numbers() -> None:
    assert len(set(NAMES)) == len(NAMES) == 64 * 64 + 2 * 22 * 4 == Chess.num_actions
    assert NUMBERS["e2e4"] == 12 * 64 + 28 and NAMES[NUMBERS["h2g1q"]] == "h2g1q"
    game = Chess()
    assert game.move_of(game.start().state, "E2E4") == NUMBERS["e2e4"] and game.action_name(796) == "e2e4"


def test_the_last_move_is_framed() -> None:
    game = Chess()
    assert 'stroke-width="0.06"' not in game.svg(game.start().state)
    assert game.svg(play(game, "e2e4 e7e5").state).count('stroke-width="0.06"') == 2


@pytest.mark.parametrize("fen", ["8/8", "", "8/8/8/8/8/8/8/8 w - - 0 1"])
def test_wrong_positions_are_refused(fen: str) -> None:
    with pytest.raises(UserError, match="chess: fen must be"):
        Chess(fen).start()


def test_pieces_that_no_promotion_explains_are_refused() -> None:
    most = Chess("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1")  # Petrovic 1964
    assert len(most.start().legal_actions()) == Chess.max_legal
    with pytest.raises(UserError, match=r"promoted pieces of white than missing pawns, got .* with 14 and 8;"):
        Chess("Q4Q1K/2Q4Q/4Q3/1Q4QQ/3Q4/Q5Q1/ppQ5/kn2QQ1Q w - - 0 1").start()
    with pytest.raises(UserError, match=r"promoted pieces of black than missing pawns, got .* with 1 and 0;"):
        Chess("nnn1k3/pppppppp/8/8/8/8/8/4K3 w - - 0 1").start()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "chess", None)
    with pytest.raises(UserError, match="the game chess needs chess: pip install"):
        Chess().begin()
