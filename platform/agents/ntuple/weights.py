"""Learned weights as files: `.npz` without pickle, written atomically, with everything needed to resume training."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turnier.agents.ntuple.layout import Floats32, Layout, new_table
from turnier.agents.ntuple.network import Network
from turnier.agents.ntuple.network_kernels import AT_END, ORIGIN
from turnier.agents.ntuple.td import LEARNING
from turnier.core.errors import UserError

FORMAT = 1
SLICE = 1 << 22  # entries whose comparisons need little memory


@dataclass(frozen=True)
class Weights:
    """What a file holds: the network, the entries that differ from the start, and how they were learned."""

    network: Network
    initial: float  # value of entries not listed
    places: npt.NDArray[np.int64]  # [touched] entry numbers, ascending
    entries: Floats32  # [touched, width]: value, then with temporal coherence the sums of changes and of their sizes
    training: dict[str, Any]  # what training resumes from, see training.py
    curve: npt.NDArray[np.float64]  # [points, 4]: games so far, games of the point, mean, standard deviation

    @functools.cached_property
    def digest(self) -> str:
        """Sixteen hexadecimal digits that depend on what decides how the network plays, not on how it was learned."""
        shape = json.dumps([FORMAT, self.network.to_json(), self.initial], sort_keys=True)
        parts = (shape.encode(), self.places.tobytes(), self.entries[:, 0].tobytes())
        return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()[:16]

    @property
    def values_only(self) -> bool:
        """Whether the sums of temporal coherence, without which training cannot resume, are missing."""
        return bool(self.entries.shape[1] == 1)

    @property
    def largest(self) -> float:
        """The largest absolute value of an entry; nan or infinity where learning has diverged altogether."""
        return float(np.abs(self.entries[:, 0]).max(initial=0.0))

    def without_sums(self) -> Weights:
        """Returns what playing takes."""
        return dataclasses.replace(self, entries=self.entries[:, :1])

    def table(self, layout: Layout) -> Floats32:
        """Returns all entries as that layout has them."""
        table = new_table(layout.size)
        columns = layout.columns(table)
        if self.initial:
            columns[0][:] = self.initial
        for i, column in enumerate(columns):
            column[self.places] = self.entries[:, i]
        return table

    def save(self, path: Path) -> None:
        """Writes the file anew or not at all, whatever happens meanwhile."""
        config = {
            "format": FORMAT,
            "network": self.network.to_json(),
            "initial": self.initial,
            "training": self.training,
            "digest": self.digest,
        }
        temporary = path.with_name(f".{path.name}.new")
        try:
            with temporary.open("wb") as file:
                np.savez(
                    file,
                    config=np.array(json.dumps(config)),
                    places=self.places,
                    entries=self.entries,
                    curve=self.curve,
                )
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except OSError as error:
            raise UserError(f"weights must go to a file that can be written, got {path}: {error.strerror}.") from None
        finally:
            temporary.unlink(missing_ok=True)


def touched_entries(columns: tuple[Floats32, ...], initial: float) -> npt.NDArray[np.int64]:
    """Returns the numbers of entries that learning changed, ascending; columns as Layout.columns returns them."""
    values, absolute, start = columns[0], columns[-1], np.float32(initial)
    found = []
    for first in range(0, len(values), SLICE):
        part = slice(first, first + SLICE)
        changed = values[part] != start
        if len(columns) > 1:
            changed |= absolute[part] != 0
        found.append(first + np.flatnonzero(changed))
    return np.concatenate(found)


def read_config(path: Path) -> dict[str, Any]:
    """Returns a file's description without its entries; raises UserError where it is no file of weights."""
    with _opened(path) as file:
        config: dict[str, Any] = json.loads(str(file["config"]))
    return config


def load_weights(path: Path) -> Weights:
    """Reads a file and checks that its entries are those of its digest."""
    with _opened(path) as file:
        config = json.loads(str(file["config"]))
        weights = Weights(
            Network.from_json(config["network"]),
            config["initial"],
            file["places"],
            file["entries"],
            config["training"],
            file["curve"],
        )
    if weights.digest != config["digest"]:
        raise UserError(f"the weights in {path} must have the digest {config['digest']}, got {weights.digest}.")
    return weights


def _opened(path: Path) -> Any:
    hint = "train them with `turnier train GAME EVALUATOR --out FILE`"
    if not path.is_file():
        raise UserError(f"weights must be a file, got {path}, which is none; {hint}.")
    try:
        file = np.load(path, allow_pickle=False)
        if json.loads(str(file["config"]))["format"] == FORMAT:
            return file
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        pass
    raise UserError(f"weights must be an .npz file of this version of Turnier, got {path}; {hint}.")


def evaluator_weights(network: Network, values: Weights | None) -> npt.NDArray[np.float64]:
    """Returns header and values in one array of 64-bit numbers, as the evaluate kernel takes them."""
    words = network.words(network.layout(coherent=False))
    origin = (2 * len(words) + 15) // 16 * 16  # in float32, on a cache line's border
    memory = new_table(origin + network.entries + network.entries % 2)
    words[ORIGIN] = origin
    memory.view(np.int64)[: len(words)] = words
    if values is not None:
        memory.view(np.int64)[AT_END] = LEARNING.make(values.training["learning"]).method == 1
        table = memory[origin : origin + network.entries]
        table[:] = values.initial
        table[values.places] = values.entries[:, 0]
    return memory.view(np.float64)


@functools.lru_cache(maxsize=4)
def weights_from_file(path: str, digest: str) -> npt.NDArray[np.float64]:
    """Returns the weights of a file for an evaluator; raises UserError where its digest is another one."""
    loaded = load_weights(Path(path))
    if loaded.digest != digest:
        raise UserError(
            f"the weights in {path} must have the digest {digest}, got {loaded.digest}; leave the digest out to play"
            " with the file as it is now."
        )
    return evaluator_weights(loaded.network, loaded)
