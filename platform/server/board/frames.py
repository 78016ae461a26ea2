"""Boards for pages: a whole match in little space, with each drawn element once, and the places to click."""

from __future__ import annotations

import re
from typing import Any

from ...games.game import Game, Ints

_TAG = re.compile(r"<[^>]*>")
_CELL = re.compile(r'data-cell="(\d+)"')


class Frames:
    """Boards of one game, which share most of their elements."""

    def __init__(self) -> None:
        self.elements: list[str] = []  # of all boards, each once
        self.boards: list[dict[str, list[int]]] = []  # see `add`
        self._numbers: dict[str, int] = {}
        self._latest: list[int] = []

    def add(self, svg: str) -> None:
        """Adds a board: {all: numbers of its elements}, or {set: place, number, ...} if few differ from the last."""
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
    """Returns the opening tag of a drawing and each element directly in it: everything but `</svg>`."""
    parts, depth, first = [], 0, 0
    for tag in _TAG.finditer(svg):
        closes, is_empty = tag[0].startswith("</"), tag[0].endswith("/>")
        depth += 0 if is_empty else -1 if closes else 1
        if depth == 1:
            parts.append(svg[first : tag.end()])
            first = tag.end()
    return parts


def moves_on(svg: str, game: Game, state: Ints, legal: list[int]) -> list[dict[str, Any]]:
    """Returns legal actions with the places to click on a drawing: {action, name, clicks}.

    Without marked cells in the drawing there are no clicks, and a button is needed.
    """
    marked = {int(cell) for cell in _CELL.findall(svg)}
    moves = []
    for action in legal:
        clicks = game.clicks(state, action)
        if not all(marked.intersection(cells) for cells in clicks):
            clicks = ()
        moves.append({"action": action, "name": game.move_text(state, action), "clicks": clicks})
    return moves
