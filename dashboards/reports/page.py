"""The HTML page of every report: one self-contained file, light or dark as the reader prefers."""

from __future__ import annotations

import base64
import html
from pathlib import Path

from markdown_it import MarkdownIt

STYLE = """
:root { color-scheme: light dark; --ink: #222; --soft: #555; --line: #ddd; --strong: #999; --code: #f2f2f2 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e4e4; --soft: #aaa; --line: #444; --strong: #888; --code: #2c2c2c }
  img, svg { background: white }
}
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: var(--ink) }
table { border-collapse: collapse; display: block; overflow-x: auto } td, th { padding: .25rem .75rem }
td:not(:first-child) { white-space: nowrap }
th { text-align: left; border-bottom: 2px solid var(--strong) } td { border-bottom: 1px solid var(--line) }
.facts th { font-weight: normal; color: var(--soft); border-bottom: 1px solid var(--line); vertical-align: top }
.facts td { white-space: normal; overflow-wrap: anywhere }
h1, h2 { overflow-wrap: anywhere }
code { background: var(--code); padding: 0 .25rem }
pre { background: var(--code); padding: .5rem .75rem; white-space: pre-wrap; overflow-wrap: anywhere; user-select: all }
img, svg { max-width: 100%; height: auto }
figure { margin: 1.5rem 0; overflow-x: auto } figure > svg { min-width: 34rem }
figcaption { color: var(--soft); font-size: 14px }
.verdict { margin-bottom: 1rem }
.board { max-width: 22rem }
.diagrams { display: flex; flex-wrap: wrap; gap: 1rem } .diagrams figure { width: 13rem; margin: 0 }
.diagrams p { margin: .2rem 0; font-size: .9rem } .diagrams img { width: 100% }
.diagrams i { display: inline-block; width: .8rem; height: .8rem; margin-right: .35rem }
"""


def html_page(title: str, body: str) -> str:
    """Returns a complete page; the title is text, the body HTML."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>'
        f"<body>\n{body}\n</body></html>\n"
    )


def write_pages(folder: Path, name: str, title: str, linked: str, inlined: str) -> list[Path]:
    """Writes NAME.md and a self-contained NAME.html; returns the paths of both.

    Args:
        folder: for the pages; it exists.
        name: of the files.
        title: of the HTML page.
        linked: Markdown with links to its pictures.
        inlined: the same with the pictures in it, see `embedded`.
    """
    pages = [folder / f"{name}.md", folder / f"{name}.html"]
    pages[0].write_text(linked, encoding="utf-8")
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(inlined)
    pages[1].write_text(html_page(title, body), encoding="utf-8")
    return pages


def embedded(png: bytes) -> str:
    """Returns the address of a picture embedded in the page itself."""
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"
