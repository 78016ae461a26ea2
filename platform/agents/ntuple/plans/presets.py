"""The network and method that learn 2048 best in a given time, for `turnier train 2048 --hours`.

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
    """Returns the network and method for that many hours and threads; raises UserError for games without presets."""
    if game.full_text() != "2048(size=4)":
        raise UserError(f"training by hours alone needs 2048, got {game}; name a network too.")
    return LARGE if hours * threads >= LARGE_FROM else SMALL
