"""Tables for people: one declaration per column gives title, unit, digits and interval in all views.

A frame keeps plain numbers. The terminal, reports and notebooks show their texts; pages show numbers, so columns sort
as such.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from turnier.core.number_text import DIGITS, MOST_SURE, around, decimals, estimate, number, percent_sure
from turnier.statistics.intervals import UNBOUNDED, Bounds

MAIN, USEFUL, MINOR = 3, 2, 1  # the importance of columns
ONE_MAGNITUDE = 100  # times the smallest number of a column: up to there its numbers have the same decimals
_ALL = 12  # significant digits: numbers are rounded already
NAMED = "agent", "against", "label", "name"  # columns of agents
WHOLE = "whole"  # the column of a frame with the texts that its names stand for
FINE = 0.01  # a column with smaller numbers is shown with significant digits


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Args:
        name: of the frame's column.
        title: its heading; empty = the name.
        unit: after the heading, such as %.
        scale: the factor of shown values, such as 100 for a share in %.
        half_width: the frame's column with half of the 95 % interval, in the same scale as the values.
        bounds: of the values, as shown, where intervals with a `half_width` end.
        low, high: the frame's columns with the ends of the 95 % interval, in place of `half_width`.
        short: whether such an interval is written with ± if the value is its middle.
        digits: significant digits of numbers without an interval.
        decimals: of numbers without an interval, in place of `digits`; a table sets them, see `settled`.
        said: whether sentences quote its numbers, which then have their own significant digits.
        alike: the frame's column with half of the interval of a like quantity, whose decimals these numbers take.
        signed: whether positive numbers have a plus sign.
        sure: whether values are probabilities in %, which never read 0 or 100.
        least: smaller values read "<" and this one, such as p-values, which are never 0.
        importance: MAIN, USEFUL or MINOR; in a narrow terminal the least important columns are left out first.
        key: whether it names the subject of the row, such as the agent; it is never left out.
        link: whether its texts are addresses, shown on pages only.
    """

    name: str
    title: str = ""
    unit: str = ""
    scale: float = 1.0
    half_width: str = ""
    bounds: Bounds = UNBOUNDED
    low: str = ""
    high: str = ""
    short: bool = False
    digits: int = DIGITS
    decimals: int | None = None
    said: bool = False
    alike: str = ""
    signed: bool = False
    sure: bool = False
    least: float = -math.inf
    importance: int = USEFUL
    key: bool = False
    link: bool = False

    @property
    def heading(self) -> str:
        title = self.title or self.name
        return f"{title}, {self.unit}" if self.unit else title

    def text(self, row: dict[str, Any]) -> str:
        """Returns the text of a row's cell; a missing value is empty."""
        value = row[self.name]
        if isinstance(value, str) or value is None:
            return value or ""
        value, half, low, high = (self._scaled(row, name) for name in (self.name, self.half_width, self.low, self.high))
        if self.sure:
            return percent_sure(value / 100, ">", "<")
        if self.half_width:
            return around(value, *self.bounds.around(value, half), signed=self.signed)
        if self.low:
            return (around if self.short else estimate)(value, low, high, signed=self.signed)
        if value < self.least:
            return f"<{number(self.least)}"
        if self.alike and not math.isnan(half := self._scaled(row, self.alike)):
            return number(value, half, signed=self.signed)
        if self.decimals is not None and math.isfinite(value):
            return f"{value:{'+' * (self.signed and value != 0)}z,.{self.decimals}f}"
        return number(value, digits=self.digits, signed=self.signed)

    def settled(self, frame: pd.DataFrame) -> Column:
        """Returns the column with the decimals that suit all of its numbers, if these are of one magnitude.

        They are those of the largest one's significant digits; whole numbers have none.
        """
        plain = not (self.half_width or self.low or self.sure or self.link or self.said or self.digits >= _ALL)
        if not plain or self.name not in frame or not pd.api.types.is_numeric_dtype(frame[self.name]):
            return self
        # In numpy, since every column of every table comes here.
        sizes = np.abs(frame[self.name].to_numpy(np.float64, na_value=math.nan)) * self.scale
        sizes = sizes[(sizes > 0) & (sizes < math.inf)]
        if not sizes.size or (sizes == sizes.round()).all() or sizes.max() > ONE_MAGNITUDE * sizes.min():
            return self
        return replace(self, decimals=decimals(float(sizes.max()), self.digits))

    def _scaled(self, row: dict[str, Any], name: str) -> float:
        value = row.get(name)
        return math.nan if value is None or pd.isna(value) else float(value) * self.scale

    def numbers(self, frame: pd.DataFrame) -> dict[str, pd.Series]:
        """Returns the column for pages, by heading: texts, or numbers with their intervals beside them."""
        values = frame[self.name]
        if not pd.api.types.is_numeric_dtype(values):
            return {self.heading: values}
        values = values.astype(float) * self.scale
        if self.sure:
            return {self.heading: values.clip(upper=100 * MOST_SURE).round(1)}
        if self.half_width:
            half = frame[self.half_width].astype(float) * self.scale
            return {self.heading: rounded(values, half), "±": rounded(half, half)}
        if self.low:
            ends = [frame[end].astype(float) * self.scale for end in (self.low, self.high)]
            half = (ends[1] - ends[0]) / 2
            unit = f", {self.unit}" if self.unit else ""
            return {
                self.heading: rounded(values, half),
                f"from{unit}": rounded(ends[0], half),
                f"to{unit}": rounded(ends[1], half),
            }
        return {self.heading: rounded(values, digits=self.digits)}


