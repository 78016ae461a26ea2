"""The laws of positions from text: from the names of moves in every game, from boards if a game reads them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ...core.errors import UserError
from ...games.abi import CHANCE
from ...games.game import Game, Position
from ...games.setup.moves import MOVES
from ..law import LawBroken
from .random_games import SEEDS, Node, nodes, walk

NAMED_PLIES = 24  # of a random game that are named


def law_moves_name_positions(game: Game) -> None:
    """`position_of` leads from the start, by the names of plies and outcomes, to the position after them."""
    for seed in SEEDS:
        names: list[str] = []
        position = game.before_chance(seed)
        for node, ply in _plies(game, seed):
            named = game.outcome_name if node.mover == CHANCE else game.action_name
            names.append(named(ply))
            position = position.stepped(ply)
        while position.to_move == CHANCE:  # outcomes after the last name are drawn
            ply = position.outcomes()[0][0]
            names.append(game.outcome_name(ply))
            position = position.stepped(ply)
        text = f"{MOVES} {' '.join(names)}"
        try:
            found = game.position_of(text, seed)
        except UserError as error:
            raise LawBroken(f"position_of of {game} must play {text!r}, got: {error}") from error
        _require_same(position, found, text)
        if (position.state != found.state).any() or (position.returns != found.returns).any():
            raise LawBroken(f"position_of of {game} must lead to the state and the returns after {text!r}, got others")


def law_boards_name_positions(game: Game) -> None:
    """If a game reads boards, `board_text` leads back to the cells, the seat to move and the legal actions."""
    for node in nodes(game) if game.board_help else ():
        if node.mover < 0 or not game.shows_all(node.state):
            continue
        text = game.board_text(node.state)
        try:
            found = game.position_of(text)
        except UserError as error:
            raise LawBroken(f"position_of of {game} must read {text!r}, got: {error}") from error
        _require_same(game.position(node.state), found, text)


def _plies(game: Game, seed: int) -> Iterator[tuple[Node, int]]:
    """Yields the first nodes of a random game with the plies and outcomes played there."""
    played = list(walk(game, seed, NAMED_PLIES))
    for before, after in itertools.pairwise(played):
        yield (
            before,
            next(option for option in before.options if (_after(game, before, option).state == after.state).all()),
        )


def _after(game: Game, node: Node, ply: int) -> Position:
    return game.position(node.state).stepped(ply)


def _require_same(wanted: Position, found: Position, text: str) -> None:
    for what, one, other in (
        ("seat to move", wanted.to_move, found.to_move),
        ("legal actions", wanted.legal_actions(), found.legal_actions()),
        ("cells", *(p.game.cell_values(p.state).tolist() for p in (wanted, found))),
    ):
        if one != other:
            raise LawBroken(f"position_of of {wanted.game} must give the {what} {one} for {text!r}, got {other}")
