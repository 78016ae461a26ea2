"""Tables of people: numbers keep the digits that tell something, and stay numbers, so that columns sort as such."""

from __future__ import annotations

import math

import pandas as pd

from turnier.core.number_text import DIGITS, number

_ALL = 12  # significant digits: numbers are rounded already
FINE = 0.01  # a column with smaller numbers is shown by significant digits


def rounded(values: pd.Series, half_widths: pd.Series | None = None, digits: int = DIGITS) -> pd.Series:
    """Returns numbers with the digits that `number` shows; what is infinite is missing."""
    widths = [math.nan] * len(values) if half_widths is None else half_widths.astype(float)
    pairs = zip(values.astype(float), widths, strict=True)
    return pd.Series([_rounded(value, width, digits) for value, width in pairs], values.index, dtype=float)


def _rounded(value: float, half_width: float, digits: int) -> float:
    return float(number(value, half_width, digits=digits).replace(",", "")) if math.isfinite(value) else math.nan


def formats(frame: pd.DataFrame) -> dict[str, str]:
    """Returns how pages show the columns of numbers: name -> format of a `NumberColumn`."""
    found = {}
    for name, column in frame.items():
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            sizes = column.dropna().astype(float).abs()
            found[str(name)] = "%.3g" if (sizes[sizes > 0] < FINE).any() else "localized"
    return found


def printed(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns the table with its numbers as texts, for pages that do not sort."""
    texts = {name: frame[name].astype(float).map(lambda value: number(value, digits=_ALL)) for name in formats(frame)}
    return frame.assign(**texts)
