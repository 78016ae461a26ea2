"""Boards as SVG: every game draws every position as a whole picture that names no other file."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET

import pytest

from turnier.games.drawing import CHANGED
from turnier.games.game import Game, Position
from turnier.games.registry import GAMES, make_game

SVG = "{http://www.w3.org/2000/svg}"
VARIANTS = ("2048(size=3)", "hex(size=4,swap=true)", "yavalath(size=3,players=3)", "nim(piles=2;4)")


def played(game: Game, plies: int, seed: int = 1) -> Position:
    chooser, position = random.Random(seed), game.start(seed)
    for _ in range(plies):
        if not position.over:
            position = position.play(chooser.choice(position.legal_actions()))
    return position


@pytest.mark.parametrize("name", [*GAMES.names(), *VARIANTS])
def test_every_game_draws_every_position(name: str) -> None:
    game = make_game(name)
    pictures = set()
    for plies in (0, 2, 4, 6, 30):
        position = played(game, plies)
        picture = game.svg(position.state)
        root = ET.fromstring(picture)
        left, top, width, height = map(float, root.attrib["viewBox"].split())
        assert root.tag == f"{SVG}svg" and width > 0 and height > 0 and left <= 0 and top <= 0
        assert "href" not in picture and "<script" not in picture
        pictures.add(picture)
    assert len(pictures) >= 2, f"{name} draws different positions alike"


@pytest.mark.parametrize("name", ["tictactoe", "connect_four", "othello", "hex(size=4)", "yavalath(size=3,players=3)"])
def test_every_stone_is_drawn_in_its_seats_colour_and_the_last_one_is_marked(name: str) -> None:
    game = make_game(name)
    position = played(game, 7)
    values = game.cell_values(position.state)
    changed = [int(values.nonzero()[0][0])]
    stones = [c for c in ET.fromstring(game.svg(position.state, changed)).iter(f"{SVG}circle") if c.get("r") != "0.12"]
    colours = [stone.get("fill") for stone in stones]
    assert len(stones) == (values > 0).sum()
    assert sorted(colours.count(colour) for colour in set(colours)) == sorted(
        (values == value).sum() for value in set(values.tolist()) - {0}
    )
    assert [stone.get("stroke") for stone in stones].count(CHANGED) == 1


def test_notes_stand_in_empty_cells_only() -> None:
    game = make_game("tictactoe")
    position = game.start().play(4)
    shown = [t.text for t in ET.fromstring(game.svg(position.state, notes={0: "17", 4: "83"})).iter(f"{SVG}text")]
    assert "17" in shown and "83" not in shown


def test_tiles_of_2048_are_numbers() -> None:
    game = make_game("2048(size=2)")
    state = game.position_from_tiles([[2, 131072], [0, 16]])  # type: ignore[attr-defined]
    shown = [text.text for text in ET.fromstring(game.svg(state)).iter(f"{SVG}text") if text.text]
    assert shown == ["2", "131072", "16"]
