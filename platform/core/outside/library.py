"""The versions of others' code that this process and this user know, by digest.

Code runs only if its user has named its file once: looking at a store or an export from somebody else never runs code.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

from ..errors import MALFORMED, UserError
from ..outputs import user_cache
from .bundle import DIGITS, SESSION, Bundle

DIGEST = re.compile(rf"@([0-9a-f]{{{DIGITS}}})(?![0-9a-z])")
_known: dict[str, Bundle] = {}


def learn(bundle: Bundle) -> None:
    """Makes a version known to this process."""
    _known.setdefault(bundle.digest, bundle)


def keep(bundle: Bundle) -> None:
    """Makes a version known to this process and, unless it is of a session, to this user's later processes."""
    learn(bundle)
    if bundle.place == SESSION:
        return
    path = _path(bundle.digest)
    with contextlib.suppress(OSError):  # a later process then asks for the file again
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(f".{os.getpid()}")
            part.write_text(json.dumps(bundle.to_json()))
            part.replace(path)


def find(digest: str) -> Bundle | None:
    """Returns a version that this process or this user knows, by its digest or an unambiguous beginning of it."""
    kept = (path.stem for path in _path("").parent.glob(f"{digest}*.json")) if len(digest) < DIGITS else [digest]
    found = {known for known in (*_known, *kept) if known.startswith(digest)}
    return _whole(found.pop()) if len(found) == 1 else None


def _whole(digest: str) -> Bundle | None:
    if digest in _known:
        return _known[digest]
    with contextlib.suppress(OSError, UserError, *MALFORMED):
        bundle = Bundle.from_json(json.loads(_path(digest).read_text()))
        if bundle.digest == digest:  # otherwise the file is damaged
            learn(bundle)
            return bundle
    return None


def digests_in(texts: Iterable[str]) -> set[str]:
    """Returns the digests that text forms contain."""
    return {digest for text in texts if "@" in text for digest in DIGEST.findall(text)}


def of_session(text: str) -> bool:
    """Whether a text form names code that was typed into this interpreter and is in no file."""
    return f"{SESSION}:" in text


def bundles_in(texts: Iterable[str]) -> list[Bundle]:
    """Returns the known versions that text forms name, in the order of their digests."""
    found = map(find, sorted(digests_in(texts)))
    return [bundle for bundle in found if bundle]


def unpacked(bundle: Bundle) -> Path:
    """Returns a folder of this user with exactly a bundle's files; raises UserError if it cannot be written.

    Every process checks it again, since code that ran from it may have written there.
    """
    folder = _path(bundle.digest).with_suffix("")
    content = {path: text.encode() for path, text in bundle.files.items()} | dict(bundle.data)
    try:
        for path, data in content.items():
            file = folder / path
            if not file.is_file() or file.read_bytes() != data:
                file.parent.mkdir(parents=True, exist_ok=True)
                part = file.with_name(f".{file.name}.{os.getpid()}")
                part.write_bytes(data)
                part.replace(file)
    except OSError as failure:
        raise UserError(
            f"data of {bundle.place} must go to a writable folder, got {folder}: {failure.strerror}; make room,"
            " or set XDG_CACHE_HOME to another folder."
        ) from None
    return folder


def _path(digest: str) -> Path:
    return user_cache() / "code" / f"{digest}.json"
