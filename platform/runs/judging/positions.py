"""Positions for judging agents: one from each of many random games."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...arena.match import derive_seed
from ...arena.repeated_search import SeenPosition
from ...core.errors import MAX_IN_MEMORY, UserError, require_at_most
from ...games.game import Game, Position

GAMES_EACH = 20  # random games per requested position, after which the game counts as having no more positions


def draw_positions(game: Game, count: int, seed: int) -> Iterator[SeenPosition]:
    """Yields different positions with at least two legal actions, at most `count` of them.

    Each is drawn from a random game of its own, with equal probability from all its positions of that kind. Fewer are
    yielded if the game hardly has more: drawing ends after 20 random games per requested position. A larger `count`
    begins with the same positions.
    """
    if count < 2:
        raise UserError(f"agents must be judged in at least 2 positions, got {count}; choose more.")
    require_at_most(MAX_IN_MEMORY, count, "positions")
    if seed < 0:
        raise UserError(f"a seed must be 0 or larger, got {seed}.")
    seen: set[str] = set()
    for number in range(GAMES_EACH * count):
        random = np.random.default_rng(derive_seed(seed, "judged", number))
        choices = list(_random_game(game, random))
        if not choices:
            continue
        position = SeenPosition.of(choices[random.integers(len(choices))])
        if position.id not in seen:
            seen.add(position.id)
            yield position
        if len(seen) == count:
            return


def _random_game(game: Game, random: np.random.Generator) -> Iterator[Position]:
    """Yields the positions of a random game that have at least two legal actions."""
    position = game.start()
    while not position.over:
        legal = position.legal_actions()
        if len(legal) > 1:
            yield position
        position = position.stepped(legal[random.integers(len(legal))])
