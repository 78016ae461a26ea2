"""Round robins and gauntlets: the matches of a tournament as a pure function of its agents and seed."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterable, Iterator, Sequence

from turnier.agents.agent import Agent
from turnier.arena.match import MatchRecord, MatchSpec, derive_seed
from turnier.core.errors import UserError
from turnier.games.game import Game, Position

# A schedule that needs results: it yields rounds of matches and is sent the records of each, in the order of the specs.
# The size of a round never depends on the workers, so that the same matches are played everywhere.
Rounds = Generator[list[MatchSpec], list[MatchRecord], None]


def seat_orders(num_seats: int) -> list[tuple[int, ...]]:
    """Returns the seat orders in which agents play one seed: all of them for up to three seats, otherwise rotations."""
    if num_seats <= 3:
        return list(itertools.permutations(range(num_seats)))
    return [tuple((i + shift) % num_seats for i in range(num_seats)) for shift in range(num_seats)]


def openings(game: Game, plies: int) -> list[tuple[int, ...]]:
    """Returns every opening of at most that many plies that does not end the game, the empty one first.

    One ply is the "DiffStarts" of Weitz 2022, B.1: the start and every position after the first stone.
    """
    if plies and game.has_chance:
        raise UserError(f"openings need a game without chance, got {game}; omit them.")
    playable: list[tuple[int, ...]] = [()]
    level: list[tuple[tuple[int, ...], Position]] = [((), game.start())]
    for _ in range(plies):
        level = [((*opening, a), position.play(a)) for opening, position in level for a in position.legal_actions()]
        level = [(opening, position) for opening, position in level if not position.over]
        playable += [opening for opening, _ in level]
    return playable


def round_robin(
    game: Game, agents: Sequence[Agent], games: int, seed: int, opening_plies: int = 0, exactly: bool = False
) -> list[MatchSpec]:
    """Returns a round robin in which every group of agents competes in all roles.

    Args:
        agents: at least as many as the game has seats (all play a single-player game on the same seeds); naming an
            agent twice lets it play itself.
        games: matches per group, rounded up to whole sets of seat orders (and openings) on one seed.
        seed: the tournament's seed; every match's own seed depends only on it and on the repetition.
        opening_plies: play from every position after at most this many plies, see `openings`.
        exactly: do not round up, see `matches_of`.
    """
    texts = check_field(game, agents, games, seed)
    groups = itertools.combinations(texts, game.num_seats)
    return list(matches_of(game, groups, games, (seed,), openings(game, opening_plies), exactly))


def gauntlet(
    game: Game,
    agents: Sequence[Agent],
    challengers: int,
    games: int,
    seed: int,
    opening_plies: int = 0,
    exactly: bool = False,
) -> list[MatchSpec]:
    """Returns the matches of each of the first agents against every group of the others, in all roles.

    Args:
        challengers: number of agents, from the first, that play against all others.
        agents, games, seed, opening_plies, exactly: as in `round_robin`, whose matches these are a part of.
    """
    texts = check_field(game, agents, games, seed)
    if game.num_seats == 1:
        raise UserError(f"a gauntlet needs a game of two or more seats, got {game}; use the format round_robin.")
    field = texts[challengers:]
    if challengers < 1 or len(field) < game.num_seats - 1:
        raise UserError(
            f"a gauntlet of {game} must have at least 1 challenger and a field of {game.num_seats - 1}, got"
            f" {challengers} and {len(field)}; name more agents."
        )
    fields = list(itertools.combinations(field, game.num_seats - 1))
    groups = ((challenger, *rest) for challenger in texts[:challengers] for rest in fields)
    return list(matches_of(game, groups, games, (seed,), openings(game, opening_plies), exactly))


def check_field(game: Game, agents: Sequence[Agent], games: int, seed: int) -> list[str]:
    """Returns the full texts of a tournament's agents; raises UserError where it cannot be played."""
    if games < 1:
        raise UserError(f"a tournament must have at least 1 game, got {games}; choose more.")
    if seed < 0:
        raise UserError(f"a seed must be 0 or larger, got {seed}.")
    if len(agents) < game.num_seats:
        raise UserError(
            f"{game} needs at least {game.num_seats} agents, got {len(agents)}; name one twice to let it play itself."
        )
    for agent in agents:
        agent.require(game)
    return [agent.full_text() for agent in agents]


def matches_of(
    game: Game,
    groups: Iterable[tuple[str, ...]],
    games: int,
    seeds: tuple[int, ...],
    starts: Sequence[tuple[int, ...]],
    exactly: bool = False,
) -> Iterator[MatchSpec]:
    """Yields the matches of groups of agents in all seat orders, from every start, all groups on the same seeds.

    Args:
        games: matches per group, rounded up to whole sets of seat orders and starts.
        seeds: what the matches' seeds depend on in addition to the repetition and the start.
        exactly: do not round up: the last set has as many starts as are left, drawn by the seeds and the same for all
            groups, and of the last start only some seat orders, in which no seat is an agent's more than once more
            often than another. A larger number of games adds matches to these.
    """
    text, num_seats = game.full_text(), game.num_seats
    for place, group in enumerate(groups):
        # An agent against itself has fewer orders: those that differ.
        orders = list(dict.fromkeys(tuple(group[i] for i in order) for order in seat_orders(num_seats)))
        left = games
        for repetition in range(-(-games // (len(orders) * len(starts)))):
            drawn = _drawn(starts, seeds, repetition) if exactly and left < len(orders) * len(starts) else starts
            for opening in drawn:
                match_seed = derive_seed(*seeds, repetition, *opening)
                some = _balanced(group, place)[:left] if exactly and left < len(orders) else orders
                for order in some:
                    yield MatchSpec(text, order, match_seed, opening=opening)
                left -= len(orders)
                if exactly and left <= 0:
                    break


def _drawn(starts: Sequence[tuple[int, ...]], seeds: tuple[int, ...], repetition: int) -> list[tuple[int, ...]]:
    """Returns the starts in an order that only the seeds decide."""
    return sorted(starts, key=lambda opening: derive_seed(*seeds, "opening", repetition, *opening))


def _balanced(group: tuple[str, ...], place: int) -> list[tuple[str, ...]]:
    """Returns the seat orders with rotations first, any number of which shares the seats evenly.

    Args:
        place: of the group; groups begin with different rotations, so that no agent always has the first seat.
    """
    n = len(group)
    rotations = [tuple((i + place + shift) % n for i in range(n)) for shift in range(n)]
    others = [tuple(reversed(order)) for order in rotations] if n == 3 else []
    return list(dict.fromkeys(tuple(group[i] for i in order) for order in rotations + others))
