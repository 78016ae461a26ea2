"""The stored versions of code that is not ours, and their ratings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core.terminal.console import Console
from ...core.terminal.visible import say

if TYPE_CHECKING:
    import pandas as pd

    from ...results.versions import Version


def versions(name: str, game: str, save: Path | None, store: str, as_json: bool) -> None:
    """Lists the stored versions of code that is not ours, with their ratings over time, or writes the files of one.

    Args:
        name: a file or module, such as bot.py; with @VERSION, only that version.
        game: only this game; empty = all games.
        save: the folder for the files.
        store: the URL of the store.
        as_json: whether JSON is printed.
    """
    from ...core.errors import UserError, unknown
    from ...results.store.store import Store
    from ...results.versions import rated_versions, stored_versions

    place, _, version = name.partition("@")
    place = Path(place.partition(":")[0]).name if ".py" in place else place.partition(":")[0]
    with Store.open(store, read_only=True) as opened:
        found = [each for each in stored_versions(opened, place) if each.bundle.digest.startswith(version)]
        if not found:
            wanted = f"{place}@{version}" if version else place
            raise UserError(f"{opened.shown_url} has no games of {wanted}; play some, or name another.")
        if save is not None:
            if len(found) > 1:
                raise unknown(f"single version of {place}", version, [each.bundle.digest for each in found])
            _save(found[0], save)
            return
        rated = rated_versions(opened, found, game)
    if as_json:
        from ...results.frames import json_rows

        print(json.dumps(json_rows(rated), indent=2))
        return
    _print(Console(), place, found, rated)


def _save(version: Version, folder: Path) -> None:
    """Writes the files of a version into a folder that does not exist yet."""
    from ...core.errors import UserError

    if folder.exists():
        raise UserError(f"--save must name a new folder, but {folder} exists; name another.")
    content = {path: text.encode() for path, text in version.bundle.files.items()} | dict(version.bundle.data)
    for path, data in content.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    say(f"{len(content)} files of {version.bundle.place}@{version.bundle.digest} are in {folder}.")


def _print(console: Console, place: str, found: list[Version], rated: pd.DataFrame) -> None:
    """Prints a table for each game, the oldest version first."""
    from turnier.dashboards.every_run.versions import versions_table
    from turnier.dashboards.terminal import print_table

    for game, part in rated.groupby("game", sort=False):
        print_table(console, versions_table(f"{place} at {game}: versions, the oldest first", part))
    played: set[Any] = set(rated["version"])
    for version in found:
        if version.bundle.digest not in played:
            began = f"begun {version.since:%Y-%m-%d %H:%M}"
            console.print(f"{place}@{version.bundle.digest}: no rated games, {began}.", highlight=False)
