"""Sections as HTML, for pages, reports and notebooks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from urllib.parse import quote

from turnier.dashboards.glossary import explained, meaning
from turnier.dashboards.sections import Copy, Diagram, Diagrams, Facts, Head, Section, Text, Title
from turnier.dashboards.tables import Table

FAILED_COLOUR = "light-dark(#b3261e, #ff8a80)"
_UNIT = re.compile(r"(?<=\d) (?=(?:%|±|Elo\b|[mµn]?s\b|percentage\b))|(?<=±) ")
_BANNER = (
    "border-left: 0.5rem solid {colour}; background: {colour}22; border-radius: 0.3rem; padding: 0.7rem 1rem;"
    " overflow-wrap: anywhere"
)


def unbroken(text: str) -> str:
    """Returns a text as HTML whose lines do not break between a number and its unit."""
    return _UNIT.sub("\N{NO-BREAK SPACE}", escape(text))


def prose(text: str) -> str:
    """Returns a sentence as HTML, unbroken between numbers and units, that explains the words of `glossary`."""
    return explained(unbroken(text), lambda word, means: f'<dfn title="{escape(means)}">{word}</dfn>')


def banner(head: Head) -> str:
    """Returns a run's head: its sentence, in the colour of a verdict, and its meaning below."""
    if not head.sentence:
        return ""
    meaning = f"<div>{prose(head.meaning)}</div>" if head.meaning else ""
    if not head.colour:
        return f"<div><b>{prose(head.sentence)}</b>{meaning}</div>"
    return (
        f'<div class="verdict" style="{_BANNER.format(colour=head.colour)}"><div style="font-size: 1.2rem;'
        f' font-weight: 500">{prose(head.sentence)}</div>{meaning}</div>'
    )


def failed(text: str, to: str = "") -> str:
    """Returns `Failures.text` in red, as a link if there is an address; empty if nothing failed."""
    if not text:
        return ""
    # A block, to keep a number and its word together.
    look = f"color: {FAILED_COLOUR}; display: inline-block; padding-top: 0.2rem"
    shown = f'<b class="failed" style="{look}">{unbroken(text)}</b>'
    return f'<a href="{escape(to)}" style="color: {FAILED_COLOUR}">{shown}</a>' if to else shown


def facts(rows: Mapping[str, str]) -> str:
    """Returns facts as a table of two columns."""
    shown = (f"<tr>{_fact(key)}<td>{unbroken(text)}</td></tr>" for key, text in rows.items())
    return f'<table class="facts">{"".join(shown)}</table>'


def _fact(key: str) -> str:
    means = meaning(key)
    return f'<th title="{escape(means)}">{escape(key)}</th>' if means else f"<th>{escape(key)}</th>"


def table(shown: Table) -> str:
    """Returns the cells of a table as HTML, with the texts of its names below."""
    cells = str(shown.texts().to_html(index=False, border=0, na_rep=""))
    meant = "<br>".join(f"{escape(name)}: {escape(text)}" for name, text in shown.meant().items())
    return cells + f'<p style="overflow-wrap: anywhere"><small>{meant}</small></p>' * bool(meant)


def diagrams(shown: Diagrams, links: bool = True) -> str:
    """Returns positions side by side; empty without one. With `links`, each leads to its match."""
    boards = "".join(_diagram(one, links) for one in shown.drawn)
    note = f'<p class="note">{prose(shown.note)}</p>' * bool(shown.note)
    return f'<h2>{escape(shown.title)}</h2><div class="diagrams">{boards}</div>{note}' if boards else ""


def _diagram(one: Diagram, links: bool) -> str:
    # As an image, a board of others' stores can neither run nor load anything.
    said = escape("; ".join(text for text, _ in one.lines))
    board = f'<img alt="{said}" src="data:image/svg+xml,{quote(one.svg)}">'
    swatch = '<i style="background: {}"></i>'
    lines = "".join(f"<p>{swatch.format(colour) * bool(colour)}{unbroken(text)}</p>" for text, colour in one.lines)
    if links and one.to:
        board = f'<a href="{escape(one.to)}">{board}</a>'
    return f"<figure>{board}<figcaption>{lines}</figcaption></figure>"


def written(section: Section) -> str:
    """Returns a sentence, a title, a text to copy or facts; nothing for others."""
    if isinstance(section, Title):
        return f"<h2>{escape(section.text)}</h2>"
    if isinstance(section, Text):
        return f"<p>{failed(section.text) if section.warning else prose(section.text)}</p>"
    if isinstance(section, Copy):
        return f"<p>{escape(section.meaning)}</p>" * bool(section.meaning) + f"<pre>{escape(section.text)}</pre>"
    if isinstance(section, Facts):
        return f"<h2>{escape(section.title)}</h2>" * bool(section.title) + facts(section.rows)
    return ""
