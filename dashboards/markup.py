"""Sections as HTML, for pages, reports and notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from urllib.parse import quote

from turnier.dashboards.sections import Copy, Diagram, Diagrams, Facts, Head, Section, Text, Title
from turnier.dashboards.tables import Table

FAILED_COLOUR = "light-dark(#b3261e, #ff8a80)"
_BANNER = (
    "border-left: 0.5rem solid {colour}; background: {colour}22; border-radius: 0.3rem; padding: 0.7rem 1rem;"
    " overflow-wrap: anywhere"
)


def banner(head: Head) -> str:
    """Returns a run's head: its sentence, in the colour of a verdict, and its meaning below."""
    if not head.sentence:
        return ""
    meaning = f"<div>{escape(head.meaning)}</div>" if head.meaning else ""
    if not head.colour:
        return f"<div><b>{escape(head.sentence)}</b>{meaning}</div>"
    return (
        f'<div class="verdict" style="{_BANNER.format(colour=head.colour)}"><div style="font-size: 1.2rem;'
        f' font-weight: 500">{escape(head.sentence)}</div>{meaning}</div>'
    )


def failed(text: str) -> str:
    """Returns `Failures.text` in red; empty if nothing failed."""
    # A block, to keep a number and its word together.
    look = f"color: {FAILED_COLOUR}; display: inline-block; padding-top: 0.2rem"
    return f'<b class="failed" style="{look}">{escape(text)}</b>' if text else ""


def facts(rows: Mapping[str, str]) -> str:
    """Returns facts as a table of two columns."""
    shown = (f"<tr><th>{escape(key)}</th><td>{escape(text)}</td></tr>" for key, text in rows.items())
    return f'<table class="facts">{"".join(shown)}</table>'


def table(shown: Table) -> str:
    """Returns the cells of a table as HTML, with the texts of its names below."""
    cells = str(shown.texts().to_html(index=False, border=0, na_rep=""))
    meant = "<br>".join(f"{escape(name)}: {escape(text)}" for name, text in shown.meant().items())
    return cells + f'<p style="overflow-wrap: anywhere"><small>{meant}</small></p>' * bool(meant)


def diagrams(shown: Diagrams, links: bool = True) -> str:
    """Returns positions side by side; empty without one. With `links`, each leads to its match."""
    boards = "".join(_diagram(one, links) for one in shown.drawn)
    note = f'<p class="note">{escape(shown.note)}</p>' * bool(shown.note)
    return f'<h2>{escape(shown.title)}</h2><div class="diagrams">{boards}</div>{note}' if boards else ""


def _diagram(one: Diagram, links: bool) -> str:
    # As an image, a board of others' stores can neither run nor load anything.
    said = escape("; ".join(text for text, _ in one.lines))
    board = f'<img alt="{said}" src="data:image/svg+xml,{quote(one.svg)}">'
    swatch = '<i style="background: {}"></i>'
    lines = "".join(f"<p>{swatch.format(colour) * bool(colour)}{escape(text)}</p>" for text, colour in one.lines)
    if links and one.to:
        board = f'<a href="{escape(one.to)}">{board}</a>'
    return f"<figure>{board}<figcaption>{lines}</figcaption></figure>"


def written(section: Section) -> str:
    """Returns a sentence, a title, a text to copy or facts; nothing for others."""
    if isinstance(section, Title):
        return f"<h2>{escape(section.text)}</h2>"
    if isinstance(section, Text):
        return f"<p>{failed(section.text) if section.warning else escape(section.text)}</p>"
    if isinstance(section, Copy):
        return f"<p>{escape(section.meaning)}</p>" * bool(section.meaning) + f"<pre>{escape(section.text)}</pre>"
    if isinstance(section, Facts):
        return f"<h2>{escape(section.title)}</h2>" * bool(section.title) + facts(section.rows)
    return ""
