"""Results of a script as CSV: read to add what is missing, and replaced as a whole, so that a stop loses none."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from turnier.core.errors import UserError


def read_rows(path: Path, columns: Sequence[str]) -> list[list[str]]:
    """Returns the complete rows, none if there is no file; raises UserError for a file with other columns."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        table = csv.reader(file)
        if next(table, None) != list(columns):
            raise UserError(f"{path} must have the columns {', '.join(columns)}; name another file.")
        # A stop may have left half a line.
        return [row for row in table if len(row) == len(columns) and row[-1]]


def write_rows(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Replaces the file as a whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = path.with_suffix(".new")
    with written.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(columns)
        table.writerows(rows)
    written.replace(path)
