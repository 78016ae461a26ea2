"""Names that people gave: what is shown in a process uses those of the stores that are open in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

# Open store -> full text of its agents -> the name of the agent.
GIVEN: WeakKeyDictionary[Any, Mapping[str, str]] = WeakKeyDictionary()


def given_name(text: str) -> str | None:
    """Returns the name of an agent; of several stores that name it, that of the one opened last; None without one."""
    return next((names[text] for names in reversed(list(GIVEN.values())) if text in names), None)
