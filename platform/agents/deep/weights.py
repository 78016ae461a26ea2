"""Files of deep networks: what plays, and, in checkpoints of a training, all that it continues with."""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turnier.agents.deep.network import INPUTS, Floats32, Network
from turnier.core.array_files import NetworkFiles, checksum_of, write_learned
from turnier.core.errors import UserError, other_digest
from turnier.games.registry import GAMES

FORMAT = 1
Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Weights:
    """A network and what it has learned."""

    network: Network
    weights: Floats32  # [network.size]
    training: dict[str, Any]  # how it learned so far
    state: Arrays = field(default_factory=dict)  # what a training continues with; empty in files to play with

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that depend on what plays."""
        digest = hashlib.sha256(json.dumps(self.network.to_json(), sort_keys=True).encode())
        digest.update(np.ascontiguousarray(self.weights).tobytes())
        return digest.hexdigest()[:16]

    def save(self, path: Path) -> None:
        """Writes the whole file or leaves it as it was, whatever happens meanwhile."""
        config: dict[str, Any] = {
            "dqn": FORMAT,
            "network": self.network.to_json(),
            "training": self.training,
            "digest": self.digest,
            "state": sorted(self.state),
        }
        config["checksum"] = checksum_of(config, self.state)
        arrays = {"config": np.array(json.dumps(config)), "weights": self.weights, **self.state}
        write_learned(path, "the network", arrays)

    def to_play(self) -> Weights:
        """Returns what playing needs."""
        return Weights(self.network, self.weights, self.training)


def read_config(path: Path) -> dict[str, Any]:
    """Returns a file's description without its arrays; raises UserError where it has no deep network."""
    return FILES.read(path)[0]


def load_weights(path: Path, with_state: bool = False) -> Weights:
    """Reads a file; raises UserError where it is damaged or of another kind.

    Args:
        path: of the file.
        with_state: whether to read what a training continues with; a file to play with has none and is refused then.
    """
    config, arrays = FILES.read(path, ("weights",), lambda config: config["state"] if with_state else ())
    if with_state and not config["state"]:
        raise UserError(f"{path} must be a checkpoint to train further, but has what plays only; train another file.")
    values = arrays.pop("weights")
    try:
        network = _network(config["network"])
        if values.dtype != np.float32 or values.shape != (network.size,):
            raise ValueError("its weights are not those of its network")
        weights = Weights(network, values, config["training"], arrays)
        if weights.digest != config["digest"]:
            raise ValueError("its weights differ from their digest")
        unsigned = {name: value for name, value in config.items() if name != "checksum"}
        if with_state and checksum_of(unsigned, arrays) != config["checksum"]:
            raise ValueError("it differs from its checksum")
    except (ValueError, UserError) as failure:
        raise FILES.damaged(path, failure) from None
    return weights


@functools.lru_cache(maxsize=4)
def settings_from_file(path: str, digest: str) -> npt.NDArray[np.float64]:
    """Returns header and weights of a file for kernels; raises UserError where its digest is another one."""
    loaded = load_weights(Path(path))
    if loaded.digest != digest:
        raise other_digest("the network", path, digest, loaded.digest)
    return loaded.network.settings(loaded.weights)


def _network(described: Mapping[str, Any]) -> Network:
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


def _check(config: Mapping[str, Any]) -> None:
    _network(config["network"])
    if not (isinstance(config["training"], dict) and isinstance(config["state"], list)):
        raise TypeError("it does not say how it was trained")
    int(config["training"]["done"]), str(config["digest"]), str(config["checksum"])


FILES = NetworkFiles(
    "a deep network",
    "that `turnier train GAME dqn` wrote",
    "train some with `turnier train GAME dqn`",
    lambda config: config.get("dqn") == FORMAT,
    _check,
)
