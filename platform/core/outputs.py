"""Checks, before the work, that its results can be written to their place."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from .errors import UserError

_TAKEN = (errno.EAGAIN, errno.EACCES)


def user_cache() -> Path:
    """Returns this user's folder for files that can be made again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "turnier"


def require_file(path: Path, what: str) -> None:
    """Raises UserError if a file cannot be written; its folder must exist."""
    _require_name(path, what)
    if os.path.isdir(path):  # takes names that are too long, for which Path raises
        raise UserError(f"{what} must be a file, got the folder {path}; name a file in it.")
    if not os.path.isdir(path.parent):
        raise UserError(f"the folder of {what} must exist, got {path}; create {path.parent} first.")
    _require_room(path.parent, path, what)


def require_folder(path: Path, what: str) -> None:
    """Raises UserError if files cannot be written into a folder, which need not exist yet."""
    _require_name(path, what)
    existing = next(place for place in (path, *path.absolute().parents) if os.path.exists(place))
    if not os.path.isdir(existing):
        raise UserError(f"{what} must be a folder, got {path}, where {existing} is a file; choose another.")
    _require_room(existing, path, what)


def _require_name(path: Path, what: str) -> None:
    """Raises UserError if no file can have that name, with the ending that it has while it is written."""
    try:
        path.absolute().with_name(f"{path.name}.unfinished").lstat()
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: it does not end in a name, as / and ..
        return
    except OSError as failure:
        raise UserError(
            f"{what} must have a name that this system takes, got {path}: {failure.strerror}; choose another."
        ) from None


def _require_room(folder: Path, path: Path, what: str) -> None:
    """Raises UserError if nothing can be written into an existing folder."""
    try:
        with tempfile.TemporaryFile(dir=folder):  # permissions do not tell: a disk may be read-only, root may do all
            pass
    except OSError as failure:
        reason = failure.strerror or failure
        raise UserError(f"{what} must be in a writable folder, got {path}: {reason}; choose another.") from None


@contextlib.contextmanager
def only_writer(path: Path, does: str) -> Iterator[None]:
    """Keeps other processes from writing a file that is replaced from time to time; raises UserError if one does.

    Args:
        path: of the file; the lock is a hidden file next to it, and ends with this process, however that ends.
        does: activity of this process, shown to others that try, such as "trains ntuple on 2048".
    """
    hidden = path.with_name(f".{path.name}.lock")
    while True:
        file = _opened(hidden)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as failure:
            other = os.pread(file, 10_000, 0).decode(errors="replace")
            os.close(file)
            if failure.errno not in _TAKEN:
                raise UserError(
                    f"{path} must be in a folder that allows locks, got: {failure.strerror}; choose another folder."
                ) from None
            raise UserError(
                f"{path} must have one writer at a time, but {other or 'another process'}; wait until it has ended,"
                " end it, or name another file."
            ) from None
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file), os.stat(hidden)):
                break
        os.close(file)  # its holder removed it meanwhile
    try:
        os.ftruncate(file, 0)
        since = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
        os.write(file, f"process {os.getpid()} on {socket.gethostname()} {does} since {since}".encode())
        yield
    finally:
        hidden.unlink(missing_ok=True)
        os.close(file)


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as failure:
        raise UserError(
            f"a lock must be in a writable folder, got {path}: {failure.strerror}; choose another folder."
        ) from None
