"""One moment of a match as a board, and the name of a match."""

from __future__ import annotations

from turnier.agents.registry import label_of
from turnier.arena.analysis.reanalysis import Moment
from turnier.arena.match import MatchRecord
from turnier.core.number_text import number
from turnier.games.game import Game


def board_svg(game: Game, moment: Moment) -> str:
    """Returns the position as SVG, with the last move marked."""
    return game.svg(moment.position.state, moment.changed)


def match_name(record: MatchRecord) -> str:
    """Returns the agents with their scores, and the seed."""
    pairs = zip(record.spec.agents, record.scores, strict=True)
    seats = " against ".join(f"{label_of(agent)} ({number(score)})" for agent, score in pairs)
    return f"{seats}, seed {record.spec.seed}"
