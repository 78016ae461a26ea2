"""An analysis as data, for the command line and for programs that ask over HTTP."""

from __future__ import annotations

from typing import Any

from ..arena.analysis import AgentAnalysis, Analysis, Outlook
from ..games.game import Position


def analysis_data(found: Analysis) -> dict[str, Any]:
    """Returns an analysis as JSON values, with null for unknown ones.

    Values are in each agent's unit. `outlook` has the results of the games continued from every move.
    """
    position, outlook = found.position, found.outlook
    return {
        "game": position.game.full_text(),
        "board": position.game.board_text(position.state),
        "to_move": position.to_move,
        "seconds": found.seconds,
        "agents": [_agent_data(position, one) for one in found.agents],
        "outlook": None if outlook is None else _outlook_data(position, outlook),
    }


def measures(one: AgentAnalysis) -> dict[str, float]:
    """Returns the normalised certainty and the agreement of at least two searches of a choice."""
    if one.searches < 2 or len(one.legal) < 2:
        return {}
    from ..results.frames.certainty import position_certainty, searches_frame

    row = position_certainty(searches_frame(one.records)).iloc[0]
    return {name: float(row[name]) for name in ("normalised", "agreement")}


def _agent_data(position: Position, one: AgentAnalysis) -> dict[str, Any]:
    game, state = position.game, position.state
    moves = [
        {
            "move": game.move_text(state, action),
            "action": action,
            "value": one.values[i] * one.unit.scale if one.visits[i] else None,
            "visits": one.visits[i],
            "votes": one.votes[i],
        }
        for i, action in enumerate(one.legal)
    ]
    return {
        "agent": one.agent,
        "searching": one.searching,
        "searches": one.searches,
        "best": game.move_text(state, one.best),
        "certainty": one.certainty,
        "certainty_low": one.certainty_interval.low,
        "certainty_high": one.certainty_interval.high,
        **measures(one),
        "unit": one.unit.text,
        "nodes": one.nodes,
        "search_seconds": one.seconds,
        "line": [ply.name for ply in one.line],
        "moves": moves,
    }


def _outlook_data(position: Position, outlook: Outlook) -> dict[str, Any]:
    names = [position.game.move_text(position.state, action) for action in position.legal_actions()]
    moves = zip(names, outlook.moves, strict=True)
    return {
        "played_on_by": outlook.player,
        "goal": None if outlook.goal is None else outlook.goal.data(),
        "moves": [{"move": name} | one.data(outlook.goal) for name, one in moves],
    }
