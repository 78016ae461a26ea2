"""Finds files that somebody's code has read although they are not part of its version: edits of them go unnoticed."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..core.outputs import user_cache
from ..core.outside import classes, library
from ..core.outside.files import FileName
from ..core.parameters import Declared, parameters_of

SYSTEM = ("/proc", "/dev", "/sys", "/run", "/etc", "/usr", "/lib", "/lib64", "/bin", "/opt", "/System", "/Library")
CODE = (".py", ".pyc", ".pyi", ".so", ".pth", ".nbi", ".nbc", ".dylib")
SHOWN = 3  # files named in a sentence


class OpenedFiles:
    """Notes the files that this process opens from now on, until it ends."""

    def __init__(self) -> None:
        self._read: dict[str, None] = {}  # in order
        self._written = set[str]()
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event != "open" or isinstance(arguments[0], int):
            return
        try:  # an error here would be raised where the file is opened
            path, flags = os.path.abspath(os.fsdecode(arguments[0])), arguments[2]
            if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
                self._written.add(path)
            else:
                self._read[path] = None
        except Exception:
            return

    def undeclared(self, checked: Iterable[Declared]) -> list[str]:
        """Returns the files that were read and are neither code nor declared nor installed; none if all code is ours.

        Args:
            checked: the subjects checked while files were noted.
        """
        parts = [part for each in checked for part in _parts(each)]
        foreign = [part for part in parts if not _is_ours(part)]
        if not foreign:
            return []
        known, folders = {os.path.realpath(path) for part in parts for path in _declared(part)}, _installed()
        read = {os.path.realpath(path): None for path in list(self._read) if path not in self._written}
        found = [path for path in read if path not in known and os.path.isfile(path) and not _is_code(path, folders)]
        starts = [*(classes.folder_of(type(part)) for part in foreign), os.getcwd()]
        return [_shown(path, [os.path.realpath(start) for start in starts if start]) for path in found]


def sentence_of(files: list[str]) -> str:
    """Returns a sentence with the remedy for undeclared files; empty if there are none."""
    if not files:
        return ""
    named = [*files[:SHOWN], *([f"{len(files) - SHOWN} more"] if len(files) > SHOWN else [])]
    listed = f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]
    is_not, it = ("is not", "it") if len(files) == 1 else ("are not", "each")
    return (
        f"It read {listed}, which {is_not} part of its version: declare {it} by"
        f' NAME: str = parameter("{files[0]}", "what it is", file=True), or name {it} in TURNIER_FILES.'
    )


def _parts(declared: Declared) -> Iterator[Declared]:
    """Yields a declared object and, at every depth, the declared objects among its parameters."""
    yield declared
    for field, _ in parameters_of(type(declared)):
        if isinstance(value := getattr(declared, field.name), Declared):
            yield from _parts(value)


def _is_ours(declared: Declared) -> bool:
    return type(declared).__module__.partition(".")[0] == "turnier"


def _declared(part: Declared) -> Iterator[str]:
    """Yields the files that code and parameters name; in ours each has a digest."""
    for bundle in library.bundles_in([part.full_text()]):
        yield from (os.path.join(bundle.folder, path) for path in bundle.data)
    for field, _ in parameters_of(type(part)):
        value = getattr(part, field.name)
        if isinstance(value, FileName) or (isinstance(value, str) and _is_ours(part)):
            yield value


def _installed() -> tuple[str, ...]:
    """Returns the folders of Python, of packages, of Turnier and of the user's program data."""
    home = Path.home()
    hidden = [entry.path for entry in os.scandir(home) if entry.name.startswith(".")] if home.is_dir() else []
    package = Path(__file__).parents[1]  # of links to the folders of the code
    paths = [
        *(sys.prefix, sys.base_prefix, sys.exec_prefix, *sysconfig.get_paths().values(), *SYSTEM),
        *(*site.getsitepackages(), site.getusersitepackages()),
        *(str(package), *(str(part) for part in package.iterdir() if part.is_dir())),
        *(str(user_cache()), os.environ.get("NUMBA_CACHE_DIR", ""), *hidden),
    ]
    return tuple({os.path.realpath(path) + os.sep for path in paths if path and os.path.realpath(path) != os.sep})


def _is_code(path: str, folders: tuple[str, ...]) -> bool:
    return path.startswith(folders) or path.endswith(CODE) or "__pycache__" in path.split(os.sep)


def _shown(path: str, folders: list[str]) -> str:
    """Returns a path as it would be declared: from the current folder or from that of the code, if it is below."""
    return next((os.path.relpath(path, start) for start in folders if path.startswith(start + os.sep)), path)
