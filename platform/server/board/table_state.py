"""A table as seen by a person there, or by an onlooker, as JSON."""

from __future__ import annotations

from typing import Any

from ...agents.human.agent import Human
from ...games.abi import CHANCE
from .frames import moves_on
from .tables import Table, label, visible

HIDDEN = "…"  # in place of a move that others may not see yet


def state_of(table: Table, key: str) -> dict[str, Any]:
    """Returns the board and the seats, and for the seat to move the legal moves with the places to click."""
    match, seat = table.match, table.seat_of(key)
    shown, mover = visible(match, seat), -1 if match.over else match.position.to_move
    mine = seat is not None and seat == mover and not table.thinking
    svg = match.game.svg(shown.state, _changed(table, seat))
    legal = match.position.legal_actions() if mine else []
    return {
        "turn": table.turn,
        "game": str(match.game),
        "svg": svg,
        "seats": [
            {"name": label(agent), "human": isinstance(agent, Human), "returns": float(match.position.returns[number])}
            for number, agent in enumerate(match.agents)
        ],
        "seat": -1 if seat is None else seat,
        "toMove": mover,
        "thinking": table.thinking,
        "legal": moves_on(svg, match.game, match.position.state, legal),
        "moves": _moves(table, seat),
        "over": match.over,
        "ending": str(match.ending),
        "scores": list(match.record().scores) if match.over else [],
        "match": match.spec.id if table.stored else "",
        "trouble": table.trouble or match.error,
    }


def _moves(table: Table, seat: int | None) -> list[dict[str, Any]]:
    """Returns the moves of all seats, but of an unfinished round of simultaneous moves only the seat's own."""
    match = table.match
    known: list[dict[str, Any]] = [
        {"seat": before.to_move, "name": table.game.move_text(before.state, ply)}
        for before, ply in zip(match.before, match.plies, strict=False)  # an agent may be adding one
        if before.to_move != CHANCE
    ]
    if match.game.kernels.has_observe and not match.over:
        below = match.position.to_move  # seats commit in order: those of this round come before it
        for move in reversed(known):
            if move["seat"] >= below:
                break
            below = move["seat"]
            if move["seat"] != seat:
                move["name"] = HIDDEN
    return known


def _changed(table: Table, seat: int | None) -> tuple[int, ...]:
    """Returns the cells changed by the latest ply, if the seat may see it."""
    match = table.match
    if not match.before:
        return ()
    if match.game.kernels.has_observe and not match.over:
        return ()
    now, then = (match.game.cell_values(position.state) for position in (match.position, match.before[-1]))
    return tuple(int(cell) for cell in (now != then).nonzero()[0])
