"""The disk of a file: SQLite's locks and log do not work on disks of other machines."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from ...core.errors import UserError

MOUNTS = Path("/proc/self/mounts")  # of Linux; elsewhere nothing is refused
_REMOTE = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "fuse.sshfs", "fuse.smbnetfs"}


def require_own_disk(path: Path) -> None:
    """Raises UserError if an SQLite database to be written is on another machine's disk."""
    kind, mounted = _mount_of(path)
    if kind in _REMOTE:
        raise UserError(
            f"an SQLite database must be on a disk of this machine to be written, but {path} is on a network"
            f" file system ({kind} at {mounted}); name a file on a local disk, or use PostgreSQL."
        )


def _mount_of(path: Path) -> tuple[str, str]:
    """Returns the kind of the file system that holds a file, and where it is mounted; empty if that is unknown."""
    place, found = Path(os.path.realpath(path)), ("", "")
    with contextlib.suppress(OSError):
        for line in MOUNTS.read_text(errors="replace").splitlines():
            _, mounted, kind, *_ = [*line.split(" "), "", "", ""]
            folder = mounted.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
            if len(folder) >= len(found[1]) and place.is_relative_to(folder):  # the last of equal ones is on top
                found = kind, folder
    return found
