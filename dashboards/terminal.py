"""Sections in the terminal: sentences and tables that fit its width without breaking or losing a name."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pandas as pd
from rich.cells import cell_len
from rich.text import Text as Line

from turnier.core.terminal.console import Console
from turnier.core.terminal.visible import visible, visible_line
from turnier.dashboards.sections import Copy, Diagrams, Drawing, Facts, Section, Text, Title, flat
from turnier.dashboards.short_names import forms, letters, readable
from turnier.dashboards.tables import MAIN, Column, Table

BETWEEN = 2  # blanks between two columns
INDENT = 2  # of continuation lines
LEAST_TEXT = 24  # minimum width of a column of sentences, in characters


def print_sections(console: Console, some: Iterable[Section], whole: bool = False, top: int = 200) -> None:
    """Prints sentences and the first table after each title; with `whole`, everything but pictures.

    `top` is the maximum number of rows of a table.
    """
    shown = written = False
    told: set[tuple[str, str]] = set()
    for section in flat(list(some)):
        if written and isinstance(section, Table | Drawing) and (whole or not shown):
            console.print()
            written = False
        written = written or isinstance(section, Text | Copy)
        if isinstance(section, Title):
            shown = False
            say(console, section.text, "bold")
        elif isinstance(section, Text):
            say(console, section.text, "red" if section.warning else "")
        elif isinstance(section, Copy):
            say(console, section.meaning)
            say(console, section.text, breaks=False)
        elif isinstance(section, Table) and len(section.frame) and (whole or not shown):
            print_table(console, replace(section, frame=section.frame.head(top)), told)
            if len(section.frame) > top:
                say(console, f"{len(section.frame):,} rows, of which the first {top:,} are shown; --rows shows more.")
            shown = True
        elif isinstance(section, Drawing) and section.table is not None and whole:
            print_table(console, section.table, told)
        elif isinstance(section, Diagrams) and whole:
            _print_boards(console, section)
        elif isinstance(section, Facts) and whole:
            for name, fact in section.rows.items():
                _say_name(console, f"{name}: {fact}")


def _print_boards(console: Console, shown: Diagrams) -> None:
    """Prints the positions that can be drawn in characters, each with what there is to say about it."""
    boards = [one for one in shown.drawn if one.drawn]
    say(console, shown.title * bool(boards), "bold")
    for one in boards:
        console.print()
        say(console, one.drawn, breaks=False)
        for text, _ in one.lines:
            say(console, text)
    say(console, shown.note * bool(boards))


def say(console: Console, text: str, style: str = "", breaks: bool = True) -> None:
    """Prints a sentence, broken between words if the terminal is narrow; without breaks it can be copied."""
    if not text:
        return
    lines = _wrapped(text.rstrip(), console.room) if breaks else [text]
    for line in lines:
        console.print(Line(visible(line), style), soft_wrap=True)


def print_table(console: Console, table: Table, told: set[tuple[str, str]] | None = None) -> None:
    """Prints a table in the terminal's width, or in the content's if the output is not a terminal.

    The least important columns are left out first, names never: they are shortened, with a legend below, without what
    has been `told` before.
    """
    parts, legend = fitted(table, console.room)
    say(console, table.title, "bold")
    heads = [_wrapped(part.heading, part.width) for part in parts]
    most = max(map(len, heads))
    for line in range(most):
        words = [head[line - most + len(head)] if line >= most - len(head) else "" for head in heads]
        _print_line(console, parts, words, "bold")
    rule = "─" if console.encoding.startswith("utf") else "-"
    console.print(Line(rule * _width(parts)), soft_wrap=True)
    for row in zip(*(part.cells for part in parts), strict=True):
        lines = [_wrapped(cell, part.width) for part, cell in zip(parts, row, strict=True)]
        for line in range(max(map(len, lines))):
            _print_line(console, parts, [cell[line] if line < len(cell) else "" for cell in lines])
    told = set() if told is None else told
    for short, name in legend.items():
        if (short, name) not in told:
            _say_name(console, f"{short}: {name}")
    told.update(legend.items())
    if table.note:
        say(console, table.note)
    console.print()


@dataclass
class Part:
    """A printed column of a table."""

    column: Column
    cells: list[str]
    right: bool
    heading: str = ""
    width: int = 0

    def fit(self, narrow: bool) -> Part:
        """Returns the part with its width; a narrow one breaks its heading between words, and its sentences."""
        words = self.column.heading.split() if narrow else [self.column.heading]
        widest = max(map(cell_len, self.cells), default=0)
        if narrow and not self.column.key and not self.right:
            words += [word for cell in self.cells for word in cell.split()]
            widest = min(widest, LEAST_TEXT)
        return replace(self, heading=self.column.heading, width=max([widest, *map(cell_len, words)]))


def fitted(table: Table, room: int | None) -> tuple[list[Part], dict[str, str]]:
    """Returns the columns of a table that fit, and a legend of its shortened names.

    Args:
        table: with at least one row.
        room: characters of a line; None = any number.
    """
    frame, texts = table.frame, table.texts()
    shown = [column for column in table.columns if not column.link]
    numeric = [pd.api.types.is_numeric_dtype(frame[column.name]) for column in shown]
    whole = [Part(column, list(map(visible_line, texts.iloc[:, i])), numeric[i]) for i, column in enumerate(shown)]
    names = list(dict.fromkeys(cell for part in whole if part.column.key for cell in part.cells))
    meant = {visible_line(name): visible_line(text) for name, text in table.meant().items()}
    if not names:
        return _without_least(whole, room), {}
    least = any(part.column.importance >= MAIN for part in whole)
    found = []
    for some in (forms(names if room is None else readable(names)), letters(names)):
        for form in some:
            short = dict(zip(names, form, strict=True))
            named = [replace(p, cells=[short[cell] for cell in p.cells]) if p.column.key else p for p in whole]
            parts = _without_least(named, room)
            fits = room is None or _width(parts) <= room
            kept = sum(part.column.importance >= MAIN for part in parts)
            legend = {one: meant.get(name, name) for name, one in short.items() if meant.get(name, name) != one}
            found.append((fits, kept, parts, legend))
        fits, kept, parts, legend = max(found, key=lambda one: one[:2])  # of equals, the first has the longest names
        if fits and kept >= least:  # words say more than another column, and letters only more than no number at all
            break
    return parts, legend


def _without_least(parts: Sequence[Part], room: int | None) -> list[Part]:
    """Returns the parts that fit into the room: the least important ones are left out, the last of them first."""
    kept = [part.fit(narrow=False) for part in parts]
    if room is None or _width(kept) <= room:
        return kept
    kept = [part.fit(narrow=True) for part in parts]
    while _width(kept) > room and any(not part.column.key for part in kept):
        least = min((part for part in reversed(kept) if not part.column.key), key=lambda part: part.column.importance)
        kept = [part for part in kept if part is not least]
    return kept


def _width(parts: Sequence[Part]) -> int:
    return sum(part.width for part in parts) + BETWEEN * (len(parts) - 1)


def _print_line(console: Console, parts: Sequence[Part], cells: Sequence[str], style: str = "") -> None:
    padded = []
    for part, cell in zip(parts, cells, strict=True):
        blanks = " " * (part.width - cell_len(cell))
        padded.append(blanks + cell if part.right else cell + blanks)
    console.print(Line((" " * BETWEEN).join(padded).rstrip(), style), soft_wrap=True)


def _wrapped(text: str, width: int | None) -> list[str]:
    """Returns a text as lines, broken between words only."""
    if width is None or cell_len(text) <= width:
        return [text]
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]


def _say_name(console: Console, text: str) -> None:
    for line in _name_lines(text, console.room):
        console.print(Line(visible(line)), soft_wrap=True)


def _name_lines(text: str, room: int | None) -> list[str]:
    """Returns names or facts as lines, broken after commas, brackets and spaces."""
    lines = [""]
    for piece in re.findall(r"[^,( ]*[,( ]+|[^,( ]+$", text):
        if room is not None and lines[-1] and cell_len((lines[-1] + piece).rstrip()) > room:
            lines.append(" " * INDENT)
        lines[-1] += piece
    return [line.rstrip() for line in lines]
