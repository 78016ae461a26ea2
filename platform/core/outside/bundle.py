"""The code of a class that is not ours: its file, and what that imports from its own folder or package."""

from __future__ import annotations

import ast
import functools
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from turnier.core.errors import UserError

DIGITS = 12  # of a digest in names
MAX_FILES = 500
MAX_CHARACTERS = 4_000_000  # of all files; they travel to workers with their work
ENCODING = "utf-8-sig"  # of files of code: UTF-8, without the byte-order mark that some editors write
Read = Callable[[str], str | None]  # the text of a file by its path from the root, None where there is none


@dataclass(frozen=True)
class Bundle:
    """Python files that belong together, by path from their root; data files are not part of it.

    Args:
        place: how names write it: `bot.py` (its root is the file's folder) or `package.module` (the package's folder).
        files: text by path.
        folder: the root on this machine, if it was read from there; no part of the digest.
    """

    place: str
    files: Mapping[str, str]
    folder: str = ""

    @functools.cached_property
    def digest(self) -> str:
        text = json.dumps([self.place, sorted(self.files.items())])
        return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]

    @property
    def module(self) -> str:
        """The module that has the class, as the bundle's files import it."""
        return self.place.removesuffix(".py")

    def to_json(self) -> dict[str, Any]:
        return {"place": self.place, "files": dict(self.files)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Bundle:
        """Returns what `to_json` made; raises UserError where a file would lie outside of its folder."""
        files = {str(path): str(text) for path, text in data["files"].items()}
        for path in files:
            if not path.endswith(".py") or {"", ".", ".."} & set(path.split("/")) or {"\\", "\0"} & set(path):
                raise UserError(
                    f"code in a store must be .py files inside its folder, got {path!r}; do not trust this store."
                )
        return cls(str(data["place"]), files)


def gather(place: str, read: Read, folder: str = "") -> Bundle:
    """Returns a module with all that it imports from its root, followed statically.

    Raises UserError where a file is no Python, where they are too many, or where a file's name is no module's.
    """
    files: dict[str, str] = {}
    missing: set[str] = set()
    waiting = list(_paths(place))
    package: str | None = place.partition(".")[0]
    if place.endswith(".py"):
        stem = place.removesuffix(".py")
        if "." in stem:
            raise UserError(f"the name of a file of code must have no dot but that of .py, got {place}; rename it.")
        if read(place) is not None and read(f"{stem}/__init__.py") is not None:
            raise UserError(
                f"{place} must have no package of its name beside it, got {stem}/__init__.py, which Python would import"
                " in its place; rename one of them."
            )
        waiting, package = [place], None
    while waiting:
        path = waiting.pop()
        if path in files or path in missing:
            continue
        text = read(path)
        if text is None:
            missing.add(path)
            continue
        files[path] = text
        if len(files) > MAX_FILES or sum(map(len, files.values())) > MAX_CHARACTERS:
            raise UserError(
                f"what {place} imports from its folder must be at most {MAX_FILES} files of {MAX_CHARACTERS:,}"
                " characters, got more; move the class into a folder of its own."
            )
        for name in _imported(_parsed(path, text), _package_of(path)):
            if package is None or name.partition(".")[0] == package:
                waiting += _paths(name)
    return Bundle(place, files, folder)


def on_disk(folder: Path) -> Read:
    """Returns a reader of the Python files below a folder."""

    def read(path: str) -> str | None:
        try:
            return (folder / path).read_text(encoding=ENCODING)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except (OSError, UnicodeDecodeError) as failure:
            reason = getattr(failure, "strerror", None) or "it is not UTF-8 text"
            raise UserError(f"a file of code must be readable, got {folder / path}: {reason}; fix that.") from None

    return read


def _parsed(path: str, text: str) -> ast.Module:
    try:
        return ast.parse(text, path)
    except (SyntaxError, ValueError) as failure:
        line = f", line {failure.lineno}" if isinstance(failure, SyntaxError) else ""
        reason = failure.msg if isinstance(failure, SyntaxError) else str(failure)
        raise UserError(f"{path} must be Python, got: {reason}{line}; fix it.") from None


def _paths(module: str) -> Iterator[str]:
    """Yields the files that importing a module would run, if they exist: its packages' and its own."""
    parts = module.split(".")
    for length in range(1, len(parts) + 1):
        yield "/".join(parts[:length]) + "/__init__.py"
    yield "/".join(parts) + ".py"


def _package_of(path: str) -> list[str]:
    """Returns the package that relative imports of a file start from."""
    return list(PurePosixPath(path).parts[:-1])


def _imported(tree: ast.Module, package: list[str]) -> Iterator[str]:
    """Yields the modules that a file may import, as absolute names; some may be attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            if base:
                yield base
            yield from (f"{base}.{alias.name}" if base else alias.name for alias in node.names)
