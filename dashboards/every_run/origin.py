"""The origin of a run: its command, seed, settings, versions and machine, and how to repeat and check it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from turnier.dashboards.sections import Copy, Facts, Section
from turnier.results.store.progress import LIVE, RunProgress, stored_command
from turnier.results.store.store import Run, Store

MAX_VALUE = 2000  # characters of a setting
SAMPLE = "5%"  # of the games, played again by the command that checks a run


def origin(store: Store, run: Run) -> Facts:
    """Returns the date, machine, versions and command of a run."""
    known = run.environment
    facts = {
        "run": run.id,
        "begun": f"{run.created:%Y-%m-%d %H:%M} UTC",
        "seed": str(run.definition.get("seed", "")),
        "machine": ", ".join(filter(None, (known.get("cpu"), _cores(known.get("cpus")), known.get("machine")))),
        "versions": ", ".join(f"{key} {known[key]}" for key in ("turnier", "python", "numba") if known.get(key)),
        "command": shlex.join(stored_command(store, run.id) or known.get("command") or ()),
    }
    return Facts({name: text for name, text in facts.items() if text}, "Origin")


def sections(store: Store, run: Run, progress: RunProgress | None, option: str = "") -> Iterator[Section]:
    """Yields the commands that repeat and check a run, its origin and its settings.

    `option` makes the commands use the store, such as " --store URL".
    """
    words = stored_command(store, run.id) or run.environment.get("command") or ()
    ended = progress is None or progress.state not in LIVE
    complete = progress is not None and progress.done is not None and progress.done >= (progress.planned or 0)
    if words and ended:
        why = (
            "To show it again, with larger numbers to continue it, with another --store to repeat it:"
            if complete
            else "To resume it:"
        )
        yield Copy(shlex.join(words) + option, why)
    if store.match_counts().get(run.id):
        yield Copy(
            f"turnier check {shlex.quote(run.id)} --sample {SAMPLE}{option}",
            "To check it by playing some of its games again:",
        )
    rows = dict(origin(store, run).rows)
    rows.pop("command", None)
    yield Facts(rows | _took(progress), "Origin")
    yield Facts(settings(run.definition), "Settings")


def _cores(count: int | None) -> str:
    return f"{count:,} core{'s' * (count != 1)}" if count else ""


def _took(progress: RunProgress | None) -> dict[str, str]:
    """Returns the time that the last driver of a run took, and which it was."""
    if progress is None or not progress.started:
        return {}
    facts = {"driver": progress.holder or ""}
    if progress.ended:
        seconds = (datetime.fromisoformat(progress.ended) - datetime.fromisoformat(progress.started)).total_seconds()
        facts["took"] = str(timedelta(seconds=round(seconds)))
    return {name: text for name, text in facts.items() if text}


def settings(definition: dict[str, Any]) -> dict[str, str]:
    """Returns the settings of a definition as texts; lists of agents are a line each."""
    return {
        name.replace("_", " "): _text(value)[:MAX_VALUE]
        for name, value in definition.items()
        if value not in (None, "", [], {})
    }


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str | int | float) for one in value):
        return "\n".join(map(str, value))
    return json.dumps(value, ensure_ascii=False, default=str)
