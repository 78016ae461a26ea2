"""A page as HTML: its head, its blocks, and what a browser needs to renew the ones that change."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from turnier.dashboards.links import HOME
from turnier.dashboards.pages.tables import breakable

CHARTS = "/site/vega.js"  # the script that draws them
MENU = {"Runs": HOME, "League": "/league", "Play": "/play", "Analyse": "/analyse"}


@dataclass(frozen=True)
class Block:
    """A part of a page, renewed as a whole when it changes.

    Args:
        key: distinct on its page, and the same after a change.
        html: its content.
        half: whether it may stand beside another one.
    """

    key: str
    html: str
    half: bool = False

    def drawn(self) -> str:
        digest = hashlib.blake2b(self.html.encode(), digest_size=8).hexdigest()
        look = "block half" if self.half else "block"
        return f'<div class="{look}" data-key="{escape(self.key)}" data-hash="{digest}">{self.html}</div>'


@dataclass(frozen=True)
class Page:
    """A page of the dashboards.

    Args:
        title: as text; the browser's tab shows it, too.
        blocks: its content.
        head: HTML beside the title, such as tabs.
        live: the address of the events that renew it; empty if nothing will change.
        above: links that lead up: title -> address.
        at: the place in the menu.
    """

    title: str
    blocks: Sequence[Block]
    head: str = ""
    live: str = ""
    above: tuple[tuple[str, str], ...] = ()
    at: str = HOME

    def html(self) -> str:
        """Returns the whole page."""
        up = "".join(f'<a href="{escape(to)}">{escape(name)}</a> / ' for name, to in self.above)
        live = f' data-live="{escape(self.live)}"' if self.live else ""
        blocks = "\n".join(block.drawn() for block in spread(self.blocks))
        early = f'<link rel="preload" as="script" href="{CHARTS}">' if 'class="chart"' in blocks else ""
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(' · '.join(filter(None, (self.title, 'Turnier'))))}</title>"
            '<link rel="icon" href="/site/icon.svg"><link rel="stylesheet" href="/static/style.css">'
            '<link rel="stylesheet" href="/site/site.css"><link rel="modulepreload" href="/site/charts.js">'
            '<script type="module" src="/site/site.js"></script>'
            f"{early}</head>"
            f'<body><a class="skip" href="#main">Skip to the content</a>{at(banner(), self.at)}'
            f'<div class="title"><p class="up">{up}</p><h1>{breakable(self.title)}</h1>{self.head}</div>'
            f'<main id="main" class="blocks" tabindex="-1"{live}>{blocks}</main></body></html>\n'
        )


def banner() -> str:
    """Returns the head of every page, of those of the board, too."""
    links = "".join(f'<a href="{to}">{name}</a>' for name, to in MENU.items())
    return f'<header><a class="home" href="{HOME}">Turnier</a><nav aria-label="pages">{links}</nav></header>'


def at(html: str, place: str) -> str:
    """Returns the head of a page with a mark at the link to its place in the menu."""
    return html.replace(f'<a href="{place}">', f'<a href="{place}" aria-current="page">', 1)


def spread(blocks: Iterable[Block]) -> list[Block]:
    """Returns the blocks with keys that differ; one that has nothing beside it takes the whole width."""
    found: list[Block] = []
    seen: dict[str, int] = {}
    row = 0  # half blocks so far, side by side
    for block in blocks:
        times = seen[block.key] = seen.get(block.key, 0) + 1
        key = block.key if times == 1 else f"{block.key} {times}"
        if not block.half and row % 2:
            found[-1] = Block(found[-1].key, found[-1].html)
        row = row + 1 if block.half else 0
        found.append(Block(key, block.html, block.half))
    if row % 2:
        found[-1] = Block(found[-1].key, found[-1].html)
    return found


def refused(sentence: str) -> Page:
    """Returns the page in place of one that cannot be shown."""
    return Page("Not shown", [Block("refused", f'<p class="trouble" role="alert">{escape(sentence)}</p>')], at="")


def nothing(what: str, commands: Iterable[str], option: str) -> Block:
    """Returns a sentence that there is nothing to show yet, with commands that change this for the shown store."""
    lines = [line + option if line.startswith(("turnier ", "python ")) else line for line in commands]
    return Block("nothing", f"<p>{escape(what)} Type:</p>{copied(chr(10).join(lines))}")


def copied(text: str) -> str:
    """Returns a text with a button that copies it."""
    return f'<div class="copy"><pre>{escape(text)}</pre><button type="button" data-copy>Copy</button></div>'


def panel(title: str, html: str, close: str) -> Block:
    """Returns a panel over the page, where the click was; `close` is the address of the page without it."""
    return Block(
        "panel",
        f'<aside class="panel" aria-label="{escape(title)}"><div class="head"><h2>{escape(title)}</h2>'
        f'<a class="close" href="{escape(close)}" data-stay aria-label="close">✕</a></div>{html}</aside>',
    )
