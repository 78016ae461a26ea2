"""Checks many laws of one subject in one test, so that a failure names every law that is broken, and by what."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def check_laws(laws: Iterable[Callable[..., None]], *subject: Any) -> None:
    """Checks every law on the subject, such as an agent and a game; raises with one line per broken law."""
    failures: dict[str, Exception] = {}
    for law in laws:
        try:
            law(*subject)
        except Exception as error:
            failures[law.__name__] = error
    if failures:
        name = " in ".join(map(str, subject))
        lines = [f"{law} is broken by {name}: {error or type(error).__name__}" for law, error in failures.items()]
        raise AssertionError("\n".join(lines)) from next(iter(failures.values()))
