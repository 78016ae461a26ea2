"""What is kept beside a run and may change, unlike its definition: texts under a few names."""

from __future__ import annotations

from sqlalchemy import delete, select

from turnier.results.outage import outlasting
from turnier.results.store.database import Database
from turnier.results.store.schema import run_annotations

SETTINGS = "settings"  # JSON: how the run was last resumed, where its definition leaves that open
NOTE = "note"  # what a user wrote about the run


class Annotations:
    """Reads and writes the texts beside runs; it is `Store.annotations`."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @outlasting
    def set(self, run_id: str, name: str, text: str) -> None:
        """Stores a text of a run that has begun, in place of the earlier one; an empty text removes it."""
        table = run_annotations.c
        with self.database.writing() as connection:
            connection.execute(delete(run_annotations).where(table.run_id == run_id, table.name == name))
            if text:
                columns = ("run_id", "name", "text")
                self.database.insert_many(connection, run_annotations, columns, [(run_id, name, text)])

    @outlasting
    def of_name(self, name: str) -> dict[str, str]:
        """Returns the texts of that name: run -> text."""
        if self.database.lacks(run_annotations):
            return {}
        query = select(run_annotations.c.run_id, run_annotations.c.text).where(run_annotations.c.name == name)
        with self.database.reading() as connection:
            return {run_id: text for run_id, text in connection.execute(query)}

    def get(self, run_id: str, name: str) -> str:
        """Returns a run's text of that name; empty if there is none."""
        return self.of_name(name).get(run_id, "")
