"""Boards of a whole match in little space: each drawn element once, each board as the numbers of its elements."""

from __future__ import annotations

import re

_TAG = re.compile(r"<[^>]*>")


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
