"""A file as it was in a git revision."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ..errors import UserError
from .bundle import ENCODING, MAX_DATA, Source

SECONDS = 10.0


class _Revision(NamedTuple):
    folder: Path
    commit: str

    def text(self, path: str) -> str | None:
        found = _git(self.folder, "show", f"{self.commit}:./{path}")
        try:
            return None if found is None else found.decode(ENCODING).replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError:
            return None

    def matching(self, pattern: str) -> list[str]:
        listed = _git(self.folder, "ls-tree", "-r", "-z", "--name-only", self.commit, "./") or b""
        names = [PurePosixPath(name.decode(errors="replace")) for name in listed.split(b"\0") if name]
        parts = len(PurePosixPath(pattern).parts)
        return [str(name) for name in names if len(name.parts) == parts and name.match(pattern)]

    def data(self, path: str) -> bytes:
        return (_git(self.folder, "show", f"{self.commit}:./{path}") or b"")[: MAX_DATA + 1]


def at_revision(folder: Path, revision: str, name: str) -> Source:
    """Returns the files below a folder as they were in a revision of its git repository.

    Raises UserError if there is no such revision; `name` is the class's name that asked for it.
    """
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None and shutil.which("git") is None:
        raise UserError(f"a revision after @, such as {revision!r} in {name}, needs git; install it.")
    if commit is None:
        raise UserError(
            f"@ must be followed by PREVIOUS, a stored version (`turnier show` lists them) or a git revision, got"
            f" {revision!r} in {name}; {folder.absolute()} has no such revision."
        )
    return _Revision(folder, commit.decode().strip())


def _git(folder: Path, *words: str) -> bytes | None:
    """Returns git's output; None if it fails."""
    command = ["git", "-C", str(folder), *words]
    try:
        return subprocess.run(command, capture_output=True, timeout=SECONDS, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
