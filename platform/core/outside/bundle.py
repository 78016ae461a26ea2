"""The code of a class that is not ours: its file, the modules it imports from its folder or package, and data files.

The code names its data files: `TURNIER_FILES = ["weights.json", "book/*.txt"]`, paths from the folder of that file.
"""

from __future__ import annotations

import ast
import base64
import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Protocol

from ..errors import UserError

DIGITS = 12  # of a digest in names
MAX_FILES = 500
MAX_CHARACTERS = 4_000_000  # of all files; they travel to workers with their work
ENCODING = "utf-8-sig"  # of files of code: UTF-8, without the byte-order mark that some editors write
SESSION = "__main__"  # the place of code that is in no file, see `session`
DATA = "TURNIER_FILES"  # name of the list of data files in the code
MAX_DATA = 20_000_000  # bytes of all data files: a store keeps them with the code


class Source(Protocol):
    """Files below a root, such as a folder; paths start from the root and have slashes."""

    def text(self, path: str) -> str | None:
        """Returns the text of a file of code; None if it does not exist."""

    def matching(self, pattern: str) -> list[str]:
        """Returns the paths of the files that match a pattern and have as many parts as it."""

    def data(self, path: str) -> bytes:
        """Returns the content of a file, at most MAX_DATA + 1 bytes of it."""


@dataclass(frozen=True)
class Bundle:
    """Files that belong together, by path from their root.

    Args:
        place: as in names: `bot.py` (its root is the file's folder) or `package.module` (the package's folder).
        files: text of Python files.
        folder: the root on this machine, if it was read from there; not part of the digest.
        data: content of other files, which the code names in DATA.
    """

    place: str
    files: Mapping[str, str]
    folder: str = ""
    data: Mapping[str, bytes] = field(default_factory=dict)

    @functools.cached_property
    def digest(self) -> str:
        said: list[Any] = [self.place, sorted(self.files.items())]
        if self.data:  # versions without any keep their digest
            said.append(sorted((path, hashlib.sha256(data).hexdigest()) for path, data in self.data.items()))
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:DIGITS]

    @property
    def module(self) -> str:
        """The module of the class, by the name that the bundle's files import."""
        return self.place.removesuffix(".py")

    def to_json(self) -> dict[str, Any]:
        told: dict[str, Any] = {"place": self.place, "files": dict(self.files)}
        data = {path: base64.b64encode(content).decode() for path, content in self.data.items()}
        return told | ({"data": data} if data else {})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Bundle:
        """Returns the bundle of a `to_json`; raises UserError if a file would lie outside its folder."""
        files = {str(path): str(text) for path, text in data["files"].items()}
        more = {str(path): base64.b64decode(text, validate=True) for path, text in data.get("data", {}).items()}
        for path in (*files, *more):
            if path.endswith(".py") != (path in files) or not _is_inside(path):
                raise UserError(
                    f"code in a store must be .py files inside its folder, got {path!r}; do not trust this store."
                )
        return cls(str(data["place"]), files, data=more)


def _is_inside(path: str) -> bool:
    """Whether a path from a root stays below it on every system."""
    return not {"", ".", ".."} & set(path.split("/")) and not {"\\", "\0"} & set(path)


def gather(place: str, source: Source, folder: str = "") -> Bundle:
    """Returns a module with its data files and everything that it imports from its root, found without running it.

    Raises UserError if a file is not Python or cannot be a module by its name, if there are too many files, or if DATA
    does not name files.
    """
    files: dict[str, str] = {}
    data: dict[str, bytes] = {}
    missing: set[str] = set()
    waiting = list(_paths(place))
    package: str | None = place.partition(".")[0]
    if place.endswith(".py"):
        stem = place.removesuffix(".py")
        if "." in stem:
            raise UserError(f"the name of a file of code must have no dot except that of .py, got {place}; rename it.")
        if source.text(place) is not None and source.text(f"{stem}/__init__.py") is not None:
            raise UserError(
                f"{place} must have no package of its name beside it, got {stem}/__init__.py, which Python would import"
                " in its place; rename one of them."
            )
        waiting, package = [place], None
    while waiting:
        path = waiting.pop()
        if path in files or path in missing:
            continue
        text = source.text(path)
        if text is None:
            missing.add(path)
            continue
        files[path] = text
        if len(files) > MAX_FILES or sum(map(len, files.values())) > MAX_CHARACTERS:
            raise UserError(
                f"{place} must import at most {MAX_FILES} files of {MAX_CHARACTERS:,} characters from its folder, got"
                " more; move the class into a folder of its own."
            )
        tree = _parsed(path, text)
        for name in _data_paths(tree, path, source):
            data[name] = source.data(name)
            if len(data) > MAX_FILES or sum(map(len, data.values())) > MAX_DATA:
                raise UserError(
                    f"{DATA} of {place} must name at most {MAX_FILES} files of {MAX_DATA:,} bytes, got more; name large"
                    " files by parameters: NAME: str = parameter(PATH, MEANING, file=True)."
                )
        for name in _imported(tree, _package_of(path)):
            if package is None or name.partition(".")[0] == package:
                waiting += _paths(name)
    return Bundle(place, files, folder, data)


