"""Boards as pages take them: a whole match in little space, each drawn element once; where to click on a board."""

from __future__ import annotations

import re
from typing import Any

from ...games.game import Game, Ints

_TAG = re.compile(r"<[^>]*>")
_CELL = re.compile(r'data-cell="(\d+)"')


class Frames:
    """Boards of one game, which share most of what they are made of."""

    def __init__(self) -> None:
        self.elements: list[str] = []  # of all boards, each once
        self.boards: list[dict[str, list[int]]] = []  # see `add`
        self._numbers: dict[str, int] = {}
        self._latest: list[int] = []

    def add(self, svg: str) -> None:
        """Adds a board: {all: numbers of its elements}, or {set: place, number, ...} where few differ from the last."""
        board = [self._numbers.setdefault(part, len(self._numbers)) for part in split(svg)]
        self.elements += list(self._numbers)[len(self.elements) :]
        changes = [
            word
            for place, (old, new) in enumerate(zip(self._latest, board, strict=False))
            if old != new
            for word in (place, new)
        ]
        same_length = len(board) == len(self._latest)
        self.boards.append({"set": changes} if same_length and len(changes) < len(board) else {"all": board})
        self._latest = board


def split(svg: str) -> list[str]:
    """Returns the opening tag of a drawing and each element directly in it; together with `</svg>` they are all."""
    parts, depth, first = [], 0, 0
    for tag in _TAG.finditer(svg):
        closes, is_empty = tag[0].startswith("</"), tag[0].endswith("/>")
        depth += 0 if is_empty else -1 if closes else 1
        if depth == 1:
            parts.append(svg[first : tag.end()])
            first = tag.end()
    return parts


def moves_on(svg: str, game: Game, state: Ints, legal: list[int]) -> list[dict[str, Any]]:
    """Returns legal actions with where to click for them on a drawing: {action, name, clicks}.

    There are no clicks, so that a button is needed, where the drawing does not say which shapes are cells.
    """
    marked = {int(cell) for cell in _CELL.findall(svg)}
    moves = []
    for action in legal:
        clicks = game.clicks(state, action)
        if not all(marked.intersection(cells) for cells in clicks):
            clicks = ()
        moves.append({"action": action, "name": game.move_text(state, action), "clicks": clicks})
    return moves
