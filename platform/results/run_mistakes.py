"""Errors about missing or redefined runs."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from typing import Any

from ..core.errors import UserError


def unknown_run(text: str, names: Mapping[str, str]) -> UserError:
    """Returns the error for a run that does not exist, with the nearest of those that do (id -> name)."""
    if not names:
        return UserError(f"There is no run named {text!r}, since none is stored; `turnier tournament ...` makes one.")
    named = {run: f"{run} ({name})" for run, name in names.items()}
    close = difflib.get_close_matches(text, named, n=3, cutoff=0.3)
    near = "the nearest are" if len(close) > 1 else "the nearest is" if close else "the newest is"
    runs = ", ".join(named[run] for run in close or list(names)[-1:])
    return UserError(f"There is no run named {text!r}; {near} {runs}; `turnier runs` lists all.")


def difference_of(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Names the first changed part of a definition."""
    key = next(key for key in sorted({*old, *new}) if old.get(key) != new.get(key) or (key in old) != (key in new))
    shown = ["nothing" if key not in part else json.dumps(part[key])[:200] for part in (new, old)]
    return f"{key} = {shown[0]} where {shown[1]} is stored"
