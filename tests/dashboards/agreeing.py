"""Whether a number reads the same wherever it stands on a page: in sentences, in tables, and in the cells of charts."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.dashboards.read_pages import Seen
from turnier.dashboards.pages.tables import MOST_ROWS

NUMBER = r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
UNIT = r"(?: (?:%|Elo|points|percentage points))?"
SURE = r"(?:\d+ %: |95 % interval )?"
ESTIMATE = re.compile(rf"({NUMBER}){UNIT} (?:\({SURE}({NUMBER}) to ({NUMBER})\)|± ({NUMBER}))")
# Numbers without an interval that sentences take from a column: pattern -> the end of its heading.
QUOTED = {
    r"best of these with (?:over |under )?([\d.]+) % probability": "best, %",
    r"takes ([\d.,]+) µs per move": "per move, µs",
}


class Read(NamedTuple):
    """A number with its interval as it reads, and what that means."""

    text: str
    value: float
    low: float
    high: float
    decimals: int

    def is_same_number(self, other: Read, scale: float = 1.0) -> bool:
        """Whether another text may be that of the same number, `scale` times as large, to the digits that both have."""
        step = 10.0 ** -min(self.decimals, other.decimals) if scale == 1 else 10.0**-other.decimals
        pairs = ((self.value, other.value), (self.low, other.low), (self.high, other.high))
        return all(abs(scale * ours - theirs) <= 0.51 * step + 1e-9 for ours, theirs in pairs)


def estimates_in(text: str) -> Iterator[Read]:
    """Yields the numbers with intervals in a text, without signs of positive ones, and without units."""
    for parts in ESTIMATE.findall(text):
        value, low, high, half = (float(part.replace(",", "")) if part else math.nan for part in parts)
        low, high = (low, high) if math.isnan(half) else (value - half, value + half)
        shown = " ".join(filter(None, (part.lstrip("+") for part in parts)))
        yield Read(shown, value, low, high, len(parts[0].partition(".")[2]))


def disagreeing_on(page: Seen) -> list[str]:
    """Returns what reads differently on a page although it is the same number."""
    cells = [str(cell) for table in page.tables.values() for cell in table.to_numpy().ravel()]
    listed = dict.fromkeys(itertools.chain.from_iterable(map(estimates_in, cells)))
    found = []
    for said, cell in itertools.product(dict.fromkeys(estimates_in(page.text)), listed):
        if said.text != cell.text and said.is_same_number(cell):
            found.append(f"{said.text} is {cell.text} in a table")
        if said.value and (said.is_same_number(cell, 100) or cell.is_same_number(said, 100)):
            found.append(f"{said.text} is in another unit in a table: {cell.text}")
    for pattern, end in QUOTED.items():
        column = [
            cell for table in page.tables.values() for name in table if name.endswith(end) for cell in table[name]
        ]
        found += [
            f"{number} is not in the column {end}"
            for number in re.findall(pattern, page.text)
            if column and number not in {str(cell).lstrip("<>") for cell in column}
        ]
    return found + list(_unlike_cells(page))


def _unlike_cells(page: Seen) -> Iterator[str]:
    """Yields the cells of who beats whom that are not in the table of pairs, unless that is cut off."""
    pairs = page.tables.get("All pairs of agents")
    listed = () if pairs is None or len(pairs) >= MOST_ROWS else {*pairs.to_numpy().ravel()}
    for row in rows_of(page.figures["Who beats whom"]) if listed and "Who beats whom" in page.figures else ():
        if "interval" in row and row["place"] < row["against_place"]:
            value, ends = row["share"].rstrip("*"), row["interval"].replace("–", " to ")
            if (text := f"{value} ({ends})" if ends else value) not in listed:
                yield f"the cell {text} is not in the table of pairs"


def rows_of(chart: Any) -> list[dict[str, Any]]:
    """Returns the rows of the data of a chart."""
    return list(itertools.chain.from_iterable(chart.get("datasets", {}).values()))
