"""Matches that tests play, named by short texts."""

from __future__ import annotations

from typing import Any

from turnier.agents.agent import Agent
from turnier.agents.registry import make_agent
from turnier.arena.match import MatchRecord, MatchSpec
from turnier.arena.play import play_match
from turnier.games.game import Game
from turnier.games.registry import make_game


def spec_of(game: str | Game, *agents: str | Agent, seed: int = 1, **fields: Any) -> MatchSpec:
    """Returns a match of agents, or of a single one with itself, with all parameters in their text forms."""
    made = make_game(game) if isinstance(game, str) else game
    texts = tuple((make_agent(agent) if isinstance(agent, str) else agent).full_text() for agent in agents)
    return MatchSpec(made.full_text(), texts * (made.num_seats if len(texts) == 1 else 1), seed, **fields)


def played(game: str | Game, *agents: str | Agent, seed: int = 1, **fields: Any) -> MatchRecord:
    """Plays a match, as `spec_of` makes it."""
    return play_match(spec_of(game, *agents, seed=seed, **fields))
