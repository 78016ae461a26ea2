"""Where parameters are in an agent: its own, those of its parts, and the options that its engine declares."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from ...agents.engines.uci_options import TakesOptions
from ...core.parameters import Declared, Registry, format_value

Value = float | int | bool | str


def value_at(declared: Any, path: str) -> Any:
    """Returns the value at a path: a part as its text, an option of an engine as text; None if there is none."""
    while isinstance(declared, Declared):
        name, _, path = path.partition(".")
        if path and isinstance(declared, TakesOptions) and name == declared.takes_options:
            return declared.option(path)
        declared = getattr(declared, name, None)
        if not path:
            return str(declared) if isinstance(declared, Declared) else declared
    return None


def owner_of(declared: Any, path: str) -> tuple[TakesOptions, str] | None:
    """Returns the engine whose option a path names, and the option's name; None if it names none."""
    while isinstance(declared, Declared):
        name, _, path = path.partition(".")
        if path and isinstance(declared, TakesOptions) and name == declared.takes_options:
            return declared, path
        declared = getattr(declared, name, None)
    return None


def part_text(kind: str, text: str, start: str) -> str:
    """Returns the text form of a part; just the name of the start's part means that one with its parameters."""
    made = Registry.kinds[kind].make(text)
    return start if text in (start, start.partition("(")[0]) else str(made)


@functools.lru_cache(256)
def part(kind: str, text: str) -> Declared:
    """Returns the part with a text form."""
    made = Registry.kinds[kind].make(text)
    assert isinstance(made, Declared)
    return made


def with_values(declared: Any, values: Mapping[str, Value]) -> Any:
    """Returns a declared object with its values at some paths replaced; raises UserError if they do not fit."""
    changes: dict[str, Any] = {}
    inner: dict[str, dict[str, Value]] = {}
    for path, value in values.items():
        name, _, rest = path.partition(".")
        if rest:
            inner.setdefault(name, {})[rest] = value
        else:
            own = getattr(declared, name)
            if isinstance(own, Declared):
                changes[name] = own if str(own) == value else part(own.kind, str(value))
            else:
                changes[name] = value
    options: dict[str, str] = {}
    for name, own in inner.items():
        if isinstance(declared, TakesOptions) and name == declared.takes_options:
            options = {option: format_value(value) for option, value in own.items()}
        else:
            changes[name] = with_values(changes.get(name, getattr(declared, name)), own)
    changed = declared.replace(**changes) if changes else declared
    return changed.with_options(options) if options else changed
