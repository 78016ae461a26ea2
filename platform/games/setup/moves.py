"""Positions from the names of the plies that led to them: `moves d3 c4`, in every game."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from turnier.core.errors import UserError, nearest
from turnier.games.abi import CHANCE

if TYPE_CHECKING:
    from turnier.games.game import Game, Position

MOVES = "moves"
_BETWEEN = " ,;"  # what may stand between two names
_SHOWN = 12  # names in a sentence


def names_of_moves(text: str) -> str | None:
    """Returns what follows `moves`, or None where a text is something else."""
    found = re.fullmatch(rf"\s*{MOVES}\b[:\s]*(.*)", text, re.IGNORECASE | re.DOTALL)
    return found and " ".join(found[1].split())


def play_names(game: Game, names: str, seed: int) -> Position:
    """Returns the position after plies from the start, outcomes of chance included; the seed draws those that follow.

    Args:
        game: whose start it is.
        names: as `action_name`, `outcome_name` and `move_of` have them, divided by blanks, commas or semicolons.
        seed: of a start that is random.
    """
    position, rest, number = game.before_chance(seed), names.strip(_BETWEEN), 0
    while rest:
        number += 1
        ply, length = _first_ply(position, rest, number)
        position = position.play(ply, draw_chance=False)
        rest = rest[length:].lstrip(_BETWEEN)
    return position.after_chance()


def named_plies(position: Position) -> dict[str, int]:
    """Returns what may be played, an outcome where chance is to move, by all of its names."""
    game = position.game
    if position.to_move == CHANCE:
        return {game.outcome_name(outcome): outcome for outcome, _ in position.outcomes()}
    legal = position.legal_actions()
    return {game.move_text(position.state, a): a for a in legal} | {game.action_name(a): a for a in legal}


def _first_ply(position: Position, rest: str, number: int) -> tuple[int, int]:
    """Returns the ply that a text begins with, and the length of its name."""
    if position.over:
        raise UserError(f"nothing may follow the end of the game, got {_word(rest)!r} as ply {number}; leave it out.")
    names = named_plies(position)
    begins = [name for name in names if _begins(rest, name)]
    if begins:
        longest = max(begins, key=len)
        return names[longest], len(longest)
    word = _word(rest)
    ply = position.game.typed_move(position.state, word) if position.to_move != CHANCE else None
    if ply is None:
        kind = "an outcome of chance" if position.to_move == CHANCE else "a move"
        raise UserError(f"ply {number} must be {kind} that is possible there, got {word!r}; {suggestion(word, names)}")
    return ply, len(word)


def suggestion(word: str, names: dict[str, int]) -> str:
    """Returns what could have been meant, or what there is."""
    shown = ", ".join(list(names)[:_SHOWN]) + ", ..." * (len(names) > _SHOWN)
    return nearest(word, names) or f"possible: {shown}."


def _begins(text: str, name: str) -> bool:
    return text[: len(name)].casefold() == name.casefold() and text[len(name) : len(name) + 1] in ("", *_BETWEEN)


def _word(text: str) -> str:
    return re.split(f"[{_BETWEEN}]", text, maxsplit=1)[0]