def _data_paths(tree: ast.Module, path: str, source: Source) -> list[str]:
    """Returns the data files named by a file of code, as paths from the root."""
    found: list[str] = []
    for pattern in _patterns(tree, path):
        if not _is_inside(pattern) or "**" in pattern:
            raise UserError(
                f"{DATA} in {path} must name files in or below its folder, got {pattern!r}; write paths such as"
                ' "weights.json" or "book/*.txt".'
            )
        matched = source.matching("/".join([*_package_of(path), pattern]))
        data = [name for name in matched if not name.endswith(".py")]
        if not data:
            raise UserError(
                f"{DATA} in {path} must name data files, got {pattern!r}, which matches none; correct it, or put the"
                " file there."
            )
        found += data
    return found


def _patterns(tree: ast.Module, path: str) -> list[str]:
    """Returns the list that the top level of a file assigns to DATA."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if not any(isinstance(target, ast.Name) and target.id == DATA for target in targets):
            continue
        try:
            value = ast.literal_eval(getattr(node, "value", None) or node)
        except ValueError:
            value = None
        if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
            raise UserError(f'{DATA} in {path} must be a list of paths in quotes, such as ["weights.json"]; fix it.')
        return list(value)
    return []


class _Folder(NamedTuple):
    folder: Path

    def text(self, path: str) -> str | None:
        try:
            return (self.folder / path).read_text(encoding=ENCODING)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except (OSError, UnicodeDecodeError) as failure:
            reason = getattr(failure, "strerror", None) or "it is not UTF-8 text"
            raise UserError(f"a file of code must be readable, got {self.folder / path}: {reason}; fix that.") from None

    def matching(self, pattern: str) -> list[str]:
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.glob(pattern) if path.is_file())

    def data(self, path: str) -> bytes:
        if not (self.folder / path).resolve().is_relative_to(self.folder.resolve()):
            raise UserError(f"data of code must be in its folder, got {path}, a link to elsewhere; copy the file.")
        try:
            with (self.folder / path).open("rb") as file:
                return file.read(MAX_DATA + 1)
        except OSError as failure:
            raise UserError(f"data of code must be readable, got {path}: {failure.strerror}; fix that.") from None


def on_disk(folder: Path) -> Source:
    """Returns the files below a folder."""
    return _Folder(folder)


def _parsed(path: str, text: str) -> ast.Module:
    try:
        return ast.parse(text, path)
    except (SyntaxError, ValueError) as failure:
        line = f", line {failure.lineno}" if isinstance(failure, SyntaxError) else ""
        reason = failure.msg if isinstance(failure, SyntaxError) else str(failure)
        raise UserError(f"{path} must be Python, got: {reason}{line}; fix it.") from None


def _paths(module: str) -> Iterator[str]:
    """Yields the files that importing a module would run, if they exist: those of its packages and its own."""
    parts = module.split(".")
    for length in range(1, len(parts) + 1):
        yield "/".join(parts[:length]) + "/__init__.py"
    yield "/".join(parts) + ".py"


def _package_of(path: str) -> list[str]:
    """Returns the package from which the relative imports of a file start."""
    return list(PurePosixPath(path).parts[:-1])


def _imported(tree: ast.Module, package: list[str]) -> Iterator[str]:
    """Yields the absolute names of the modules that a file may import; some may be attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            if base:
                yield base
            yield from (f"{base}.{alias.name}" if base else alias.name for alias in node.names)
