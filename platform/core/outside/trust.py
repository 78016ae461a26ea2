"""Whether this process runs others' agents inside itself, for speed: author and referee are then one person."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

_trusted = False


def trust(others: bool = True) -> None:
    """Sets whether this process runs others' agents inside itself."""
    global _trusted
    _trusted = others


@contextlib.contextmanager
def trusting() -> Iterator[None]:
    """Runs others' code inside this process within the block."""
    before = _trusted
    trust()
    try:
        yield
    finally:
        trust(before)


def trusted() -> bool:
    """Returns whether others' agents run inside this process."""
    return _trusted
