"""Which network learns 2048 best in a given time, and how: what `turnier train 2048 --hours` chooses.

Measured on two cores of an AMD EPYC of 2023; docs/results/2048_learning.md has the figures.
"""

from __future__ import annotations

from typing import NamedTuple

from ....core.errors import UserError
from ....games.game import Game


class Preset(NamedTuple):
    """A network and a way to learn, as texts."""

    network: str
    learning: str


# Coherence, and lambda 0.5 over three boards.
METHOD = "td(trace=0.5,horizon=3,delayed=true)"
SMALL, LARGE = Preset("ntuple(network=4x6)", METHOD), Preset("ntuple(network=8x6)", METHOD)
LARGE_FROM = 1 / 30  # hours of one core


def preset_for(game: Game, hours: float, threads: int) -> Preset:
    """Returns how to learn in so many hours with so many cores; raises UserError for games that it does not know."""
    if game.full_text() != "2048(size=4)":
        raise UserError(f"a training by hours alone must be of 2048, got {game}; name a network too.")
    return LARGE if hours * threads >= LARGE_FROM else SMALL
