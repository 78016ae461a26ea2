"""Files of residual networks: what plays. Checkpoints of self-play hold what a training continues with."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turnier.agents.residual.network import Floats32, Network
from turnier.core.array_files import NetworkFiles, write_learned
from turnier.core.errors import other_digest
from turnier.games.registry import GAMES

FORMAT = 1


@dataclass(frozen=True, eq=False)
class Weights:
    """A network and what it has learned."""

    network: Network
    weights: Floats32  # [network.size]
    training: Mapping[str, Any]  # how it learned

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that depend on what plays."""
        digest = hashlib.sha256(json.dumps(self.network.to_json(), sort_keys=True).encode())
        digest.update(np.ascontiguousarray(self.weights).tobytes())
        return digest.hexdigest()[:16]

    def save(self, path: Path) -> None:
        """Writes the whole file or leaves it as it was, whatever happens meanwhile."""
        config = {
            "residual": FORMAT,
            "network": self.network.to_json(),
            "training": dict(self.training),
            "digest": self.digest,
        }
        write_learned(path, "the network", {"config": np.array(json.dumps(config)), "weights": self.weights})


def read_config(path: Path) -> dict[str, Any]:
    """Returns a file's description without its weights; raises UserError where it has no residual network."""
    return FILES.read(path)[0]


def load_weights(path: Path) -> Weights:
    """Reads a file; raises UserError where it is damaged or of another kind."""
    config, arrays = FILES.read(path, ("weights",))
    try:
        network, values = _network(config["network"]), arrays["weights"]
        if values.dtype != np.float32 or values.shape != (network.size,):
            raise ValueError("its weights are not those of its network")
        weights = Weights(network, values, config["training"])
        if weights.digest != config["digest"]:
            raise ValueError("its weights differ from their digest")
    except ValueError as failure:
        raise FILES.damaged(path, failure) from None
    return weights


@functools.lru_cache(maxsize=8)
def settings_from_file(path: str, digest: str) -> npt.NDArray[np.float64]:
    """Returns header and weights of a file for kernels; raises UserError where its digest is another one."""
    loaded = load_weights(Path(path))
    if loaded.digest != digest:
        raise other_digest("the network", path, digest, loaded.digest)
    return loaded.network.settings(loaded.weights)


def _network(described: Mapping[str, Any]) -> Network:
    network = Network(GAMES.make(described["game"]), int(described["blocks"]), int(described["filters"]))
    network.check()
    return network


def _check(config: Mapping[str, Any]) -> None:
    _network(config["network"])
    if not isinstance(config["training"], dict) or not isinstance(config["digest"], str):
        raise TypeError("it does not say what it is")


FILES = NetworkFiles(
    "a residual network",
    "that self-play around `residual` wrote",
    'train one with `turnier train GAME "puct(evaluator=residual)" --self-play`',
    lambda config: config.get("residual") == FORMAT,
    _check,
)
