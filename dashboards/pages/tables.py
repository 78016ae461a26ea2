"""Tables as HTML that sorts: texts with their numbers beside them, links, and full names to copy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from turnier.dashboards.short_names import forms
from turnier.dashboards.tables import Column, Table

NAMED = "agent", "against", "label", "name"  # columns of agents
MOST_NAME = 40  # characters of a name that is shown whole
MOST_ROWS = 300  # shown at once; the CSV has all
SEARCHED = 12  # rows from which a table can be searched


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
        f'<tbody>{body}</tbody></table></div><p class="note">{escape(left + table.note)}{save}</p>'
    )


def _head(column: Column, frame: pd.DataFrame) -> str:
    if column.link:
        return "<th></th>"
    side = "" if _is_number(column, frame) else ' class="text"'
    return f'<th{side}><button type="button" data-sort>{escape(column.heading)}</button></th>'


def _is_number(column: Column, frame: pd.DataFrame) -> bool:
    values = frame[column.name]
    return pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)


def _names(columns: Sequence[Column], rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Returns short forms of the long names in a table: name -> what tells it from the others."""
    keys = [column.name for column in columns if column.key and column.name in NAMED]
    names = list(dict.fromkeys(str(row[key]) for row in rows for key in keys if isinstance(row[key], str)))
    if not names or max(map(len, names)) <= MOST_NAME:
        return {}
    short = next((form for form in forms(names)[1:2]), names)
    return {name: one for name, one in zip(names, short, strict=True) if len(name) > MOST_NAME}


def _cell(column: Column, row: dict[str, Any], names: Mapping[str, str]) -> str:
    value = row[column.name]
    if column.link:
        link = f'<a href="{escape(str(value))}">{escape(column.title or column.name)}</a>' if value else ""
        return f"<td>{link}</td>"
    text = column.text(row)
    if isinstance(value, str) or value is None:
        shown = names.get(text, text) if column.key else text
        whole = row["agent"] if column.key and isinstance(row.get("agent"), str) else text
        return f'<td class="{"key" if column.key else "text"}" title="{escape(whole)}">{breakable(shown)}</td>'
    number = "" if value is None or not math.isfinite(float(value)) else f' data-number="{float(value):.12g}"'
    return f"<td{number}>{escape(text)}</td>"


def breakable(text: str) -> str:
    """Returns a text as HTML that a narrow column breaks after commas and brackets first."""
    return escape(text).replace(",", ",<wbr>").replace("(", "(<wbr>")
