"""Learned weights as files: `.npz` without pickle, written atomically, with everything needed to go on learning."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import mmap
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turnier.agents.learning.network import Network
from turnier.agents.learning.network_kernels import AT_END, ORIGIN
from turnier.agents.learning.td import LEARNING
from turnier.games.errors import UserError

FORMAT = 1
HUGE = 1 << 22  # bytes from which on a table gets huge pages: its look-ups would miss small ones' buffer all the time
Floats32 = npt.NDArray[np.float32]


def new_table(size: int) -> Floats32:
    """Returns float32 zeros, [size], in huge pages where the system has them."""
    if 4 * size < HUGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(size, np.float32)
    # Anonymous private memory: shared memory, the default, gets no huge pages.
    memory = mmap.mmap(-1, 4 * size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, np.float32)


@dataclass(frozen=True)
class Weights:
    """What a file holds: the network, the entries that differ from the start, and how they were learned."""

    network: Network
    initial: float  # value of entries not listed
    places: npt.NDArray[np.int64]  # [touched] entry numbers, ascending
    entries: Floats32  # [touched, width]: value, then with temporal coherence the sums of changes and of their sizes
    training: dict[str, Any]  # what training goes on with, see training.py
    curve: npt.NDArray[np.float64]  # [points, 4]: games so far, games of the point, mean, standard deviation

    @functools.cached_property
    def digest(self) -> str:
        """Sixteen hexadecimal digits that depend on what decides how the network plays, not on how it was learned."""
        shape = json.dumps([FORMAT, dataclasses.asdict(self.network), self.initial], sort_keys=True)
        parts = (shape.encode(), self.places.tobytes(), self.entries[:, 0].tobytes())
        return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()[:16]

    @property
    def values_only(self) -> bool:
        """Whether the sums of temporal coherence, without which it cannot go on, are not there."""
        return bool(self.entries.shape[1] == 1)

    def without_sums(self) -> Weights:
        """Returns what playing takes."""
        return dataclasses.replace(self, entries=self.entries[:, :1])

    def table(self, width: int) -> Floats32:
        """Returns all entries, [entries * width], with the first `width` numbers of each."""
        table = new_table(self.network.entries * width)
        if self.initial:
            table[::width] = self.initial
        table.reshape(-1, width)[self.places, : self.entries.shape[1]] = self.entries[:, :width]
        return table

    def save(self, path: Path) -> None:
        """Writes the file anew or not at all, whatever happens meanwhile."""
        config = {
            "format": FORMAT,
            "network": dataclasses.asdict(self.network),
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


def touched_entries(table: Floats32, width: int, initial: float) -> npt.NDArray[np.int64]:
    """Returns the numbers of entries that learning changed, ascending."""
    entries = table.reshape(-1, width)
    start = np.float32(initial)
    found = [
        first + np.flatnonzero((part[:, 0] != start) | (part[:, -2] != 0 if width > 1 else False))
        for first, part in _parts(entries)
    ]
    return np.concatenate(found)


def _parts(entries: Floats32) -> list[tuple[int, Floats32]]:
    """Cuts entries into slices whose comparisons need little memory."""
    size = 1 << 22
    return [(first, entries[first : first + size]) for first in range(0, len(entries), size)]


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
    words = network.words(1)
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
