"""Files of learned weights: `.npz` without pickle, written atomically, with everything needed to resume training."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...core.array_files import NetworkFiles, write_learned
from ...core.errors import UserError, other_digest
from ...core.kernel import kernel, types
from .layout import Floats32, Layout, Places, new_table, place_in_quarters
from .network import Network
from .network_kernels import AT_END, ORIGIN
from .td import LEARNING

FORMAT = 1
# The state of a training, see training.py.
_TRAINING: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("game", "evaluator", "learning"), str),
    **dict.fromkeys(("seed", "every", "games", "done", "moves"), int),
    "points": list,
}
POLICY = "policy"  # true in the training of weights that are logits of actions
BLOCK = 16  # entries that are compared at once
ENDLESS = 1e30  # instead of entries that are not numbers; its sums stay finite
HASHED_ROWS = 1 << 14  # at once, so that they stay in a core's cache
_COLUMN = types.Array(types.float32, 1, "A")


@dataclass(frozen=True)
class Weights:
    """The content of a file: the network, the entries that differ from the start, and their training."""

    network: Network
    initial: float  # value of entries not listed
    places: npt.NDArray[np.int64]  # [touched] entry numbers, ascending
    entries: Floats32  # [touched, width]: value, then with temporal coherence the sums of changes and of their sizes
    training: dict[str, Any]  # the state of the training, see training.py
    curve: npt.NDArray[np.float64]  # [points, 4]: games so far, games of the point, mean, standard deviation

    @functools.cached_property
    def digest(self) -> str:
        """16 hexadecimal digits for the network and its values, not for its training."""
        squeezed = ["tanh"] if self.squeezed else []  # otherwise as before there was a choice
        shape = json.dumps([FORMAT, self.network.to_json(), self.initial, *squeezed], sort_keys=True)
        return _digest_of(shape, self.places, self.entries[:, :1])[:16]

    @property
    def squeezed(self) -> bool:
        """Whether tanh squeezes sums of entries into values."""
        return LEARNING.make(self.training["learning"]).squeezed

    @property
    def values_only(self) -> bool:
        """Whether the sums of temporal coherence are missing, without which training cannot resume."""
        return bool(self.entries.shape[1] == 1)

    @property
    def largest(self) -> float:
        """The largest absolute value of an entry; nan or infinity if learning has diverged completely."""
        return float(np.abs(self.entries[:, 0]).max(initial=0.0))

    def to_play(self) -> Weights:
        """Returns the part needed to play."""
        return dataclasses.replace(self, entries=self.entries[:, :1])

    def bounded(self) -> Weights:
        """Returns finite entries that play like diverged ones: beside ENDLESS no reward counts."""
        entries = np.nan_to_num(self.entries, nan=ENDLESS, posinf=ENDLESS, neginf=-ENDLESS)
        return dataclasses.replace(self, entries=entries)

    def table(self, layout: Layout) -> Floats32:
        """Returns all entries in that layout."""
        table = new_table(layout.size)
        columns = layout.columns(table)
        if self.initial:
            columns[0][:] = self.initial
        places = layout.places(self.places)
        for i, column in enumerate(columns):
            column[places] = self.entries[:, i]
        return table

    def save(self, path: Path) -> None:
        """Writes the whole file, or leaves it unchanged whatever happens."""
        config = {
            "format": FORMAT,
            "network": self.network.to_json(),
            "initial": self.initial,
            "training": self.training,
            "digest": self.digest,
        }
        config["checksum"] = _checksum(config, self)
        arrays: dict[str, npt.NDArray[Any]] = {"places": self.places, "entries": self.entries, "curve": self.curve}
        write_learned(path, "weights", arrays | {"config": np.array(json.dumps(config))})


class Room(NamedTuple):
    """Memory for changed entries, taken from the system as it fills, and used by all checkpoints in turn."""

    places: npt.NDArray[np.int64]
    entries: Floats32

    @classmethod
    def of(cls, layout: Layout) -> Room:
        """Returns room for all entries."""
        size, width = layout.entries, 3 if layout.coherent else 1
        return cls(new_table(2 * size).view(np.int64), new_table(size * width).reshape(size, width))


def touched_entries(
    layout: Layout, table: Floats32, initial: float, room: Room
) -> tuple[npt.NDArray[np.int64], Floats32]:
    """Returns the numbers, ascending, and the columns of entries that learning changed.

    Args:
        layout: that of the table.
        initial: the value before learning.
        room: their destination.
    """
    columns = layout.columns(table)
    values, signed, absolute = columns if len(columns) == 3 else columns * 3
    count = _gather(values, signed, absolute, np.float32(initial), layout.lengths(), *room)
    return room.places[:count], room.entries[:count]


@kernel(types.int64(_COLUMN, _COLUMN, _COLUMN, types.float32, Places, types.int64[::1], types.float32[:, ::1]))
def _gather(values, signed, absolute, initial, lengths, places, entries):
    """Collects the result of `touched_entries` and returns its length; learning waits for it.

    BLOCK entries with successive numbers are four runs of four places, `step` apart if entries are in quarters.
    """
    count = 0
    coherent = entries.shape[1] > 1
    for first in range(0, len(values), BLOCK):
        size = min(BLOCK, len(values) - first)
        at, step = first, 4
        if lengths.size > 0:
            at = place_in_quarters(first, lengths)
            step = place_in_quarters(first + 4, lengths) - at
        changed = False
        for i in range(size):  # without branches: most blocks are unchanged
            place = at + (i >> 2) * step + (i & 3)
            changed |= (values[place] != initial) | (coherent & (absolute[place] != 0))
        if not changed:
            continue
        for i in range(size):
            place = at + (i >> 2) * step + (i & 3)
            if values[place] != initial or (coherent and absolute[place] != 0):
                places[count] = first + i
                entries[count, 0] = values[place]
                if coherent:
                    entries[count, 1] = signed[place]
                    entries[count, 2] = absolute[place]
                count += 1
    return count


def read_config(path: Path) -> dict[str, Any]:
    """Returns a file's description without its entries; raises UserError if it is not a file of weights."""
    config, _ = FILES.read(path)
    return config


