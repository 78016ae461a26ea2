"""The ids of our games in Gymnasium: `turnier/2048-v0` and the like."""

from __future__ import annotations

import gymnasium

from ..games.registry import GAMES

VERSION = 0


def register_environments() -> None:
    """Registers every game of ours; `make` and `make_vec` take any variant of it as `game="2048(size=3)"`."""
    for name in GAMES.names():
        gymnasium.register(
            f"turnier/{name}-v{VERSION}",
            entry_point="turnier.environments.single:GameEnvironment",
            vector_entry_point="turnier.environments.vector:BoardsEnvironment",
            kwargs={"game": name},
        )
