"""The latest options of a run of an earlier version, from the stored command line."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..store.annotations import ANCHOR
from ..store.columns import MatchColumns


def _games(text: str) -> int:
    return int(text.removesuffix("games").replace("_", ""))


# Kind of run -> option of a plan -> the option of the command, and the reader of its value.
_OPTIONS: dict[str, dict[str, tuple[str, Callable[[str], Any]]]] = {
    "tournament": {"games": ("--games", int), "certainty": ("--certain", float)},
    "comparison": {
        "margin": ("--margin", float),
        "alpha": ("--alpha", float),
        "games": ("--games", int),
        "first_round": ("--round", int),
    },
    "study": {"budget": ("--budget", _games), "verify": ("--verify", float)},
    "training": {"games": ("--games", int), "hours": ("--hours", float)},
}


def settings_of(
    kind: str,
    definition: Mapping[str, Any],
    command: Sequence[str],
    annotations: Mapping[str, str],
    columns: Callable[[], MatchColumns],
) -> dict[str, Any]:
    """Returns the options with which a run is resumed, as far as they are known.

    Args:
        kind, definition: of the run.
        command: the words that last drove it; empty if unknown.
        annotations: of the run, by name.
        columns: returns the games of the run.
    """
    given = dict(_given(command))
    found: dict[str, Any] = {}
    for name, (option, read) in _OPTIONS.get(kind, {}).items():
        try:
            found |= {name: read(given[option])} if option in given else {}
        except ValueError:
            continue  # of a command that failed
    if kind == "tournament":
        if "games" not in found and not command and "games" not in definition:
            found |= _games_each(definition, columns())
        found |= {"anchor": annotations[ANCHOR]} if ANCHOR in annotations else {}
    return found


def _given(command: Sequence[str]) -> list[tuple[str, str]]:
    """Returns the options of a command line with their values."""
    joined = [word.partition("=") for word in command if word.startswith("--") and "=" in word]
    apart = [pair for pair in itertools.pairwise(command) if pair[0].startswith("--")]
    return [*apart, *((name, value) for name, _, value in joined)]


def _games_each(definition: Mapping[str, Any], columns: MatchColumns) -> dict[str, int]:
    """Returns the largest number of games of a group of agents; all games if the format is adaptive."""
    total = len(columns.number)
    if definition.get("format") == "adaptive" or not total:
        return {"games": total} if total else {}
    seats_before = np.cumsum(columns.seats, dtype=np.int64)[:-1]
    groups = Counter(tuple(np.sort(group).tolist()) for group in np.split(columns.agent.codes, seats_before))
    return {"games": max(groups.values())}
