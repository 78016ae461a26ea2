"""How often are the statistics right? Real games of agents of known strength: equal ones, or measured in long runs.

\b
Examples:
    python studies/calibration.py                    all promises, about ten minutes on one core
    python studies/calibration.py --scale 0.1        a tenth of the games
    python studies/calibration.py --only adaptive    parts whose name contains this

Counts are kept, so repeating the command adds missing ones up to the scale, and a larger scale adds more.
After a change of the statistics, delete the file of counts. The table is printed, and written into the page between
its two markers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from turnier.core.errors import UserError
from turnier.core.number_text import estimate, number
from turnier.core.outside.trust import trusting
from turnier.core.terminal.console import Console
from turnier.runs.bar import Bar, game_bar
from turnier.studies.promises import beliefs, samples, searches, sequential, tournaments
from turnier.studies.promises.games import passing_store
from turnier.studies.promises.tally import Kind, Part, Promise, Seen, Tally
from turnier.studies.scripts.results_file import read_rows, write_rows
from turnier.studies.scripts.script import run_script, with_table

START, END = "<!-- written by studies/calibration.py -->", "<!-- end of the table -->"
DATA, PAGE = Path("docs/results/data/calibration.csv"), Path("docs/validity.md")
MODULES = (samples, tournaments, beliefs, sequential, searches)
SLICES = 10  # of each part, in turn, to know the time left early
NOT_PUBLIC = " *"  # marks schedules and statistics on `play_matches`
UNITS = "units"  # the row of a part that counts them
HEADINGS = ("measured on", "promise", "nominal", "measured, %", "of", "before", "")
COLUMNS = ("part", "promise", *Tally._fields)

Counts = dict[tuple[str, str], Tally]  # by part and promise


def all_parts(only: str = "") -> list[Part]:
    """Returns the parts whose names contain a text; raises UserError if there is none."""
    found = [part for module in MODULES for part in module.parts()]
    chosen = [part for part in found if only in part.name]
    if not chosen:
        names = ", ".join(part.name for part in found)
        raise UserError(f"there is no part whose name contains {only!r}; there are: {names}.")
    return chosen


def read_counts(path: Path) -> Counts:
    """Returns stored counts, none if there is no file; raises UserError for a file with other columns."""
    rows = (dict(zip(COLUMNS, row, strict=True)) for row in read_rows(path, COLUMNS))
    return {(row["part"], row["promise"]): _tally(row) for row in rows}


def _tally(row: dict[str, str]) -> Tally:
    sums = [float(row[name]) for name in Tally._fields[3:]]
    return Tally(int(row["units"]), float(row["hits"]), int(row["n"]), *sums)


def write_counts(path: Path, counts: Counts) -> None:
    """Replaces the file of counts as a whole."""
    write_rows(path, COLUMNS, ((*key, *(f"{value:.12g}" for value in tally)) for key, tally in sorted(counts.items())))


def measure(parts: Sequence[Part], scale: float, path: Path, bar: Bar) -> Counts:
    """Measures units that are missing, and stores the counts after each slice of a part."""
    counts = read_counts(path)
    for part, number_of_slice in ((part, i) for i in range(SLICES) for part in parts):
        done = counts.get((part.name, UNITS), Tally()).units
        until = wanted(part, scale) * (number_of_slice + 1) // SLICES
        if until <= done:
            continue
        bar.note(part.text)
        with passing_store() as store:
            for unit in range(done, until):
                for name, seen in {UNITS: Seen(0, 0), **part.measure(unit, store)}.items():
                    counts[part.name, name] = counts.get((part.name, name), Tally()).plus(seen)
                bar.advance(1)
        write_counts(path, counts)
    return counts


def wanted(part: Part, scale: float) -> int:
    """Returns the units of a part at a scale."""
    return max(1, round(part.units * scale))


def lines(parts: Sequence[Part], counts: Counts) -> Iterator[tuple[str, ...]]:
    """Yields the cells of each row, see HEADINGS."""
    together: dict[str, tuple[Promise, Tally]] = {}
    for part in parts:
        for name, promise in part.promises.items():
            if (tally := counts.get((part.name, name))) and tally.n:
                yield (f"{part.text}{NOT_PUBLIC * (not part.public)}", promise.text, *_figures(promise, tally))
                if promise.kind is Kind.OF_FIELD:
                    whole = promise._replace(kind=Kind.SAID, before="")
                    together[name] = whole, together.get(name, (whole, Tally()))[1].joined(tally)
    for promise, tally in together.values():
        yield ("all these fields together", promise.text, *_figures(promise, tally))


def _figures(promise: Promise, tally: Tally) -> tuple[str, ...]:
    kind, unit = promise.kind, 1 if promise.kind is Kind.SHOWN else 100
    value, low, high = (unit * end for end in tally.interval(kind))
    shown = estimate(value, low, high, signed=kind is Kind.SHOWN)
    nominal = f"{number(100 * tally.nominal(kind), digits=3)} %" if kind in (Kind.SAID, Kind.OF_FIELD) else kind.value
    of = f"{tally.n:,}" if kind is Kind.SHOWN else f"{tally.hits:,.0f}/{tally.n:,}"
    return nominal, shown, of, promise.before, tally.verdict(kind)


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Returns a Markdown table."""
    head = (HEADINGS, ["---"] * 2 + ["---:"] * 4 + ["---"])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (*head, *rows))


def main(
    scale: Annotated[float, typer.Option(help="units of each part, relative to the usual number", min=0.001)] = 1.0,
    only: Annotated[str, typer.Option(help="measure only parts whose name contains this")] = "",
    data: Annotated[Path, typer.Option(help="file of counts to add to")] = DATA,
    page: Annotated[Path, typer.Option(help="page to write the table into")] = PAGE,
) -> None:
    parts, console = all_parts(only), Console()
    if not page.exists():
        raise UserError(f"the page must exist, got {page}; run this in the root of the repository, or name another.")
    with_table(page.read_text(), "", START, END)  # raises before anything is measured
    counts = read_counts(data)
    total = sum(wanted(part, scale) for part in parts)
    done = sum(min(wanted(part, scale), counts.get((part.name, UNITS), Tally()).units) for part in parts)
    with trusting(), game_bar("units", total, unit="units", completed=done) as bar:
        counts = measure(parts, scale, data, bar)
    page.write_text(with_table(page.read_text(), markdown(list(lines(all_parts(), counts))), START, END))
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in HEADINGS:
        table.add_column(heading, overflow="fold")
    for row in lines(parts, counts):
        table.add_row(*row)
    console.print(table)
    console.print(f"Counts: {data}; table: {page}")


if __name__ == "__main__":
    run_script(main, __doc__)
