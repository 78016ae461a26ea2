"""Agents' files on machines that lack them: noted where a path is typed, found where the work is done.

A driver notes the files behind the values of its text forms. Work that it sends away carries their names, digests and,
if a machine lacks them, their bytes; that machine keeps a file in the user's cache, by its digest.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..errors import UserError
from ..outputs import user_cache
from ..text_form import Spec, parse
from .bundle import DIGITS
from .files import content_digest, note_place

LARGEST = 500_000_000  # bytes of a file that travels; larger ones must be on every machine
_typed: dict[str, str] = {}  # value in text forms -> path of its file when it was typed
_here: dict[str, Carried] = {}  # value in text forms -> file that has arrived in this process, with its path here


class Carried(NamedTuple):
    """A file that work needs.

    Args:
        value: its value in text forms.
        path: absolute; on its driver's machine until it has arrived.
        content: SHA-256 of its bytes, 64 hexadecimal digits.
        size: in bytes.
    """

    value: str
    path: str
    content: str
    size: int


def note(value: str, path: str) -> None:
    """Notes the file that a value of text forms stands for in this process; does nothing if there is none."""
    if os.path.isfile(path):
        _typed[value] = os.path.abspath(path)


def path_of(value: str) -> str:
    """Returns the path of the file that has arrived for a value, otherwise the value itself."""
    return _here[value].path if value in _here else value


def arrived() -> list[Carried]:
    """Returns the files that have arrived in this process, for processes that it starts."""
    return list(_here.values())


def learn(files: Iterable[Carried]) -> None:
    """Makes files of this machine known to this process."""
    _here.update({file.value: file for file in files})


def named_in(text: str) -> list[Carried]:
    """Returns the files that a text form names; raises UserError if one can no longer be read."""
    if not _typed:
        return []
    found = [(value, _typed[value]) for value in sorted(_values(text)) if value in _typed]
    return [Carried(value, path, content_digest(path, value), os.path.getsize(path)) for value, path in found]


@functools.lru_cache(maxsize=1 << 12)
def _values(text: str) -> frozenset[str]:
    return frozenset(_words(parse(text)))


def _words(spec: Spec) -> Iterator[str]:
    for value in spec.parameters.values():
        if isinstance(value, Spec):
            yield from _words(value)
        else:
            yield value


def receive(file: Carried, fetch: Callable[[], Iterable[bytes]]) -> None:
    """Makes a file known to this process, fetched if this machine lacks it; raises UserError if that fails.

    Args:
        file: as its driver knows it.
        fetch: returns its bytes in parts; called only if neither its path nor the user's cache has that content.
    """
    known = _here.get(file.value)
    if known is not None and known.content == file.content and os.path.isfile(known.path):
        return
    path = file.path if _is_at(file.path, file) else _kept(file, fetch)
    _here[file.value] = file._replace(path=path)
    if file.value.endswith(f"@{file.content[:DIGITS]}"):
        note_place(file.content[:DIGITS], path)


def _is_at(path: str, file: Carried) -> bool:
    """Whether a path has that file; the readers of a large one compare its digest."""
    if not os.path.isfile(path) or os.path.getsize(path) != file.size:
        return False
    with contextlib.suppress(UserError):  # not readable: as if it were not there
        return file.size > LARGEST or content_digest(path, file.value) == file.content
    return False


def _kept(file: Carried, fetch: Callable[[], Iterable[bytes]]) -> str:
    """Returns a file's path in the cache; one process of this machine puts it there."""
    if file.size > LARGEST:
        raise UserError(
            f"{file.value} must be on every machine, since files of more than {LARGEST:,} bytes do not travel, got one"
            f" of {file.size:,} that is not here; copy it to {file.path}."
        )
    path = user_cache() / "carried" / file.content / os.path.basename(file.path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with (path.parent / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not _is_at(str(path), file):
                _write(path, fetch())
    except OSError as failure:
        raise UserError(
            f"{file.value} must go into a cache that can be written, got {path.parent}: {failure.strerror}; make room,"
            " or set XDG_CACHE_HOME to another folder."
        ) from None
    if not _is_at(str(path), file):
        raise UserError(f"{file.value} must arrive as it was sent, got other content in {path}; repeat the command.")
    return str(path)


def _write(path: Path, parts: Iterable[bytes]) -> None:
    part = path.with_name(".part")
    with part.open("wb") as file:
        file.writelines(parts)
    part.replace(path)
