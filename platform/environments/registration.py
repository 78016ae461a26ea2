"""The ids of our games in Gymnasium, such as `turnier/2048-v0`."""

from __future__ import annotations

import gymnasium

from ..games.registry import GAMES

VERSION = 0


def register_environments() -> None:
    """Registers all of our games; `make` and `make_vec` take a variant by `game="2048(size=3)"`."""
    for name in GAMES.names():
        gymnasium.register(
            f"turnier/{name}-v{VERSION}",
            entry_point="turnier.environments.single:GameEnvironment",
            vector_entry_point="turnier.environments.vector:BoardsEnvironment",
            kwargs={"game": name},
        )
