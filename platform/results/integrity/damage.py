"""The error for damaged stored data, and the one place where decoding them may fail."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterator

from ...core.errors import MALFORMED, UserError

# Errors raised by decoding damaged data: JSON, texts, numbers, compressed moves.
UNDECODABLE = (*MALFORMED, ArithmeticError, MemoryError, zlib.error)

REPAIR = "`turnier doctor --store {url} --repair` says what is lost and repairs the rest"


class Damaged(UserError):
    """Raised if stored data are damaged: they are never shown."""


def damaged(place: str, shown_url: str, what: str) -> Damaged:
    """Returns the error for damaged data; `place` and `shown_url` name the database, without its password."""
    return Damaged(f"{place} must hold what was stored in it, but {what}; {REPAIR.format(url=shown_url)}.")


@contextlib.contextmanager
def decoding(place: str, shown_url: str, what: str) -> Iterator[None]:
    """Raises Damaged if stored data cannot be decoded."""
    try:
        yield
    except UNDECODABLE as failure:
        raise damaged(place, shown_url, f"{what} cannot be read: {reason(failure)}") from failure


def reason(failure: BaseException) -> str:
    """Returns an exception's reason as part of a sentence."""
    text = " ".join(str(failure).split())[:200].rstrip(".")
    return f"{type(failure).__name__} {text}".rstrip()
