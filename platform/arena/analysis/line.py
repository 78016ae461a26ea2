"""Principal variations: an agent's expected line, found by asking it again after each of its best moves.

This works for any agent, with or without a tree, and the same seeds give the same line.
"""

from __future__ import annotations

from typing import NamedTuple

from ...games.abi import CHANCE
from ...games.game import Position
from ..match import derive_seed
from ..repeated_search import SearchSpec, SeenPosition, searched_position


class LinePly(NamedTuple):
    """A ply of a line; for chance, the most likely outcome, among equals the first."""

    seat: int  # or CHANCE
    ply: int
    name: str


def line_after(position: Position, action: int, agent: str, plies: int, seed: int) -> tuple[LinePly, ...]:
    """Returns at most `plies` decisions, starting with an action, and the chance outcomes between them.

    Args:
        position: before the action.
        action: a legal action.
        agent: full text of the agent that then decides for all seats.
        plies: maximum decisions, including that action.
        seed: seed of the agent.
    """
    line: list[LinePly] = []
    while plies > 0 and not position.over:
        mover = position.to_move
        if mover == CHANCE:
            ply = max(position.outcomes(), key=lambda outcome: outcome[1])[0]
            name = position.game.outcome_name(ply)
        else:
            ply = action if not line else _asked(position, agent, derive_seed(seed, len(line)))
            name, plies = position.game.action_name(ply), plies - 1
        line.append(LinePly(mover, ply, name))
        position = position.play(ply, draw_chance=False)
    return tuple(line)


def _asked(position: Position, agent: str, seed: int) -> int:
    legal = position.legal_actions()
    return legal[0] if len(legal) == 1 else searched_position(SearchSpec(SeenPosition.of(position), agent, seed)).action
