"""Whether games differ at all: where nobody draws random numbers, every seed gives the same game."""

from __future__ import annotations

from collections.abc import Sequence

from turnier.agents.agent import Agent
from turnier.arena.play import play_match
from turnier.arena.positions import choose_by_move, collector_matches, search_specs
from turnier.arena.repeated_search import SeenPosition, search_position
from turnier.core.errors import UserError
from turnier.core.outside.classes import is_outside
from turnier.games.game import Game

POSITIONS, SEARCHES = 8, 3  # that are tried
PLIES = 1000  # of the game from which they come


def tried_positions(game: Game, seed: int) -> list[SeenPosition]:
    """Returns some positions of a random game; none where there are no choices."""
    match = play_match(collector_matches(game.full_text(), "random", 1, seed)[0])
    return choose_by_move([match], (0, PLIES), POSITIONS, seed)


def draws_nothing(agent: Agent, positions: Sequence[SeenPosition], seed: int) -> bool:
    """Whether an agent's searches of each position are all the same, whatever their seeds."""
    found = dict[str, object]()
    for spec in search_specs(positions, agent.full_text(), SEARCHES, seed):
        done = search_position(spec)
        said = done.action, done.visits, done.values
        if found.setdefault(spec.position.id, said) != said:
            return False
    return True


def require_different_games(game: Game, agents: Sequence[Agent], seed: int, cure: str) -> None:
    """Raises UserError where every seed would give the same game: repeated, it says no more than once.

    Programs, and agents of others, are not asked, nor are games with simultaneous moves, where good agents mix theirs.

    Args:
        game: of the matches, which begin at its start.
        agents: all that take part.
        seed: of what is tried.
        cure: what to do, for the sentence.
    """
    if game.has_chance or game.kernels.has_observe:
        return
    if any(agent.runs_program or is_outside(agent.full_text()) for agent in agents):
        return
    positions = tried_positions(game, seed)
    if positions and all(draws_nothing(agent, positions, seed) for agent in agents):
        names = " and ".join(dict.fromkeys(map(str, agents)))
        raise UserError(
            f"the games of {names} at {game} must differ, but none of them draws random numbers: with every seed they"
            f" would play the same game; {cure}."
        )
