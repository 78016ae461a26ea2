"""Positions for measuring certainty, the consistency of an agent's repeated searches (Kutsch 2017, 2.4, 9.1).

Positions come from real games, grouped by their number of legal actions and by the game's phase (in 2048 the number of
empty cells), the same number from each group. The choice depends only on the games and a seed.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..agents.registry import AGENTS
from ..core.errors import MAX_IN_MEMORY, UserError, require_at_most
from ..games.registry import GAMES
from .match import MatchRecord, MatchSpec, derive_seed
from .play import replay_positions
from .repeated_search import SearchSpec, SeenPosition

# Default agent for the games of positions: fast, and strong enough to reach all phases of a game.
COLLECTOR = "mc(iterations=50,rollout_depth=20,score_method=2)"  # in full: no new default may change its games


class Group(NamedTuple):
    """A group of positions whose certainty is averaged."""

    legal: int  # number of legal actions
    phase: int


def collector_matches(game: str, collector: str, games: int, seed: int) -> list[MatchSpec]:
    """Returns the matches for collecting positions: the collector in every seat, each match with its own seed."""
    if games < 1:
        raise UserError(f"positions must come from at least 1 game, got {games}; choose more.")
    require_at_most(MAX_IN_MEMORY, games, "games that positions come from")
    if seed < 0:
        raise UserError(f"a seed must be 0 or larger, got {seed}.")
    made, agent = GAMES.make(game), AGENTS.make(collector)
    agent.require(made)
    seats = (agent.full_text(),) * made.num_seats
    return [MatchSpec(made.full_text(), seats, derive_seed(seed, "collect", i)) for i in range(games)]


def choose_positions(records: Iterable[MatchRecord], states: int, seed: int) -> dict[Group, list[SeenPosition]]:
    """Chooses different positions with at least two legal actions from played matches.

    Args:
        records: the matches, in any order.
        states: maximum positions per group; fewer if the matches have no more.
        seed: seed of the choice. The matches give one position each in turn, which spreads a group over them.

    Returns:
        The positions of each group, the groups in ascending order; each knows its match.
    """
    if states < 1:
        raise UserError(f"a group must have at least 1 state, got {states}; choose more.")
    require_at_most(MAX_IN_MEMORY, states, "states of a group")
    matches = tuple(sorted(((r.spec, r.plies) for r in records), key=lambda match: match[0].id))
    return _chosen(matches, states, seed)


@functools.lru_cache(maxsize=8)  # an experiment asks for every row
def _chosen(matches: tuple[tuple[MatchSpec, bytes], ...], states: int, seed: int) -> dict[Group, list[SeenPosition]]:
    turns: dict[Group, list[tuple[int, float, str, SeenPosition]]] = defaultdict(list)
    for spec, plies in matches:
        for group, drawn in _draw(spec, plies, seed).items():
            turns[group] += [(turn, order, p.id, p) for turn, (order, p) in enumerate(drawn[:states])]
    chosen = {}
    for group in sorted(turns):
        different: dict[str, SeenPosition] = {}
        for *_, position in sorted(turns[group], key=lambda turn: turn[:3]):
            different.setdefault(position.id, position)
        chosen[group] = list(different.values())[:states]
    return chosen


@functools.lru_cache(maxsize=128)
def _draw(spec: MatchSpec, plies: bytes, seed: int) -> dict[Group, list[tuple[float, SeenPosition]]]:
    """Returns the positions of one match by group in random order, with the numbers that order them.

    The numbers of a match depend only on its spec: adding matches does not change them.
    """
    random = np.random.default_rng(derive_seed(seed, "choose", spec.id))
    groups: dict[Group, list[tuple[float, SeenPosition]]] = defaultdict(list)
    for seen in seen_in(spec, plies):
        if len(seen.legal) > 1:
            groups[Group(len(seen.legal), seen.phase)].append((random.random(), seen))
    return {group: sorted(drawn, key=lambda one: one[0]) for group, drawn in groups.items()}


def choose_by_move(
    records: Iterable[MatchRecord], moves: tuple[int, ...], states: int, seed: int
) -> list[SeenPosition]:
    """Chooses at most `states` positions from played matches, from move moves[0] up to but excluding moves[1].

    Only positions with at least two legal actions; moves of all seats count, from 0.
    """
    first, last = moves
    matches = sorted(((r.spec, r.plies) for r in records), key=lambda match: match[0].id)
    between = {p.id: p for match in matches for p in seen_in(*match)[first:last] if len(p.legal) > 1}
    random = np.random.default_rng(derive_seed(seed, "moves", first, last))
    positions = list(between.values())
    return [positions[i] for i in random.permutation(len(positions))[:states]]


@functools.lru_cache(maxsize=128)  # replaying takes longest, and an experiment asks for every row
def seen_in(spec: MatchSpec, plies: bytes) -> tuple[SeenPosition, ...]:
    """Returns the positions of a match as the seats to move saw them."""
    return tuple(SeenPosition.of(p, spec.id) for p in replay_positions(spec, plies) if p.to_move >= 0)


def search_specs(positions: Sequence[SeenPosition], agent: str, repeats: int, seed: int) -> list[SearchSpec]:
    """Returns the searches of positions by an agent; seeds depend only on the position, the repeat and `seed`."""
    if repeats < 2:
        raise UserError(f"certainty needs at least 2 searches of a state, got {repeats}; repeat them.")
    require_at_most(MAX_IN_MEMORY, repeats * max(1, len(positions)), "searches of all states")
    text = AGENTS.make(agent).full_text()
    return [SearchSpec(p, text, derive_seed(seed, p.id, repeat)) for p in positions for repeat in range(repeats)]
