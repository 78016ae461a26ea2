"""Arrays in .npz archives: written whole or not at all, and read safely from damaged or hostile files.

Nothing is unpickled, and no memory is taken beyond a limit. Learned arrays are checked to be finite on every write and
read.
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
CHUNK = 1 << 16  # numbers checked at once: they stay in a core's cache
HISTORY = ("curve", "points")  # scores of games: they show how learning went, nothing depends on them
# numpy parses the head of an array as Python code; in Python 3.11 this sometimes fails if two threads do so at once
# ("AST constructor recursion depth mismatch").
_one_reader = threading.Lock()


class NotFinite(UserError):
    """Learned arrays have NaN or infinity: they can neither play nor learn on."""


def not_finite(arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """Returns the name of an array with NaN or infinity, those of HISTORY aside; empty if there is none."""
    floats = (name for name, array in arrays.items() if array.dtype.kind == "f" and name not in HISTORY)
    return next((name for name in floats if not _is_finite(arrays[name])), "")


def _is_finite(array: npt.NDArray[Any]) -> bool:
    rows = array.reshape(-1, 1) if array.ndim < 2 else array
    step = max(1, CHUNK * len(rows) // max(rows.size, 1))
    return all(np.isfinite(rows[first : first + step]).all() for first in range(0, len(rows), step))


def write_learned(path: Path, what: str, arrays: Mapping[str, npt.NDArray[Any]], compressed: bool = False) -> None:
    """`write_arrays` for learned arrays; if they have diverged, raises NotFinite and leaves the file as it was."""
    if name := not_finite(arrays):
        raise NotFinite(
            f"{what} must be finite to be written to {path}, got NaN or infinity in {name}: learning has diverged; the"
            " file keeps its former content; learn with smaller steps into another file."
        )
    write_arrays(path, what, arrays, compressed)


def write_arrays(path: Path, what: str, arrays: Mapping[str, npt.NDArray[Any]], compressed: bool = False) -> None:
    """Writes the file anew or not at all, whatever happens meanwhile; raises UserError if that cannot be done.

    Args:
        path: of the file.
        what: name of the content in the error, such as "weights".
        arrays: by name.
        compressed: equal arrays still give equal bytes, but reading then needs a limit other than the file's size.
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
            f"{what} must go to a file that can be written, got {path}: {error.strerror}; it keeps its"
            " former content; make room, and repeat the command."
        ) from None
    finally:
        temporary.unlink(missing_ok=True)


def checksum_of(config: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """Returns a checksum of a description, whose values are JSON, and of arrays: 32 hexadecimal digits."""
    digest = hashlib.sha256(json.dumps(config, sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()[:32]


def _sync_folder(folder: Path) -> None:
    """Makes the name of a new file survive a power cut, as its content does."""
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
        limit: bytes that they may take in total; for an uncompressed archive, its size.
        optional: names of arrays that may be missing.
    """
    try:
        # A pipe may never answer.
        if isinstance(source, Path) and os.path.exists(source) and not os.path.isfile(source):
            raise ValueError("it is not a file")
        with _one_reader, zipfile.ZipFile(source) as archive:
            found = {entry.filename: entry for entry in archive.infolist()}
            missing = {name for name in names if f"{name}.npy" not in found}
            for name in names:
                if name in missing and name not in optional:
                    raise ValueError(f"the entry {name} is missing")
            entries = {name: found[f"{name}.npy"] for name in names if name not in missing}
            size = sum(entry.file_size for entry in entries.values())
            if size > limit:
                raise ValueError(f"its entries claim to have {size:,} bytes, more than {limit:,}")
            return {name: _array(archive, entry) for name, entry in entries.items()}
    except OSError:
        raise
    except Exception as failure:  # zipfile, zlib and numpy raise a dozen kinds of errors for damaged archives
        reason = " ".join(str(failure).split())[:REASON]  # it may quote damaged content
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
    """Returns the error for a file that has NaN or infinity in the array of that name."""
    return NotFinite(
        f"{what} must be finite, got {path}, which has NaN or infinity in {name}: learning has diverged; restore it"
        f" from a copy, or {advice}."
    )


class NetworkFiles(NamedTuple):
    """Archives with one kind of learned weights, and their description as JSON in the entry `config`."""

    what: str  # content of such a file, such as "a deep network"
    written: str  # origin of such a file, such as "that `turnier train GAME dqn` wrote"
    advice: str  # the way out without a sound file
    is_one: Callable[[Mapping[str, Any]], bool]  # whether a description is of this kind
    check: Callable[[Mapping[str, Any]], object]  # raises UserError, or one of MALFORMED, if a description is unsound

    def read(
        self,
        path: Path,
        names: Collection[str] = (),
        also: Callable[[Mapping[str, Any]], Collection[str]] = lambda config: (),
    ) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Returns a file's description and some of its arrays; raises UserError if that cannot be done.

        Args:
            path: of the file; a training may replace it meanwhile.
            names: of the arrays.
            also: returns the names of further arrays, given the description.
        """
        if not os.path.isfile(path):  # takes names that are too long, for which Path raises
            raise UserError(f"{self.what} must be a file, got {path}, which is not one; {self.advice}.")
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
        """Returns the error for a damaged file."""
        reason = f"{failure} is missing" if isinstance(failure, KeyError) else str(failure).rstrip(".")
        return UserError(
            f"{self.what} must be an undamaged .npz file, got {path}: {reason}; restore it from a copy, or"
            f" {self.advice}."
        )
