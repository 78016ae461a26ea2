"""Nim solved through its kernels: the xor of the piles says who wins."""

from __future__ import annotations

import functools
import itertools
import operator

import pytest

from turnier.core.errors import UserError
from turnier.games.game import Position
from turnier.games.nim import Nim
from turnier.games.registry import make_game


def mover_wins(game: Nim) -> dict[tuple[int, ...], bool]:
    """Returns what the kernels say of every position that play reaches, by the piles left."""
    known: dict[tuple[int, ...], bool] = {}

    def visit(position: Position) -> bool:
        piles = tuple(game.cell_values(position.state).tolist())
        if piles not in known:
            known[piles] = any(
                after.returns[position.to_move] > 0 if after.over else not visit(after)
                for after in map(position.play, position.legal_actions())
            )
        return known[piles]

    visit(game.start())
    return known


@pytest.mark.parametrize("misere", [False, True])
def test_the_xor_of_the_piles_decides(misere: bool) -> None:
    """Source: Bouton 1901. Misère play differs only where no pile has more than one: then an even number is lost."""
    known = mover_wins(Nim("1;3;4;2", misere))
    assert set(known) == set(itertools.product(range(2), range(4), range(5), range(3))) - {(0, 0, 0, 0)}
    for piles, wins in known.items():
        xor = functools.reduce(operator.xor, piles)
        assert wins == (bool(xor) != (misere and max(piles) <= 1)), piles


@pytest.mark.parametrize(("misere", "returns"), [(False, [1, -1]), (True, [-1, 1])])
def test_the_last_one_decides(misere: bool, returns: list[float]) -> None:
    position = Nim("7", misere).start()
    assert position.legal_actions() == list(range(7))
    after = position.play(6)
    assert after.over and after.returns.tolist() == returns


def test_names_drawing_and_text() -> None:
    game = make_game("nim(piles=2;4)")
    assert {game.action_name(action) for action in game.start().legal_actions()} == {
        *(f"{number} from pile 1" for number in (1, 2)),
        *(f"{number} from pile 2" for number in (1, 2, 3, 4)),
    }
    assert str(game.start().play(5)) == "2 1"
    assert str(game) == "nim(piles=2;4)" and make_game(game.full_text()) == game


@pytest.mark.parametrize("piles", ["", "0", "1;", "1;100", "1,2", "a", "1;1;1;1;1;1;1;1;1", "٣", "3\n"])
def test_piles_that_cannot_be_are_refused(piles: str) -> None:
    with pytest.raises(UserError, match="piles must be up to 8 numbers from 1 to 99"):
        Nim(piles)
