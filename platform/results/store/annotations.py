"""Annotations of runs, which may change, unlike definitions: texts under a few names."""

from __future__ import annotations

import json
from collections.abc import Iterable

from sqlalchemy import delete, select

from ...core.errors import UserError
from ...core.outside import library
from ..integrity.checksums import checksum
from ..integrity.totals import Total, Totals
from ..outage import outlasting
from .database import Database
from .schema import run_annotations

SETTINGS = "settings"  # JSON: the latest options of the run that its definition leaves open
NOTE = "note"  # a user's text about the run
ANCHOR = "anchor"  # full text of the agent with Elo 0
ARCHIVE = "archive"  # JSON of the Place of games that the store no longer has
CODE = "code:"  # prefix of a digest: JSON of a Bundle, code of others that played in the run


class Annotations:
    """Reads and writes the texts beside runs; it is `Store.annotations`."""

    def __init__(self, database: Database, totals: Totals) -> None:
        self.database, self.totals = database, totals
        self._has_code: set[tuple[str, str]] = set()  # (run, digest)

    @outlasting
    def set(self, run_id: str, name: str, text: str) -> None:
        """Stores a text of a run that has begun, in place of the earlier one; an empty text removes it."""
        table = run_annotations.c
        with self.database.writing() as connection:
            self.totals.lock(connection, run_id, run_annotations)
            connection.execute(delete(run_annotations).where(table.run_id == run_id, table.name == name))
            if text:
                columns = ("run_id", "name", "text")
                self.database.insert_many(connection, run_annotations, columns, [(run_id, name, text)])
            kept = connection.execute(select(table.name, table.text).where(table.run_id == run_id))
            self.totals.replace(connection, run_id, run_annotations, [checksum(*row) for row in kept])

    def of_name(self, name: str) -> dict[str, str]:
        """Returns the texts of that name: run -> text."""
        return {run_id: text for run_id, this, text in self._all() if this == name}

    def beginning(self, prefix: str) -> list[tuple[str, str, str]]:
        """Returns the texts whose names have a prefix: (run, name, text)."""
        return [row for row in self._all() if row[1].startswith(prefix)]

    @outlasting
    def _all(self) -> list[tuple[str, str, str]]:
        """Returns all texts: (run, name, text)."""
        with self.database.reading() as connection:
            rows = connection.execute(select(run_annotations)).all()
            totals = self.totals.of_runs(connection, run_annotations)
        found: dict[str, list[int]] = {run_id: [] for run_id in totals}
        for run_id, *content in rows:
            found.setdefault(run_id, []).append(checksum(*content))
        for run_id, known in totals.items():
            if Total.of(found[run_id]) != known:
                raise self.database.damaged(f"notes and settings of {run_id} are not those that were stored")
        return [(run_id, name, text) for run_id, name, text in rows]

    def refuse_archived(self, run_id: str) -> None:
        """Raises UserError if the games of a run are no longer in the store: they must not be played again."""
        if text := self.get(run_id, ARCHIVE):
            with self.database.decoding(f"where the games of {run_id} are"):
                path = json.loads(text)["path"]
            raise UserError(
                f"{run_id} must have its games in the store to go on, but they are archived; bring them back with"
                f" turnier runs archive --restore {path}."
            )

    def keep_code(self, run_id: str, texts: Iterable[str]) -> None:
        """Stores the code of others named in text forms, once per run, so any version can be played again."""
        for bundle in library.bundles_in(texts):
            if (run_id, bundle.digest) not in self._has_code:
                if not self.get(run_id, CODE + bundle.digest):
                    self.set(run_id, CODE + bundle.digest, json.dumps(bundle.to_json()))
                self._has_code.add((run_id, bundle.digest))

    def get(self, run_id: str, name: str) -> str:
        """Returns a run's text of that name; empty if there is none."""
        return self.of_name(name).get(run_id, "")
