"""Which matches a tournament plays: a schedule is a pure function of the agents and the seed, apart from playing."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator, Sequence

from turnier.agents.agent import Agent
from turnier.arena.spec import MatchRecord, MatchSpec, derive_seed
from turnier.games.errors import UserError
from turnier.games.game import Game, Position

# A schedule that needs results: it yields rounds of matches and is sent the records of each, in the order of the specs.
# The size of a round never depends on the workers, so that whoever plays plays the same matches.
Rounds = Generator[list[MatchSpec], list[MatchRecord], None]


def seat_orders(num_seats: int) -> list[tuple[int, ...]]:
    """Returns the seat orders that one group of agents plays on one seed: all up to three seats, then rotations."""
    if num_seats <= 3:
        return list(itertools.permutations(range(num_seats)))
    return [tuple((i + shift) % num_seats for i in range(num_seats)) for shift in range(num_seats)]


def openings(game: Game, plies: int) -> list[tuple[int, ...]]:
    """Returns every opening of at most that many plies that leaves something to play, the empty one first.

    One ply is the "DiffStarts" of Weitz 2022, B.1: the start and every position after the first stone.
    """
    if plies and game.has_chance:
        raise UserError(f"openings need a game without chance, got {game}; leave them out.")
    found: list[tuple[int, ...]] = [()]
    level: list[tuple[tuple[int, ...], Position]] = [((), game.start())]
    for _ in range(plies):
        level = [((*opening, a), position.play(a)) for opening, position in level for a in position.legal_actions()]
        level = [(opening, position) for opening, position in level if not position.over]
        found += [opening for opening, _ in level]
    return found


def round_robin(game: Game, agents: Sequence[Agent], games: int, seed: int, opening_plies: int = 0) -> list[MatchSpec]:
    """Returns a round robin in which every group of agents competes in all roles.

    Args:
        agents: one or more for a one-seat game (each plays alone, all on the same seeds), else at least as many as
            the game has seats; naming an agent twice lets it play itself.
        games: matches of each group, rounded up to whole sets of seat orders (and openings) on one seed.
        seed: the tournament's seed; every match's own seed depends on it, on the repetition and on nothing else.
        opening_plies: play from every position after at most that many plies, see `openings`.
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
    starts = openings(game, opening_plies)
    return list(_matches(game, [agent.full_text() for agent in agents], starts, games, seed))


def _matches(
    game: Game, agents: list[str], starts: list[tuple[int, ...]], games: int, seed: int
) -> Iterator[MatchSpec]:
    text, num_seats = game.full_text(), game.num_seats
    for group in itertools.combinations(agents, num_seats):
        # An agent against itself has fewer orders: those that differ.
        orders = list(dict.fromkeys(tuple(group[i] for i in order) for order in seat_orders(num_seats)))
        for repetition in range(-(-games // (len(orders) * len(starts)))):
            for opening in starts:
                match_seed = derive_seed(seed, repetition, *opening)
                for order in orders:
                    yield MatchSpec(text, order, match_seed, opening=opening)