def read_policy(path: Path) -> dict[str, Any]:
    """`read_config` of a policy; raises UserError if the file has values."""
    config = read_config(path)
    if not config["training"].get(POLICY):
        raise UserError(
            f"a policy must come from `turnier train GAME puct`, got {path}, which has values; name it as"
            " ntuple(file=...)."
        )
    return config


def read_values(path: Path) -> dict[str, Any]:
    """`read_config` of a network of values; raises UserError if the file has a policy."""
    config = read_config(path)
    if config["training"].get(POLICY):
        raise UserError(f"an evaluator must have values, got {path}, which has a policy; name it as puct(policy=...).")
    return config


def load_weights(path: Path) -> Weights:
    """Reads a file; raises UserError if it is damaged, by its checksums."""
    config, arrays = FILES.read(path, ("places", "entries", "curve"))
    weights = Weights(
        Network.from_json(config["network"]),
        config["initial"],
        arrays["places"],
        arrays["entries"],
        config["training"],
        arrays["curve"],
    )
    if weights.digest != config["digest"]:
        raise FILES.damaged(path, f"they must have the digest {config['digest']}, but have {weights.digest}")
    if "checksum" in config and _checksum(config, weights) != config["checksum"]:
        raise FILES.damaged(path, "they differ from their checksum")
    if not _fits(weights):
        raise FILES.damaged(path, "their entries are not those of their network")
    return weights


def _checksum(config: dict[str, Any], weights: Weights) -> str:
    """Returns 32 hexadecimal digits for the facts outside the digest: the training and the curve."""
    text = json.dumps({name: value for name, value in config.items() if name != "checksum"}, sort_keys=True)
    return _digest_of(text, weights.entries[:, 1:], weights.curve)[:32]


def _digest_of(text: str, *arrays: npt.NDArray[Any]) -> str:
    """Returns the SHA-256 of the SHA-256 of a text and of each array; copies only a few rows at a time."""
    digests = [hashlib.sha256(text.encode()).digest()]
    for array in arrays:
        digest = hashlib.sha256()
        for first in range(0, len(array), HASHED_ROWS):
            digest.update(np.ascontiguousarray(array[first : first + HASHED_ROWS]).data)
        digests.append(digest.digest())
    return hashlib.sha256(b"".join(digests)).hexdigest()


def _fits(weights: Weights) -> bool:
    """Whether the arrays have the network's shapes and types, which kernels do not check."""
    places, entries, curve = weights.places, weights.entries, weights.curve
    return (
        [array.dtype.str for array in (places, entries, curve)] == ["<i8", "<f4", "<f8"]
        and (places.ndim, entries.ndim, curve.ndim) == (1, 2, 2)
        and len(entries) == len(places)
        and entries.shape[1] in (1, 3)
        and curve.shape[1] == 4
        and bool((np.diff(places) > 0).all())
        and (len(places) == 0 or (places[0] >= 0 and places[-1] < weights.network.entries))
    )


def _check(config: Mapping[str, Any]) -> None:
    """Raises KeyError, TypeError, ValueError or UserError if `save` does not write such a description."""
    training = config["training"]
    described: list[tuple[str, Any, Any]] = [
        ("digest", config["digest"], str),
        ("initial", config["initial"], (int, float)),
        *((name, training[name], kind) for name, kind in _TRAINING.items()),
    ]
    optional = (("seconds", (int, float)), ("begins", list))
    described += [(name, training[name], kind) for name, kind in optional if name in training]
    for name, value, kind in described:
        if not isinstance(value, kind) or (isinstance(value, float) and not math.isfinite(value)):
            raise TypeError(f"{name} is {value!r}")
    Network.from_json(config["network"]).check()
    LEARNING.make(training["learning"])
    np.array(training["points"], np.float64).reshape(-1, 3)


FILES = NetworkFiles(
    "weights",
    "of this version of Turnier",
    "train others with `turnier train GAME EVALUATOR --out FILE`",
    lambda config: config["format"] == FORMAT,
    _check,
)


def evaluator_weights(network: Network, values: Weights | None, in_quarters: bool = True) -> npt.NDArray[np.float64]:
    """Returns header and values in one array of 64-bit numbers, for the evaluate kernel.

    Packed boards need entries in quarters, `board_lookups` needs them in the order of their numbers.
    """
    layout = network.layout(coherent=False, in_quarters=in_quarters)
    words = network.words(layout, values is not None and values.squeezed)
    origin = (2 * len(words) + 15) // 16 * 16  # in float32, at the start of a cache line
    memory = new_table(origin + layout.size + layout.size % 2)
    words[ORIGIN] = origin
    memory.view(np.int64)[: len(words)] = words
    if values is not None:
        memory.view(np.int64)[AT_END] = LEARNING.make(values.training["learning"]).whole
        table = memory[origin : origin + network.entries]
        table[:] = values.initial
        table[layout.places(values.places)] = values.entries[:, 0]
    return memory.view(np.float64)


@functools.lru_cache(maxsize=4)
def weights_from_file(path: str, digest: str, in_quarters: bool = True) -> npt.NDArray[np.float64]:
    """Returns `evaluator_weights` of a file; raises UserError if its digest differs."""
    loaded = load_weights(Path(path))
    if loaded.digest != digest:
        raise other_digest("the weights", path, digest, loaded.digest)
    return evaluator_weights(loaded.network, loaded, in_quarters)