@dataclass(frozen=True)
class Table:
    """A table with its title and a note on its columns; its frame may have further columns."""

    title: str
    frame: pd.DataFrame
    columns: Sequence[Column]
    note: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", [column.settled(self.frame) for column in self.columns])

    @classmethod
    def of(cls, title: str, frame: pd.DataFrame, note: str = "", key: str = "agent") -> Table:
        """Returns a table of all columns of a frame whose headings name their units and whose numbers are rounded."""
        return cls(title, frame, [Column(str(name), digits=_ALL, key=name == key) for name in frame], note)

    def texts(self) -> pd.DataFrame:
        """Returns the cells as texts, by heading, without addresses."""
        rows = self.frame.to_dict("records")
        shown = [column for column in self.columns if not column.link]
        cells = [[column.text(row) for column in shown] for row in rows]
        return pd.DataFrame(cells, columns=[column.heading for column in shown])

    def meant(self) -> dict[str, str]:
        """Returns the texts that its names stand for, without names that are such texts themselves."""
        keys = [column.name for column in self.columns if column.key and column.name in NAMED]
        if not keys or WHOLE not in self.frame:
            return {}
        pairs = self.frame[[keys[0], WHOLE]].itertuples(index=False)
        return {name: text for name, text in pairs if name != text}

    def numbers(self) -> pd.DataFrame:
        """Returns the cells as numbers that sort; intervals have columns of their own, as do the texts of names."""
        parts = [
            (column, title, values) for column in self.columns for title, values in column.numbers(self.frame).items()
        ]
        times = Counter(title for _, title, _ in parts)
        named = {_unlike(title, column) if times[title] > 1 else title: values for column, title, values in parts}
        if self.meant():
            named["full text"] = self.frame["agent" if "agent" in self.frame else WHOLE]
        return pd.DataFrame(named).reset_index(drop=True)


def _unlike(title: str, column: Column) -> str:
    """Returns the heading of one of several intervals."""
    about = column.title or column.name
    return f"± of {about}" if title == "±" else f"{about} {title}"


def file_name(title: str) -> str:
    """Returns a name for the file of a figure or table, without its ending: letters, digits and dashes."""
    return "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split())


def known(frame: pd.DataFrame, *columns: Column) -> list[Column]:
    """Returns the columns with at least one value in the frame."""
    return [column for column in columns if column.name in frame and frame[column.name].notna().any()]


def rounded(values: pd.Series, half_widths: pd.Series | None = None, digits: int = DIGITS) -> pd.Series:
    """Returns numbers with the digits of `number`; infinite ones become missing."""
    widths = [math.nan] * len(values) if half_widths is None else half_widths.astype(float)
    pairs = zip(values.astype(float), widths, strict=True)
    return pd.Series([_rounded(value, width, digits) for value, width in pairs], values.index, dtype=float)


def _rounded(value: float, half_width: float, digits: int) -> float:
    return float(number(value, half_width, digits=digits).replace(",", "")) if math.isfinite(value) else math.nan


def formats(frame: pd.DataFrame) -> dict[str, str]:
    """Returns the formats of number columns on pages: name -> format of a `NumberColumn`."""
    found = {}
    for name, column in frame.items():
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            sizes = column.dropna().astype(float).abs()
            found[str(name)] = "%.3g" if (sizes[sizes > 0] < FINE).any() else "localized"
    return found
