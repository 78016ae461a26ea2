"""Files that classes read, as values of parameters: their content is part of an agent's identity.

A parameter declared with `file=True` has the text `weights.json@3f9a1c2b4d5e`: the path as it was written, and the
digest of the content that it stood for. Playing requires the digest; listing stored games does not.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from pathlib import Path
from typing import Any

from ..errors import MALFORMED, UserError
from ..outputs import user_cache
from .bundle import DIGITS

SHOWN_DIGITS = 7  # of a digest, for people
SETTLED = 10**9  # nanoseconds after which a further change gets another time, so that an equal time means equal content
_WITH_DIGEST = re.compile(rf"(.+)@([0-9a-f]{{{SHOWN_DIGITS},{DIGITS}}})")
_digests: dict[tuple[str, int, int, int], str] = {}  # by path, size, time and number


class FileName(str):
    """The path of a file, to open it, and the content that it stood for."""

    written: str  # the path as the user wrote it
    digest: str

    def __new__(cls, path: str, written: str, digest: str) -> FileName:
        name = super().__new__(cls, path)
        name.written, name.digest = written, digest
        return name

    @property
    def text(self) -> str:
        return f"{self.written}@{self.digest}"

    @property
    def short(self) -> str:
        """The text for people, unambiguous as long as only one known digest begins like this."""
        return f"{self.written}@{self.digest[:SHOWN_DIGITS]}"

    def __eq__(self, other: object) -> bool:
        """Whether both have the same text; their places may differ between machines."""
        return self.text == (other.text if isinstance(other, FileName) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.text)

    def __reduce__(self) -> tuple[Any, ...]:
        return FileName, (str(self), self.written, self.digest)

    def require(self, what: str) -> Path:
        """Returns the path; raises UserError if the file is gone or its content has changed.

        Args:
            what: name of the file in errors, such as "Bot: weights".
        """
        if not os.path.isfile(self):
            raise UserError(
                f"{what} must be a file on this machine, got {self.written}, which is not one; put it there, or name"
                " another."
            )
        got = digest_of(str(self), what)
        if got != self.digest:
            raise UserError(
                f"{what} must have the digest {self.digest}, got {got} of {self}, which has changed; restore it, or"
                f" write {self.written} without a digest to play with it as it is now."
            )
        return Path(str(self))


def file_name(value: str, folder: str, what: str) -> str:
    """Returns a file with the digest of its content, or with the digest of its text; "" stands for no file.

    Raises UserError if there is no such file, unless the text has a digest.

    Args:
        value: a path from the current folder or from `folder`, or a text of `FileName`.
        folder: of the class's code; empty if unknown.
        what: name of the file in errors, such as "Bot: weights".
    """
    if not value or isinstance(value, FileName):
        return value
    match = None if os.path.isfile(value) else _WITH_DIGEST.fullmatch(value)
    if match:
        written, digest = match.groups()
        digest = digest if len(digest) == DIGITS else _whole_digest(written, digest, folder, what)
        seen, unchanged = _noted(digest)
        places = [*([seen] if unchanged else []), *_places(written, folder), seen or os.path.abspath(written)]
        return FileName(places[0], written, digest)
    place = next(iter(_places(value, folder)), "")
    if not place:
        beside = f" nor in {folder}" if folder and not os.path.isabs(value) else ""
        raise UserError(
            f"{what} must be a file, got {value}, which is not in the current folder{beside}; name one by its path."
        )
    digest = digest_of(place, what)
    note_place(digest, place)
    return FileName(place, value, digest)


def is_file_text(value: str) -> bool:
    """Whether a text is the path of an existing file, with a dot or slash, or ends in a digest like stored ones."""
    match = _WITH_DIGEST.fullmatch(value)
    return bool(match and len(match[2]) == DIGITS) or (any(sign in value for sign in "./") and os.path.isfile(value))


def digest_of(path: str, what: str) -> str:
    """Returns the digest of a file's content, as in text forms."""
    return content_digest(path, what)[:DIGITS]


def content_digest(path: str, what: str) -> str:
    """Returns the SHA-256 of a file as hexadecimal digits; it is read once as long as the file does not change.

    Raises UserError if it cannot be read; `what` names it there, such as "Bot: weights".
    """
    try:
        with open(path, "rb") as file:
            key = _stamp(path, os.fstat(file.fileno()))
            if key not in _digests:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                if time.time_ns() - key[2] < SETTLED:
                    return digest
                _digests[key] = digest
    except OSError as failure:
        raise UserError(f"{what} must be a file that can be read, got {path}: {failure.strerror}; fix that.") from None
    return _digests[key]


def _stamp(path: str, state: os.stat_result) -> tuple[str, int, int, int]:
    return path, state.st_size, state.st_mtime_ns, state.st_ino


def _places(written: str, folder: str) -> list[str]:
    """Returns the existing files of that path, from the current folder and from the folder of the code."""
    places = dict.fromkeys(os.path.abspath(os.path.join(start, written)) for start in (".", folder or "."))
    return [place for place in places if os.path.isfile(place)]


def _whole_digest(written: str, digest: str, folder: str, what: str) -> str:
    """Returns the whole digest that begins like this: the file's, otherwise the only one ever seen here."""
    now = [digest_of(place, what) for place in _places(written, folder)]
    seen = {path.stem for path in _note_path("").parent.glob(f"{digest}*.json")}
    found = {each for each in now if each.startswith(digest)} or seen
    if len(found) != 1:
        got = f"{now[0]} of {written}" if now else f"{written}, which is not a file"
        raise UserError(f"{what} must have a digest that begins with {digest}, got {got}; restore it, or leave it out.")
    return found.pop()


def note_place(digest: str, path: str) -> None:
    """Notes the path of a content: another process of this user may be in another folder."""
    with contextlib.suppress(OSError):
        note, text = _note_path(digest), json.dumps(_stamp(path, os.stat(path)))
        if note.exists() and note.read_text() == text:
            return
        note.parent.mkdir(parents=True, exist_ok=True)
        part = note.with_suffix(f".{os.getpid()}")
        part.write_text(text)
        part.replace(note)


def _noted(digest: str) -> tuple[str, bool]:
    """Returns the noted path of a content, empty if there is none, and whether the file there is unchanged."""
    with contextlib.suppress(OSError, *MALFORMED):
        path, *rest = json.loads(_note_path(digest).read_text())
        return str(path), [path, *rest] == list(_stamp(path, os.stat(path)))
    return "", False


def _note_path(digest: str) -> Path:
    return user_cache() / "files" / f"{digest}.json"
