"""Round robins and gauntlets: the matches of a tournament as a pure function of its agents and seed."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...agents.agent import Agent
from ...core.errors import MAX_GAMES, UserError, require_at_most
from ...games.game import Game, Position
from ..match import MatchRecord, MatchSpec, begin_of_seeds, derive_seed, seeds_after
from .digests import digests_of
from .spec_columns import Ints, SpecColumns

# A schedule that needs results: it yields rounds of matches and is sent the records of each, in the order of the specs.
# The size of a round never depends on the workers: the same matches are played everywhere.
Rounds = Generator[list[MatchSpec], list[MatchRecord], None]

MAX_OPENINGS = 100_000


class MatchPlan(Collection[MatchSpec]):
    """The matches of a schedule, generated on every iteration: they take no memory, and their number is computed.

    Args:
        groups: agents that play each other; a group is not repeated in another order.
        game, games, seeds, starts, exactly, own_seeds: as in `matches_of`.
    """

    def __init__(
        self,
        game: Game,
        groups: Iterable[tuple[str, ...]],
        games: int,
        seeds: tuple[int, ...],
        starts: Sequence[tuple[int, ...]],
        exactly: bool = False,
        own_seeds: bool = False,
    ) -> None:
        self._game, self._games, self._seeds, self._starts, self._exactly = game, games, seeds, starts, exactly
        self._own_seeds = own_seeds
        self._groups = list(groups)
        if not exactly:  # otherwise the same agents in another place may have other matches
            different: dict[frozenset[tuple[str, ...]], tuple[str, ...]] = {}
            for group in self._groups:
                different.setdefault(frozenset(_seatings(group)), group)
            self._groups = list(different.values())
        sets = [1 if exactly else len(_seatings(group)) * len(starts) for group in self._groups]
        self._length = sum(-(-games // size) * size for size in sets)
        require_at_most(MAX_GAMES, self._length, "games of a tournament")

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[MatchSpec]:
        set_by = self._seeds, self._starts, self._exactly, self._own_seeds
        return matches_of(self._game, self._groups, self._games, *set_by)

    def __contains__(self, spec: object) -> bool:
        return any(spec == own for own in self)

    @property
    def has_no_repeats(self) -> bool:
        """Whether all matches differ; groups that are named twice may have equal ones."""
        return len({tuple(sorted(group)) for group in self._groups}) == len(self._groups)

    def columns(self, size: int) -> Iterator[SpecColumns]:
        """Yields the matches in the order of iteration, about `size` at a time."""
        set_by = self._games, self._seeds, self._starts, self._exactly, self._own_seeds
        rules = _Rules(self._game.full_text(), *set_by)
        parts: list[SpecColumns] = []
        for place, group in enumerate(self._groups):
            for part in _columns_of(rules, group, place, size):
                parts.append(part)
                if sum(map(len, parts)) >= size:
                    yield SpecColumns.concatenated(parts)
                    parts = []
        if parts:
            yield SpecColumns.concatenated(parts)

    def examples(self) -> Iterator[MatchSpec]:
        """Yields a match for every way in which agents take the seats: all of these must be playable."""
        text = self._game.full_text()
        return (MatchSpec(text, seating, 0) for group in self._groups for seating in _seatings(group))


def seat_orders(num_seats: int) -> list[tuple[int, ...]]:
    """Returns the seat orders for each seed: all for up to three seats, otherwise the rotations."""
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
    for ply in range(plies):
        before, level = level, []
        for opening, position in before:
            after = [((*opening, action), position.play(action)) for action in position.legal_actions()]
            level += [(longer, reached) for longer, reached in after if not reached.over]
            if len(playable) + len(level) > MAX_OPENINGS:
                raise UserError(
                    f"there must be at most {MAX_OPENINGS:,} openings, got more of {game} with {plies} plies; choose at"
                    f" most {ply}."
                )
        if not level:
            break
        playable += [opening for opening, _ in level]
    return playable


def plies_for_openings(game: Game, wanted: int) -> int:
    """Returns the fewest plies that give that many `openings`, or as many as possible."""
    plies, known = 0, 1
    with contextlib.suppress(UserError):
        while known < wanted and (more := len(openings(game, plies + 1))) > known:
            plies, known = plies + 1, more
    return plies


def round_robin(
    game: Game,
    agents: Sequence[Agent],
    games: int,
    seed: int,
    opening_plies: int = 0,
    exactly: bool = False,
    own_seeds: bool = False,
) -> MatchPlan:
    """Returns a round robin in which every group of agents competes in all roles.

    Args:
        agents: at least as many as the game has seats (all play a single-player game on the same seeds); an agent named
            twice plays itself.
        games: matches per group, rounded up to whole sets of seat orders (and openings) on one seed.
        seed: the tournament's seed; every match's own seed depends only on it, on the repetition and, with own seeds,
            on the agents.
        opening_plies: play from every position after at most this many plies, see `openings`.
        exactly: do not round up, see `matches_of`.
        own_seeds: see `matches_of`.
    """
    texts = check_field(game, agents, games, seed)
    groups = itertools.combinations(texts, game.num_seats)
    return MatchPlan(game, groups, games, (seed,), openings(game, opening_plies), exactly, own_seeds)


def gauntlet(
    game: Game,
    agents: Sequence[Agent],
    challengers: int,
    games: int,
    seed: int,
    opening_plies: int = 0,
    exactly: bool = False,
    own_seeds: bool = False,
) -> MatchPlan:
    """Returns the matches of each of the first agents against every group of the others, in all roles.

    Args:
        challengers: number of first agents, which play against all others.
        agents, games, seed, opening_plies, exactly, own_seeds: as in `round_robin`, which contains these matches.
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
    return MatchPlan(game, groups, games, (seed,), openings(game, opening_plies), exactly, own_seeds)


