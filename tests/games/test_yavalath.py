"""Yavalath's kernels against the plain-Python oracle, known counts, and what people see."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.naive_yavalath import Naive
from turnier.core.errors import UserError
from turnier.core.kernel import JIT
from turnier.games.game import Position
from turnier.games.perft import perft
from turnier.games.registry import make_game
from turnier.games.yavalath.game import Yavalath

VARIANTS = [
    Yavalath(size=size, **rules)  # type: ignore[arg-type]
    for size in range(3, 9)
    for rules in ({}, {"swap": True}, {"players": 3}, {"players": 3, "play_on": False})
]


def naive_of(game: Yavalath) -> Naive:
    return Naive(game.size, game.players, game.swap, game.play_on)


def play(game: Yavalath, *names: str) -> Position:
    """Plays actions by their names, separated by blanks."""
    actions = {game.action_name(action): action for action in range(game.num_actions)}
    position = game.start()
    for name in " ".join(names).split():
        position = position.play(actions[name])
    return position


@pytest.mark.parametrize("game", VARIANTS, ids=str)
def test_random_games_go_as_the_oracle_says(game: Yavalath) -> None:
    """Half of the games avoid threes where they can, so that boards fill and fours happen."""
    for seed in range(6 if JIT else 1):
        choose, naive, position = random.Random(seed), naive_of(game), game.start()
        while not naive.over:
            legal = naive.legal()
            assert (position.to_move, position.legal_actions()) == (naive.mover, legal)
            calm = [a for a in legal if a == game.num_cells or naive.makes(naive.colour(), a) != "three"]
            action = choose.choice(calm if seed % 2 and calm else legal)
            naive.play(action)
            position = position.play(action)
            assert game.cell_values(position.state).tolist() == naive.cells()
            assert position.returns.tolist() == naive.returns()
        assert position.over
        assert position.returns.sum() == 0


def test_the_oracle_sees_every_way_to_end() -> None:
    """The games above and these include fours, threes, full boards, shared ranks, and moves that are forced."""
    seen: set[object] = set()
    for seed in range(100):
        choose = random.Random(seed)
        naive = Naive(3, 2 + seed % 2)
        while not naive.over:
            legal = naive.legal()
            seen.add("forced" if len(legal) < len(naive.empty()) else "free")
            calm = [a for a in legal if naive.makes(naive.colour(), a) != "three"]
            naive.play(choose.choice(calm or legal))
        seen.add((naive.players, *sorted(naive.ranks.values())))
    assert seen >= {"forced", "free", (2, 1, 2), (3, 1, 2, 3), (3, 1.5, 1.5, 3), (3, 2, 2, 2)}


PERFT = {
    "yavalath": (61, 3_660, 215_940),
    "yavalath(swap=true)": (61, 3_721, 219_600),
    "yavalath(players=3)": (61, 3_660, 215_940),
    "yavalath(size=3)": (19, 342, 5_814),
}


@pytest.mark.parametrize("text", PERFT)
def test_perft_from_the_empty_board(text: str) -> None:
    """Depth 4, 12,524,520 and with the swap 12,740,460, takes some seconds; tried by hand."""
    game = make_game(text)
    depth = 3 if JIT else 2
    counts = [perft(game, game.start().state, d) for d in range(1, depth + 1)]
    assert counts == [(leaves, 0) for leaves in PERFT[text][:depth]]


def test_perft_counts_a_game_that_ends_once() -> None:
    """Black loses by its third stone in C1, nothing else ends the game within a ply."""
    game = Yavalath(size=3)
    position = play(game, "A1 E5 B1 D5")
    assert perft(game, position.state, 1) == (15, 1)
    assert perft(game, position.state, 2) == (14 * 14 + 1, 13 + 1)


def test_swap_is_for_two() -> None:
    with pytest.raises(UserError, match=r"swap must be false with players=3, got true"):
        make_game("yavalath(players=3,swap=true)")


def test_swap_changes_seats_and_keeps_the_stones() -> None:
    position = play(Yavalath(size=3, swap=True), "C3 swap")
    assert position.to_move == 0
    assert position.game.cell_values(position.state).tolist().count(1) == 1
    assert position.game.num_cells not in position.legal_actions()
    position = position.play(0)
    assert position.game.cell_values(position.state)[0] == 2
    assert position.to_move == 1


def test_four_with_a_separate_three_wins() -> None:
    """Black's last stone makes D1 to D4 a four and C3 D3 E3 a three."""
    game = Yavalath(size=5)
    position = play(game, "D1 A1 D2 A3 D4 A5 C3 B6 E3 I9 D3")
    assert position.over
    assert position.returns.tolist() == [1, -1]
    assert game.facts(position.state) == {"stones": 11, "by_four": 1, "by_three": 0, "full_board": 0}


def test_five_count_as_four() -> None:
    assert play(Yavalath(), "D1 A1 D2 A3 D4 A5 D5 B6 D3").returns.tolist() == [1, -1]


def test_stopping_at_the_first_four_shares_the_ranks_left() -> None:
    """D4 threatens D3 and F4 at once; seat 2, whose next player wins, has to block and can block only one of them."""
    moves = "D1 A1 I9 D2 A3 I7 E4 A5 I5 G4 B6 H9 D4 E9"
    assert [Yavalath().action_name(a) for a in play(Yavalath(players=3), moves).legal_actions()] == ["F4", "D3"]
    moves += " F4 D3"
    over = play(Yavalath(players=3, play_on=False), moves)
    assert over.over
    assert over.returns.tolist() == [1, -0.5, -0.5]
    on = play(Yavalath(players=3), moves)
    assert (on.to_move, on.returns.tolist()) == (1, [1, 0, 0])


@pytest.mark.parametrize("size", range(3, 9))
def test_symmetries_are_twelve_and_keep_the_game(size: int) -> None:
    game = Yavalath(size=size)
    table = game.symmetries()
    assert len({tuple(row) for row in table.tolist()}) == 12
    choose = random.Random(size)
    position, actions = game.start(), []
    while not position.over:
        actions.append(choose.choice(position.legal_actions()))
        position = position.play(actions[-1])
    for row in table:
        to = np.argsort(row)  # row says where a cell comes from
        turned = game.start()
        for action in actions:
            assert not turned.over
            turned = turned.play(int(to[action]))
        assert turned.over
        assert turned.returns.tolist() == position.returns.tolist()
        assert (game.cell_values(turned.state) == game.cell_values(position.state)[row]).all()


def test_neighbours() -> None:
    around = Yavalath(size=3).neighbours()
    assert sorted(map(len, around)) == [3] * 6 + [4] * 6 + [6] * 7
    assert around[9] == (4, 5, 8, 10, 13, 14)


def test_names_are_those_of_columns_and_rows() -> None:
    game = Yavalath(size=3, swap=True)
    names = [game.action_name(action) for action in (0, 2, 3, 9, 16, 18, 19)]
    assert names == ["C5", "E5", "B4", "C3", "A1", "C1", "swap"]


def test_drawing() -> None:
    assert str(play(Yavalath(size=3, players=3), "C3 E5 A1 B4")).splitlines() == [
        " 5   . . O",
        " 4  X . . .",
        " 3 . . X . .",
        " 2  . . . . E",
        " 1   # . . D",
        "      A B C",
        "O to move, seat 1",
    ]
