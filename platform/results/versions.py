"""The versions of others' code in a store: the run that first had each, and names of versions completed."""

from __future__ import annotations

import json
import re
import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pandas as pd

from ..core.errors import UserError
from ..core.outside import classes, library
from ..core.outside.bundle import Bundle
from .frames import Standings, Terms, matches_frame
from .store.annotations import CODE
from .store.store import Store

PREVIOUS = "PREVIOUS"
_CLASS = r"(?P<place>[^\s(),=\"@:]+):(?P<class>[A-Za-z_][\w.]*)"
_VERSION = r"@(?P<version>[^\s(),=\"@:]+)"
_VERSIONED = re.compile(_CLASS + _VERSION)
_NAMED = re.compile(rf"{_CLASS}({_VERSION})?(?![\w.@:/])")


@dataclass(frozen=True)
class Version:
    """One version of a file or module, and the beginning of the first run with it."""

    bundle: Bundle
    first_run: str
    since: datetime  # UTC


def stored_versions(store: Store, place: str = "") -> list[Version]:
    """Returns the versions of a file (by its name) or module, or of all, in the runs of a store, the oldest first."""
    since = {run.id: run.created for run in store.runs()}
    found: dict[str, Version] = {}
    for run_id, _, text in sorted(store.annotations.beginning(CODE), key=lambda row: since[row[0]]):
        bundle = Bundle.from_json(json.loads(text))
        if place in ("", bundle.place):
            found.setdefault(bundle.digest, Version(bundle, run_id, since[run_id]))
    return list(found.values())


def recall(store: Store, text: str) -> str:
    """Returns a text form with stored versions completed to whole digests; others are unchanged.

    PREVIOUS is the newest version in the store other than the present code. Naming a version makes its code known, so
    it runs: no other code in a store ever does.
    """

    def whole(match: re.Match[str]) -> str:
        place, wanted = match["place"], match["version"]
        name = place.rpartition("/")[2]
        versions = stored_versions(store, name)
        if wanted == PREVIOUS:
            now = classes.current(place).digest
            versions = [version for version in versions if version.bundle.digest != now][-1:]
            if not versions:
                raise UserError(
                    f"{store.shown_url} must have games of an earlier version of {name} for @{PREVIOUS}, got none; play"
                    f" some before an edit, or name a git revision: {place}:{match['class']}@HEAD."
                )
        else:
            versions = [version for version in versions if version.bundle.digest.startswith(wanted)]
        if len(versions) != 1:
            return match[0]
        library.keep(versions[0].bundle)
        return classes.named(versions[0].bundle, match["class"])

    return _VERSIONED.sub(whole, text)


def pinned(words: Sequence[str], definition: Mapping[str, Any]) -> list[str]:
    """Returns the words of a command with the versions with which its run was begun.

    Raises UserError if several could be meant: earlier releases stored commands as they were typed.
    """
    begun: dict[str, set[str]] = defaultdict(set)
    for match in _VERSIONED.finditer(json.dumps(definition)):
        begun[f"{match['place']}:{match['class']}"].add(match["version"])

    def version(match: re.Match[str]) -> str:
        name = f"{match['place'].rpartition('/')[2]}:{match['class']}"
        versions = sorted(begun[name])
        meant = [each for each in versions if each.startswith(match["version"] or "")] or versions
        if len(meant) > 1:
            raise UserError(
                f"the command of a run must say which version of {name} each name means, but {match[0]} may be"
                f" {' or '.join(f'{name}@{each}' for each in meant)}; to resume the run, write the versions into the"
                f" names and type it: {shlex.join(words)}"
            )
        return f"{match['place']}:{match['class']}@{meant[0]}" if meant else match[0]

    return [_NAMED.sub(version, word) for word in words]


def rated_versions(store: Store, versions: Sequence[Version], game: str = "") -> pd.DataFrame:
    """Returns a row per game and agent with one of the versions, the oldest version first.

    Columns: those of rating lists, over all stored games of the game, and version (digest) and since.
    """
    frame = matches_frame(store, kind=None, game=game or None, ids=False, variants=True)
    having = [text for text in frame["agent"].unique() if _version_in(str(text), versions)]
    played = frame.loc[frame["agent"].isin(having), "game"].unique()
    chosen = frame[frame["game"].isin(played)]
    ratings = Standings.of(chosen, pairs=False, terms=Terms.of_runs(store, map(str, chosen["run"].unique()))).ratings
    return of_versions(ratings, versions)


def of_versions(ratings: pd.DataFrame, versions: Sequence[Version]) -> pd.DataFrame:
    """Returns the rows of rating lists whose agents have one of the versions, as `rated_versions` does."""
    found = {str(text): version for text in ratings["agent"] if (version := _version_in(str(text), versions))}
    mine = ratings[ratings["agent"].isin(list(found))]
    mine = mine.assign(
        version=[found[text].bundle.digest for text in mine["agent"]],
        since=[found[text].since for text in mine["agent"]],
    )
    return mine.sort_values(["game", "since", "agent"], kind="stable").reset_index(drop=True)


def _version_in(agent: str, versions: Sequence[Version]) -> Version | None:
    digests = library.digests_in([agent])
    return next((version for version in versions if version.bundle.digest in digests), None)
