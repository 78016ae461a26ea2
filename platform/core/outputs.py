"""Whether results can be written where they shall go: asked before the work, so that none is done in vain."""

from __future__ import annotations

import tempfile
from pathlib import Path

from turnier.core.errors import UserError


def require_file(path: Path, what: str) -> None:
    """Raises UserError where a file cannot be written; its folder must exist."""
    if path.is_dir():
        raise UserError(f"{what} must be a file, got the folder {path}; name a file in it.")
    if not path.parent.is_dir():
        raise UserError(f"the folder of {what} must exist, got {path}; create {path.parent} first.")
    _require_room(path.parent, path, what)


def require_folder(path: Path, what: str) -> None:
    """Raises UserError where files cannot be written into a folder, which may have to be made first."""
    existing = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not existing.is_dir():
        raise UserError(f"{what} must be a folder, got {path}, where {existing} is a file; choose another.")
    _require_room(existing, path, what)


def _require_room(folder: Path, path: Path, what: str) -> None:
    """Raises UserError where nothing can be written into an existing folder."""
    try:
        with tempfile.TemporaryFile(dir=folder):  # what permissions say is not all: disks are read-only, root may all
            pass
    except OSError as failure:
        reason = failure.strerror or failure
        raise UserError(f"{what} must be where files can be written, got {path}: {reason}; choose another.") from None
