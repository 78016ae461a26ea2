"""Which matches a tournament plays: a schedule is a pure function of the agents and the seed, apart from playing."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from turnier.agents.agent import Agent
from turnier.arena.spec import MatchSpec, derive_seed
from turnier.games.errors import UserError
from turnier.games.game import Game


def seat_orders(num_seats: int) -> list[tuple[int, ...]]:
    """Returns the seat orders that one group of agents plays on one seed: all up to three seats, then rotations."""
    if num_seats <= 3:
        return list(itertools.permutations(range(num_seats)))
    return [tuple((i + shift) % num_seats for i in range(num_seats)) for shift in range(num_seats)]


def round_robin(game: Game, agents: Sequence[Agent], games: int, seed: int) -> list[MatchSpec]:
    """Returns a round robin in which every group of agents competes in all roles.

    Args:
        agents: one or more for a one-seat game (each plays alone, all on the same seeds), else at least as many as
            the game has seats; naming an agent twice lets it play itself.
        games: matches of each group, rounded up to whole sets of seat orders on one seed.
        seed: the tournament's seed; every match's own seed depends on it, on the repetition and on nothing else.
    """
    if games < 1:
        raise UserError(f"a tournament must have at least 1 game, got {games}.")
    if seed < 0:
        raise UserError(f"a seed must be 0 or larger, got {seed}.")
    if len(agents) < game.num_seats:
        raise UserError(
            f"{game} needs at least {game.num_seats} agents, got {len(agents)}; name one twice to let it play itself."
        )
    for agent in agents:
        agent.require(game)
    return list(_matches(game.full_text(), game.num_seats, [a.full_text() for a in agents], games, seed))


def _matches(game: str, num_seats: int, agents: list[str], games: int, seed: int) -> Iterator[MatchSpec]:
    for group in itertools.combinations(agents, num_seats):
        # An agent against itself has fewer orders: those that differ.
        orders = list(dict.fromkeys(tuple(group[i] for i in order) for order in seat_orders(num_seats)))
        for repetition in range(-(-games // len(orders))):
            match_seed = derive_seed(seed, repetition)
            for order in orders:
                yield MatchSpec(game, order, match_seed)
