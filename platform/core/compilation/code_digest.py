"""The digest of our own sources that decide games: two checkouts with the same digest play the same games.

Commits and version numbers are labels that an edit does not change. The digest is of files, so a comment changes it,
too: playing some games again then shows whether they differ (`results/other_code.py`).
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

FLOORS = ("core", "games", "agents", "arena")  # the others show, store and schedule games, but do not decide them
SOURCES = (".java", ".py")  # Java: the bridge to Ludii
SHOWN_DIGITS = 7  # as in versions of classes that are not ours (core/outside)
EARLIER = "of an earlier version"  # in place of a release, for games that were stored without one
_PACKAGE = Path(__file__).parents[2]  # the floors in it are folders, or links to folders


def digest_of_code(package: Path) -> str:
    """Returns the digest of the floors in a folder; its place, links and the times of files do not matter."""
    digest = hashlib.sha256()
    for floor in FLOORS:
        for path in sorted(_sources(package / floor)):
            content = Path(path).read_bytes()
            digest.update(f"{os.path.relpath(path, package)}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()[:SHOWN_DIGITS]


@functools.cache
def own_code() -> str:
    """Returns the digest of the code that this process plays with."""
    return digest_of_code(_PACKAGE)


@functools.cache
def release() -> str:
    """Returns the version of Turnier and of its code, as a local version of PEP 440: 0.1.0+3f9a1c2."""
    try:
        version = metadata.version("turnier")
    except metadata.PackageNotFoundError:
        version = "unknown"
    return f"{version}{'.' if '+' in version else '+'}{own_code()}"


def _sources(folder: Path) -> Iterator[str]:
    """Yields the paths of the sources in a folder and its folders, without editors' hidden files."""
    for entry in os.scandir(folder):
        if entry.name.startswith((".", "__pycache__")):
            continue
        if entry.is_dir():
            yield from _sources(Path(entry.path))
        elif entry.name.endswith(SOURCES):
            yield entry.path
