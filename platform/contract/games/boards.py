"""The laws of boards and of texts for people: cells, symmetries, neighbours, names, drawings and facts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from ...core.errors import UserError
from ...games.abi import CHANCE
from ...games.game import Game, Position
from ...games.setup.moves import MOVES
from ..law import LawBroken
from .random_games import FENCE, SEEDS, Node, nodes, walk


def law_cells(game: Game) -> None:
    """`cells` writes every cell's value, from 0 to `num_cell_values` - 1."""
    for node in nodes(game):
        values = np.full(game.num_cells, FENCE, np.int64)
        game.kernels.cells(node.state, values)
        if not ((values >= 0) & (values < game.num_cell_values)).all():
            shown = ["not written" if value == FENCE else int(value) for value in values]
            raise LawBroken(f"cell values of {game} must be from 0 to {game.num_cell_values - 1}, got {shown} {node}")


def law_placed_stones(game: Game) -> None:
    """If a game places stones, an action with a cell's number changes only that cell; stones of a state are alike."""
    if not game.places_stones:
        return
    for node in nodes(game):
        before, changes = game.cell_values(node.state), set()
        for action in (option for option in node.options if node.mover >= 0 and option < game.num_cells):
            after = node.state.copy()
            game.kernels.step(after, action, np.zeros(game.num_seats))
            cells = game.cell_values(after)
            changed = np.flatnonzero(cells != before).tolist()
            if changed != [action]:
                must = f"change only cell {action}, since places_stones is set"
                raise LawBroken(f"action {action} of {game} must {must}, got the cells {changed} changed {node}")
            changes.add((int(before[action]), int(cells[action])))
        if len(changes) > 1:
            raise LawBroken(f"all stones of a state of {game} must be alike, got changes of values {changes} {node}")


def law_symmetries(game: Game) -> None:
    """Symmetries are permutations of the cells, each once, identity first, closed under composition."""
    table = game.symmetries()
    if table.ndim != 2 or table.shape[1] != game.num_cells:
        raise LawBroken(f"symmetries of {game} must be of shape [n, {game.num_cells}], got {list(table.shape)}")
    every = np.arange(game.num_cells)
    if not (np.sort(table, axis=1) == every).all():
        raise LawBroken(f"symmetries of {game} must be permutations of its cells, got {table.tolist()}")
    if not (table[0] == every).all():
        raise LawBroken(f"the first symmetry of {game} must be the identity, got {table[0]}")
    rows = {tuple(row) for row in table.tolist()}
    if len(rows) != len(table):
        raise LawBroken(f"symmetries of {game} must all differ, got {len(table)} rows, {len(rows)} different ones")
    for a, b in ((a, b) for a in table for b in table):
        if tuple(a[b].tolist()) not in rows:
            raise LawBroken(f"symmetries of {game} must be closed under composition, but {a} after {b} is not one")


def law_neighbours(game: Game) -> None:
    """Neighbours are mutual, no cell is its own neighbour, and every symmetry keeps neighbours."""
    around = [set(cells) for cells in game.neighbours()]
    if len(around) != game.num_cells:
        raise LawBroken(f"{game} must list the neighbours of each of its {game.num_cells} cells, got {len(around)}")
    for cell, cells in enumerate(around):
        if not cells <= set(range(game.num_cells)):
            raise LawBroken(f"neighbours of {game} must be cells, got {cells} next to {cell}")
        if cell in cells:
            raise LawBroken(f"no cell of {game} may be its own neighbour, got {cell}")
        for other in cells:
            if cell not in around[other]:
                raise LawBroken(f"neighbours of {game} must be mutual, but {cell} has {other}, {other} lacks {cell}")
    for symmetry in game.symmetries().tolist():
        for cell, cells in enumerate(around):
            if {symmetry[each] for each in cells} != around[symmetry[cell]]:
                raise LawBroken(f"symmetry {symmetry} of {game} must keep neighbours, but separates those of {cell}")


def law_texts(game: Game) -> None:
    """Options of a node have distinct names, every state has a drawing, final states have facts for all milestones."""
    for seed in SEEDS:
        for node in walk(game, seed):
            name = game.outcome_name if node.mover == CHANCE else game.action_name
            names = [name(option) for option in node.options]
            if len(set(names)) != len(names) or not all(names):
                raise LawBroken(f"options of {game} must differ in name, got {names} {node}")
            if not game.draw(node.state).strip():
                raise LawBroken(f"draw of {game} must return a text, got none {node}")
        facts = game.facts(node.state)
        if not set(game.milestones) <= set(facts):
            raise LawBroken(f"facts of {game} must hold its milestones {set(game.milestones)}, got {facts} {node}")


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
