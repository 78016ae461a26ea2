"""Arrays in .npz archives: written whole or not at all, and read although they may be damaged or made to harm.

Nothing is unpickled, and no memory is taken in vain. What was learned must be finite wherever it is written or read.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import threading
import zipfile
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .errors import MALFORMED, UserError

REASON = 200  # characters of a reason
CHUNK = 1 << 16  # numbers that are looked at at once: they stay in a core's cache
HISTORY = ("curve", "points")  # arrays with scores of games: they say how learning went, nothing depends on them
# numpy has Python parse the head of an array, which in Python 3.11 fails now and then where two threads do so at once
# ("AST constructor recursion depth mismatch").
_one_reader = threading.Lock()


class NotFinite(UserError):
    """What was learned has NaN or infinity: it plays nothing, and nothing can be learned from it any more."""


def not_finite(arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """Returns the name of an array that has NaN or infinity, HISTORY aside; empty if there is none."""
    floats = (name for name, array in arrays.items() if array.dtype.kind == "f" and name not in HISTORY)
    return next((name for name in floats if not _is_finite(arrays[name])), "")


def _is_finite(array: npt.NDArray[Any]) -> bool:
    rows = array.reshape(-1, 1) if array.ndim < 2 else array
    step = max(1, CHUNK * len(rows) // max(rows.size, 1))
    return all(np.isfinite(rows[first : first + step]).all() for first in range(0, len(rows), step))


def write_learned(path: Path, what: str, arrays: Mapping[str, npt.NDArray[Any]], compressed: bool = False) -> None:
    """`write_arrays` of what was learned; raises NotFinite, and leaves the file as it was, if it has diverged."""
    if name := not_finite(arrays):
        raise NotFinite(
            f"{what} must be finite to be written to {path}, got NaN or infinity in {name}: learning has diverged; what"
            " the file held before is still there; learn with smaller steps into another file."
        )
    write_arrays(path, what, arrays, compressed)


def write_arrays(path: Path, what: str, arrays: Mapping[str, npt.NDArray[Any]], compressed: bool = False) -> None:
    """Writes the file anew or not at all, whatever happens meanwhile; raises UserError if that cannot be done.

    Args:
        path: of the file.
        what: it holds, for the error, such as "weights".
        arrays: by name.
        compressed: the same arrays then give the same bytes, too, but reading needs a limit other than the file's size.
    """
    temporary = path.with_name(f".{path.name}.new")
    try:
        with temporary.open("wb") as file:
            (np.savez_compressed if compressed else np.savez)(file, **dict[str, Any](arrays))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except OSError as error:
        raise UserError(
            f"{what} must go to a file that can be written, got {path}: {error.strerror}; what it held before is"
            " still there; make room, and repeat the command."
        ) from None
    finally:
        temporary.unlink(missing_ok=True)


def checksum_of(config: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """Returns 32 hexadecimal digits that depend on a description, whose values are JSON, and on arrays."""
    digest = hashlib.sha256(json.dumps(config, sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()[:32]


def _sync_folder(folder: Path) -> None:
    """Has the name of a new file outlive a power cut, as its contents do."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def read_arrays(
    source: Path | IO[bytes], names: Collection[str], limit: int, optional: Collection[str] = ()
) -> dict[str, npt.NDArray[Any]]:
    """Returns the arrays with these names; raises ValueError with the reason if that cannot be done.

    Args:
        source: an archive that numpy wrote.
        names: of the arrays; others are not read.
        limit: bytes that they may take in all; for an archive that is not compressed, its size.
        optional: names of arrays that may be missing.
    """
    try:
        # A pipe may never answer.
        if isinstance(source, Path) and os.path.exists(source) and not os.path.isfile(source):
            raise ValueError("it is no file")
        with _one_reader, zipfile.ZipFile(source) as archive:
            found = {entry.filename: entry for entry in archive.infolist()}
            missing = {name for name in names if f"{name}.npy" not in found}
            for name in names:
                if name in missing and name not in optional:
                    raise ValueError(f"the entry {name} is missing")
            entries = {name: found[f"{name}.npy"] for name in names if name not in missing}
            size = sum(entry.file_size for entry in entries.values())
            if size > limit:
                raise ValueError(f"its entries claim to have {size:,} bytes, of {limit:,} at most")
            return {name: _array(archive, entry) for name, entry in entries.items()}
    except OSError:
        raise
    except Exception as failure:  # zipfile, zlib and numpy raise errors of a dozen kinds about damaged archives
        reason = " ".join(str(failure).split())[:REASON]  # it may quote what is damaged
        raise ValueError(reason or type(failure).__name__) from None


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> npt.NDArray[Any]:
    """Reads an array to its end, where zipfile compares the checksum."""
    with archive.open(entry) as file:
        version = np.lib.format.read_magic(file)
        if version != (1, 0):
            raise ValueError(f"the entry {entry.filename} is of version {version}")
        shape, _, kind = np.lib.format.read_array_header_1_0(file)
        if kind.hasobject:
            raise ValueError(f"the entry {entry.filename} holds pickled objects")
        if math.prod(shape) * kind.itemsize != entry.file_size - file.tell():
            raise ValueError(f"the entry {entry.filename} does not have the size of its shape")
    with archive.open(entry) as file:
        array: npt.NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        return array


def diverged(what: str, path: Path, name: str, advice: str) -> NotFinite:
    """Returns the error to raise for a file whose array of that name has NaN or infinity."""
    return NotFinite(
        f"{what} must be finite, got {path}, which has NaN or infinity in {name}: learning has diverged; restore it"
        f" from a copy, or {advice}."
    )


class NetworkFiles(NamedTuple):
    """Archives with one kind of learned weights, and their description as JSON in the entry `config`."""

    what: str  # is in such a file, such as "a deep network"
    written: str  # which .npz files are some, such as "that `turnier train GAME dqn` wrote"
    advice: str  # what to do without a sound one
    is_one: Callable[[Mapping[str, Any]], bool]  # whether a description is one of this kind
    check: Callable[[Mapping[str, Any]], object]  # raises UserError, or one of MALFORMED, where it is unsound

    def read(
        self,
        path: Path,
        names: Collection[str] = (),
        also: Callable[[Mapping[str, Any]], Collection[str]] = lambda config: (),
    ) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Returns a file's description and some of its arrays; raises UserError if that cannot be done.

        Args:
            path: of the file, which a training may replace meanwhile.
            names: of the arrays.
            also: names further ones by the description.
        """
        if not os.path.isfile(path):  # also of names that are too long, where Path raises
            raise UserError(f"{self.what} must be a file, got {path}, which is none; {self.advice}.")
        try:
            with path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                arrays = read_arrays(file, ("config", *names), size)
                config: dict[str, Any] = json.loads(str(arrays.pop("config")))
                known = self.is_one(config)
                if known:
                    self.check(config)
                    arrays |= read_arrays(file, also(config), size)
        except (OSError, UserError, *MALFORMED) as failure:
            raise self.damaged(path, failure) from None
        if known and (name := not_finite(arrays)):
            raise diverged(self.what, path, name, self.advice)
        if not known:
            raise UserError(f"{self.what} must be an .npz file {self.written}, got {path}; {self.advice}.")
        return config, arrays

    def damaged(self, path: Path, failure: Exception | str) -> UserError:
        """Returns the error to raise for a damaged file."""
        reason = f"{failure} is missing" if isinstance(failure, KeyError) else str(failure).rstrip(".")
        return UserError(
            f"{self.what} must be an undamaged .npz file, got {path}: {reason}; restore it from a copy, or"
            f" {self.advice}."
        )
