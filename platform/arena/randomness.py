"""Agents of ours that draw no random numbers: found by trial, and refused if they would repeat one game."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..agents.agent import Agent
from ..agents.registry import agent_of
from ..core.errors import UserError
from ..core.outside.classes import is_outside
from ..games.game import Game
from .play import play_match
from .positions import choose_by_move, collector_matches, search_specs
from .repeated_search import SeenPosition, searched_position
from .schedules.repeats import declared_draws, only_moves_differ

POSITIONS, SEARCHES = 8, 3  # for the trial
PLIES = 1000  # of the game that gives the positions
CLOCK = re.compile(r"milliseconds=[1-9]")  # in the text of an agent that searches by the clock


def decided_by_seeds(agent: str) -> bool:
    """Whether an agent (its text) is ours, known to this code, and neither a program nor stopped by the clock."""
    try:
        return not (is_outside(agent) or CLOCK.search(agent) or agent_of(agent).runs_program)
    except UserError:
        return False


def can_be_repeated(game: str, *agents: str) -> bool:
    """Whether seeds decide a whole match of a game and agents (their texts)."""
    return not is_outside(game) and all(map(decided_by_seeds, agents))


def tried_positions(game: Game, seed: int) -> list[SeenPosition]:
    """Returns some positions of a random game; none if there are no choices."""
    match = play_match(collector_matches(game.full_text(), "random", 1, seed)[0])
    return choose_by_move([match], (0, PLIES), POSITIONS, seed)


def draws_nothing(agent: Agent, positions: Sequence[SeenPosition], seed: int) -> bool:
    """Whether an agent's searches of each position are all the same, whatever their seeds."""
    found = dict[str, object]()
    for spec in search_specs(positions, agent.full_text(), SEARCHES, seed):
        done = searched_position(spec)
        said = done.action, done.visits, done.values
        if found.setdefault(spec.position.id, said) != said:
            return False
    return True


def repeats_one_game(game: Game, agents: Sequence[Agent]) -> bool:
    """Whether every seed gives the same game because no agent draws random numbers, as all of them declare.

    Args:
        game: the game; its matches begin at the start.
        agents: all participants.
    """
    text = game.full_text()
    return only_moves_differ(text) and all(declared_draws(text, agent.full_text()) is False for agent in agents)


def one_game(game: Game, agents: Sequence[Agent], cure: str) -> UserError:
    """Returns the error for agents that would repeat one game.

    Args:
        game: their game.
        agents: all participants.
        cure: the remedy.
    """
    names = " and ".join(dict.fromkeys(map(str, agents)))
    return UserError(
        f"the games of {names} at {game} must differ, but none of them draws random numbers: with every seed they would"
        f" play the same game; {cure}."
    )
