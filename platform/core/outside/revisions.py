"""A file as it was in a git revision."""

from __future__ import annotations

import subprocess
from pathlib import Path

from turnier.core.errors import UserError
from turnier.core.outside.bundle import ENCODING, Read

SECONDS = 10.0


def at_revision(folder: Path, revision: str, name: str) -> Read:
    """Returns a reader of the files below a folder as they were in a revision of its git repository.

    Raises UserError where `revision` is none; `name` is what asked for it.
    """
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        raise UserError(
            f"what follows @ must be PREVIOUS, a stored version (`turnier versions` lists them) or a git revision, got"
            f" {revision!r} in {name}; {folder.absolute()} has no such revision."
        )
    commit = commit.strip()

    def read(path: str) -> str | None:
        return _git(folder, "show", f"{commit}:./{path}")

    return read


def _git(folder: Path, *words: str) -> str | None:
    """Returns what git prints, with line ends as files are read; None where it fails."""
    command = ["git", "-C", str(folder), *words]
    try:
        return subprocess.run(command, capture_output=True, encoding=ENCODING, timeout=SECONDS, check=True).stdout
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
