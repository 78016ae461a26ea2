"""Tables as HTML that sorts: texts with their numbers beside them, links, and full names to copy."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from turnier.dashboards.glossary import meaning
from turnier.dashboards.markup import prose, unbroken
from turnier.dashboards.short_names import readable
from turnier.dashboards.tables import NAMED, WHOLE, Column, Table

_FULL = {"agent": "first", "against": "second"}  # name -> full text, in rows of pairs
MOST_ROWS = 300  # shown at once; the CSV has all
SEARCHED = 12  # rows from which a table can be searched
TWO_LINES = 8  # characters from which a heading is given the width to stand in about two lines
LONG = 60, 30  # characters from which a text, and a key, are given the width for a few lines in narrow windows
IDENTIFIES = 12  # digits from which a number is a name, such as a seed, of which the first ones tell it from others
SHOWN_DIGITS = 6
_ENDS = re.compile(r"\([^()]* to [^()]*\)")  # of an interval, which stay in one line
UNBROKEN = 24  # characters of an agent with one parameter that stay in one line
_BRACKET = re.compile(r"([^,( ]*\()(?=([^,()]+))")  # up to a bracket, and the parameter after it


def table_html(table: Table, csv: str = "", level: int = 2) -> str:
    """Returns a table with its title and note; `csv` is the address of all its rows."""
    rows = table.frame.head(MOST_ROWS).to_dict("records")
    columns = [column for column in table.columns if not column.link] + [c for c in table.columns if c.link]
    heads = "".join(_head(column, table.frame) for column in columns)
    names = _names(columns, rows)
    body = "".join(f"<tr>{''.join(_cell(column, row, names) for column in columns)}</tr>" for row in rows)
    left = f"{len(table.frame):,} rows, of which the first {MOST_ROWS:,} are shown. " * (len(table.frame) > MOST_ROWS)
    save = f' <a href="{escape(csv)}" download>CSV</a>' if csv else ""
    find = '<input type="search" placeholder="Find" aria-label="find rows">' if len(rows) > SEARCHED else ""
    return (
        f'<div class="head"><h{level}>{escape(table.title)}</h{level}>{find}</div>'
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(table.title)}">'
        f'<table class="data"><thead><tr>{heads}</tr></thead>'
        f'<tbody>{body}</tbody></table></div><p class="note">{prose(left + table.note)}{save}</p>'
    )


def _head(column: Column, frame: pd.DataFrame) -> str:
    if column.link:
        return "<th></th>"
    side = "" if _is_number(column, frame) else ' class="text"'
    wide = f' style="min-width: {len(column.heading) // 2 + 4}ch"' if len(column.heading) > TWO_LINES else ""
    means = f' title="{escape(text)}"' if (text := meaning(column.heading)) else ""
    return f'<th{side}{wide}{means}><button type="button" data-sort>{escape(column.heading)}</button></th>'


def _is_number(column: Column, frame: pd.DataFrame) -> bool:
    values = frame[column.name]
    return pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)


def _names(columns: Sequence[Column], rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Returns the names in a table as they are shown, see `readable`."""
    keys = [column.name for column in columns if column.key and column.name in NAMED]
    names = list(dict.fromkeys(str(row[key]) for row in rows for key in keys if isinstance(row[key], str)))
    return dict(zip(names, readable(names), strict=True)) if names else {}


def _cell(column: Column, row: dict[str, Any], names: Mapping[str, str]) -> str:
    value = row[column.name]
    if column.link:
        link = f'<a href="{escape(str(value))}">{escape(column.title or column.name)}</a>' if value else ""
        return f"<td>{link}</td>"
    text = column.text(row)
    if isinstance(value, str) or value is None:
        shown = names.get(text, text) if column.key else short_number(text)
        full = row.get(_FULL.get(column.name, "") if "against" in row else "agent") if column.key else None
        whole = full if isinstance(full, str) else text
        copy = f' <button type="button" data-copy="{escape(whole)}" aria-label="copy the full text"></button>'
        named = column.key and column.name in NAMED
        copied = copy * (row.get(WHOLE, text) != shown if named else not column.key and shown != text)
        look = f"{'key' if column.key else 'text'}{' long' * (len(shown) > LONG[column.key])}"
        return f'<td class="{look}" title="{escape(whole)}">{breakable(shown)}{copied}</td>'
    number = "" if value is None or not math.isfinite(float(value)) else f' data-number="{float(value):.12g}"'
    shown = _ENDS.sub(r'<span class="ends">\g<0></span>', unbroken(text))
    return f"<td{number}>{shown}</td>"


def short_number(text: str) -> str:
    """Returns the beginning of a number that only identifies; other texts as they are."""
    return f"{text[:SHOWN_DIGITS]}…" if text.isdecimal() and len(text) >= IDENTIFIES else text


def breakable(text: str) -> str:
    """Returns a text as HTML that a narrow column breaks after commas, and after brackets before long parameters."""
    broken = _BRACKET.sub(lambda found: found[1] + "<wbr>" * (len(found[1] + found[2]) > UNBROKEN), escape(text))
    return broken.replace(",", ",<wbr>")
