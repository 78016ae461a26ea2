"""Files of residual networks to play with. Checkpoints of self-play have the state of a training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.array_files import NetworkFiles
from ...games.registry import GAMES
from ..learning.files import GradientWeights
from .network import Network


class Weights(GradientWeights):
    """A residual network and what it has learned."""

    key = "residual"
    resumed = False
    network: Network

    @classmethod
    def shape(cls, described: Mapping[str, Any]) -> Network:
        network = Network(GAMES.make(described["game"]), int(described["blocks"]), int(described["filters"]))
        network.check()
        return network


Weights.files = NetworkFiles(
    "a residual network",
    "that self-play around `residual` wrote",
    'train one with `turnier train GAME "puct(evaluator=residual)"`',
    Weights.is_one,
    Weights.check,
)