def check_field(game: Game, agents: Sequence[Agent], games: int, seed: int) -> list[str]:
    """Returns the full texts of a tournament's agents; raises UserError if it cannot be played."""
    if games < 1:
        raise UserError(f"a tournament must have at least 1 game, got {games}; choose more.")
    require_at_most(MAX_GAMES, games, "games of a tournament")
    if seed < 0:
        raise UserError(f"a seed must be 0 or larger, got {seed}.")
    if len(agents) < game.num_seats:
        raise UserError(
            f"{game} needs at least {game.num_seats} agents, got {len(agents)}; an agent named twice plays itself."
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
    own_seeds: bool = False,
) -> Iterator[MatchSpec]:
    """Yields the matches of groups of agents in all seat orders, from every start.

    Args:
        games: matches per group, rounded up to whole sets of seat orders and starts.
        seeds: decide the matches' seeds together with the repetition and the start.
        exactly: do not round up: the last set has only as many starts as needed, drawn by the seeds and the same for
            all groups. The last start has only some seat orders; an agent's counts of seats in them differ by at most
            one. A larger number of games adds matches to these.
        own_seeds: whether groups of several agents play on seeds of their own, which depend on the agents. On the same
            seeds an agent would have the same luck against all others, and games of a seed would say less together
            (docs/validity.md).
    """
    rules = _Rules(game.full_text(), games, seeds, starts, exactly, own_seeds)
    for place, group in enumerate(groups):
        yield from _of_group(rules, group, place)


class _Rules(NamedTuple):
    """The arguments of `matches_of` that are the same for all groups."""

    game: str
    games: int
    seeds: tuple[int, ...]
    starts: Sequence[tuple[int, ...]]
    exactly: bool
    own_seeds: bool

    def begin(self, group: tuple[str, ...]) -> tuple[int | str, ...]:
        """Returns the first parts of the seeds of a group."""
        return group_seeds(self.seeds, group) if self.own_seeds and len(group) > 1 else self.seeds


def _of_group(rules: _Rules, group: tuple[str, ...], place: int, sets: int = 0) -> Iterator[MatchSpec]:
    """Yields the matches of a group at that place after the first `sets` whole sets."""
    _, games, seeds, starts, exactly, _ = rules
    seed_of, orders = seeds_after(*rules.begin(group)), _seatings(group)
    of_set = len(orders) * len(starts)
    left = games - sets * of_set
    for repetition in range(sets, -(-games // of_set)):
        drawn = _drawn(starts, seeds, repetition) if exactly and left < of_set else starts
        for opening in drawn:
            match_seed = seed_of(repetition, *opening)
            some = _balanced(group, place)[:left] if exactly and left < len(orders) else orders
            for order in some:
                yield MatchSpec(rules.game, order, match_seed, opening=opening)
            left -= len(orders)
            if exactly and left <= 0:
                break


def _columns_of(rules: _Rules, group: tuple[str, ...], place: int, size: int) -> Iterator[SpecColumns]:
    """Yields the matches of `_of_group` in whole sets, about `size` matches at a time."""
    orders, starts, begin = _seatings(group), list(rules.starts), rules.begin(group)
    of_set = len(orders) * len(starts)
    sets = rules.games // of_set if rules.exactly else -(-rules.games // of_set)
    step = max(1, size // of_set)
    for first in range(0, sets, step):
        repetitions = np.arange(first, min(first + step, sets))
        seeds = np.stack([_seeds_of(begin, repetitions, opening) for opening in starts], axis=1).ravel()
        lineup = np.tile(np.arange(len(orders)), len(seeds))
        opening = np.tile(np.repeat(np.arange(len(starts)), len(orders)), len(repetitions))
        yield SpecColumns(rules.game, orders, starts, np.repeat(seeds, len(orders)), lineup, opening)
    if rest := list(_of_group(rules, group, place, sets)):
        yield SpecColumns.of(rules.game, rest)


def _seeds_of(begin: tuple[int | str, ...], repetitions: Ints, opening: tuple[int, ...]) -> Ints:
    """Returns `derive_seed` of the beginning, each repetition, and the opening."""
    end = "".join(f",{ply}" for ply in opening)
    words = digests_of(begin_of_seeds(*begin), repetitions, f"{end}]".encode())[:, :8]
    return (np.ascontiguousarray(words).view("<u8")[:, 0] >> np.uint64(1)).astype(np.int64)


def group_seeds(seeds: tuple[int, ...], group: Sequence[str]) -> tuple[int | str, ...]:
    """Returns the first parts of the seeds of a group of agents, independent of their order."""
    return (*seeds, "group", *sorted(group))


def _seatings(group: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Returns the different orders in which a group takes the seats; an agent against itself has fewer."""
    return list(dict.fromkeys(tuple(group[i] for i in order) for order in seat_orders(len(group))))


def _drawn(starts: Sequence[tuple[int, ...]], seeds: tuple[int, ...], repetition: int) -> list[tuple[int, ...]]:
    """Returns the starts in an order decided by the seeds alone."""
    return sorted(starts, key=lambda opening: derive_seed(*seeds, "opening", repetition, *opening))


def _balanced(group: tuple[str, ...], place: int) -> list[tuple[str, ...]]:
    """Returns the seat orders, rotations first: any number of the first ones shares the seats evenly.

    Args:
        place: place of the group; groups begin with different rotations, so no agent always has the first seat.
    """
    n = len(group)
    rotations = [tuple((i + place + shift) % n for i in range(n)) for shift in range(n)]
    others = [tuple(reversed(order)) for order in rotations] if n == 3 else []
    return list(dict.fromkeys(tuple(group[i] for i in order) for order in rotations + others))
