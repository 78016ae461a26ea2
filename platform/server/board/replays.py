"""A stored match for the page: all boards, moves and scores at once, so that stepping needs no requests."""

from __future__ import annotations

from typing import Any

from ...agents.registry import label_of
from ...arena.analysis.reanalysis import Reanalysis
from ...arena.match import MatchRecord
from .frames import Frames


def replay_of(record: MatchRecord, run: str) -> dict[str, Any]:
    """Returns a match as JSON; raises UserError if its moves are not legal.

    `boards` has the boards before each decision and the last one, see `Frames`; `moves` has one entry per decision,
    with the `returns` of all seats before it.
    """
    review = Reanalysis(record)
    game, frames = review.game, Frames()
    for moment in review.moments:
        frames.add(game.svg(moment.position.state, moment.changed))
    moves = [
        {
            "seat": moment.seat,
            "name": game.move_text(moment.position.state, moment.action),
            "action": moment.action,
            "opening": moment.opening,
            "returns": moment.position.returns.tolist(),
        }
        for moment in review.moments[:-1]
    ]
    return {
        "id": record.spec.id,
        "run": run,
        "game": str(game),
        "agents": [label_of(agent) for agent in record.spec.agents],
        "scores": list(record.scores),
        "seed": str(record.spec.seed),  # too many digits for JavaScript's numbers
        "termination": str(record.termination),
        "error": record.error,
        "chance": game.has_chance,
        "secondsPerDecision": review.seconds_per_decision,
        "elements": frames.elements,
        "boards": frames.boards,
        "moves": moves,
        "returns": review.moments[-1].position.returns.tolist(),
    }
