"""The names of plies in a text, such as `moves d3 c4`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ...core.errors import UserError, nearest

MOVES = "moves"
BETWEEN = " ,;"  # separators of names
_SHOWN = 12  # names in a sentence


def names_of_moves(text: str) -> str | None:
    """Returns the text after `moves`; None if a text does not begin with it."""
    found = re.fullmatch(rf"\s*{MOVES}\b[:\s]*(.*)", text, re.IGNORECASE | re.DOTALL)
    return found and " ".join(found[1].split())


def first_ply(
    rest: str, names: Mapping[str, int], number: int, typed: Callable[[str], int | None] | None
) -> tuple[int, int]:
    """Returns the first ply of a text, and the length of its name.

    Args:
        rest: the text; names are divided by blanks, commas or semicolons.
        names: the possible plies, by name.
        number: of the ply in the whole text, for the error.
        typed: returns the ply that a person may have meant by a word; None if chance is to move.
    """
    begins = [name for name in names if _begins(rest, name)]
    if begins:
        longest = max(begins, key=len)
        return names[longest], len(longest)
    word = word_of(rest)
    ply = typed(word) if typed else None
    if ply is None:
        kind = "a move" if typed else "an outcome of chance"
        raise UserError(f"ply {number} must be {kind} that is possible there, got {word!r}; {suggestion(word, names)}")
    return ply, len(word)


def suggestion(word: str, names: Mapping[str, int]) -> str:
    """Returns a question with the closest name, or the list of names."""
    shown = ", ".join(list(names)[:_SHOWN]) + ", ..." * (len(names) > _SHOWN)
    return nearest(word, names) or f"possible: {shown}."


def _begins(text: str, name: str) -> bool:
    return text[: len(name)].casefold() == name.casefold() and text[len(name) : len(name) + 1] in ("", *BETWEEN)


def word_of(text: str) -> str:
    """Returns the first word of a text."""
    return re.split(f"[{BETWEEN}]", text, maxsplit=1)[0]
