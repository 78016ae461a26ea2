"""Files of networks that learn by gradient: the network to play with and, in checkpoints, the state of the training."""

from __future__ import annotations

import functools
import hashlib
import json
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt

from ...core.array_files import NetworkFiles, checksum_of, write_learned
from ...core.errors import UserError, other_digest
from ...core.parameters import parameters_of

FORMAT = 1
Arrays = Mapping[str, npt.NDArray[Any]]


class Shape(Protocol):
    """The shape of a network."""

    @property
    def size(self) -> int: ...  # number of weights

    def to_json(self) -> dict[str, Any]: ...

    def settings(self, weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]: ...  # as kernels take them


@dataclass(frozen=True, eq=False)
class GradientWeights:
    """A network with its learned weights; a subclass for each kind of network."""

    key: ClassVar[str]  # the entry of descriptions that tells the kind of a file
    files: ClassVar[NetworkFiles]
    resumed: ClassVar[bool]  # whether files may have the state of a training

    network: Any  # a Shape
    weights: npt.NDArray[np.float32]  # [network.size]
    training: Mapping[str, Any]  # how it learned so far
    state: Arrays = field(default_factory=dict)  # the state of the training; empty in files to play with

    @classmethod
    @abstractmethod
    def shape(cls, described: Mapping[str, Any]) -> Shape:
        """Returns the network of a file; raises UserError, or one of MALFORMED, if it is malformed."""

    @property
    def digest(self) -> str:
        """16 hexadecimal digits for the network and its weights."""
        digest = hashlib.sha256(json.dumps(self.network.to_json(), sort_keys=True).encode())
        digest.update(np.ascontiguousarray(self.weights).tobytes())
        return digest.hexdigest()[:16]

    def save(self, path: Path) -> None:
        """Writes the whole file, or leaves it unchanged whatever happens."""
        config: dict[str, Any] = {
            self.key: FORMAT,
            "network": self.network.to_json(),
            "training": dict(self.training),
            "digest": self.digest,
        }
        if self.resumed:
            config["state"] = sorted(self.state)
            config["checksum"] = checksum_of(config, self.state)
        arrays = {"config": np.array(json.dumps(config)), "weights": self.weights, **self.state}
        write_learned(path, "the network", arrays)

    def to_play(self) -> Self:
        """Returns the part needed to play."""
        return replace(self, state={})

    @classmethod
    def read(cls, path: Path) -> dict[str, Any]:
        """Returns a file's description without the arrays; raises UserError if it has no such network."""
        return cls.files.read(path)[0]

    @classmethod
    def load(cls, path: Path, with_state: bool = False) -> Self:
        """Reads a file; raises UserError if it is damaged or of another kind.

        Args:
            path: of the file.
            with_state: whether to read the state of the training, too; a file to play with has none and is then
                refused.
        """
        config, arrays = cls.files.read(path, ("weights",), lambda config: config["state"] if with_state else ())
        if with_state and not config["state"]:
            raise UserError(f"{path} is no checkpoint but only a file to play with; train another file.")
        values = arrays.pop("weights")
        try:
            network = cls.shape(config["network"])
            if values.dtype != np.float32 or values.shape != (network.size,):
                raise ValueError("its weights are not those of its network")
            weights = cls(network, values, config["training"], arrays)
            if weights.digest != config["digest"]:
                raise ValueError("its weights differ from their digest")
            unsigned = {name: value for name, value in config.items() if name != "checksum"}
            if with_state and checksum_of(unsigned, arrays) != config["checksum"]:
                raise ValueError("it differs from its checksum")
        except (ValueError, UserError) as failure:
            raise cls.files.damaged(path, failure) from None
        return weights

    @classmethod
    def check(cls, config: Mapping[str, Any]) -> None:
        """Raises UserError, or one of MALFORMED, if `save` does not write such a description."""
        cls.shape(config["network"])
        if not isinstance(config["training"], dict) or not isinstance(config["digest"], str):
            raise TypeError("it does not say how it was trained")
        if cls.resumed:
            list(config["state"]), int(config["training"]["done"]), str(config["checksum"])

    @classmethod
    def is_one(cls, config: Mapping[str, Any]) -> bool:
        """Whether a description is of this kind."""
        return config.get(cls.key) == FORMAT


def fill_digest(declared: Any, read: Callable[[Path], Mapping[str, Any]]) -> None:
    """Gives a declared network with a file the digest of that file, unless it has one.

    Raises UserError if it has a digest without a file, or says beside a file what the network is.

    Args:
        declared: an agent or evaluator with the parameters `file` and `digest`.
        read: returns the description in a file.
    """
    if not declared.file:
        if declared.digest:
            raise UserError(f"{declared.name}: a digest must belong to a file, got none; leave the digest out.")
        return
    for info, _ in parameters_of(type(declared)):
        if info.name not in ("file", "digest") and getattr(declared, info.name) != info.default:
            raise UserError(f"{declared.name}: the file determines the network, got {info.name} too; leave it out.")
    if not declared.digest:
        object.__setattr__(declared, "digest", read(declared.carried_path("file"))["digest"])


@functools.lru_cache(maxsize=8)
def settings_from_file(kind: type[GradientWeights], path: str, digest: str) -> npt.NDArray[np.float64]:
    """Returns header and weights of a file for kernels; raises UserError if its digest differs."""
    loaded = kind.load(Path(path))
    if loaded.digest != digest:
        raise other_digest("the network", path, digest, loaded.digest)
    settings: npt.NDArray[np.float64] = loaded.network.settings(loaded.weights)
    return settings
