"""Files of deep networks: checkpoints of trainings, which also play."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ...core.array_files import NetworkFiles
from ...games.registry import GAMES
from ..learning.files import GradientWeights
from .network import INPUTS, Network


class Weights(GradientWeights):
    """A deep network and what it has learned."""

    key = "dqn"
    resumed = True
    network: Network

    @classmethod
    def shape(cls, described: Mapping[str, Any]) -> Network:
        layers = tuple(int(size) for size in described["layers"])
        network = Network(
            GAMES.make(described["game"]),
            layers,
            described["input"],
            bool(described["dueling"]),
            float(described["unit"]),
            bool(described["log"]),
        )
        if not layers or min(layers) < 2 or network.input not in INPUTS or not 0 < network.unit < math.inf:
            raise ValueError("its network has no such layers")
        network.check()
        return network


Weights.files = NetworkFiles(
    "a deep network",
    "that `turnier train GAME dqn` wrote",
    "train some with `turnier train GAME dqn`",
    Weights.is_one,
    Weights.check,
)
