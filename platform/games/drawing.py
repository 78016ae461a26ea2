"""Boards as SVG: the shapes of game drawings, for replays, reports and documentation.

Lengths are in cells: a cell is 1 wide. Colours remain distinct to colour-blind eyes and in print (Okabe and Ito).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

SEAT_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")
LINE, PAPER, INK, LABEL, CHANGED = "#8a8a8a", "#f4f1ea", "#222222", "#5a5a5a", "#CC0066"
MARGIN = 0.15
HEX_ROW = math.sqrt(3) / 2  # between rows of hexagons whose centres are 1 apart
LEAST_NOTED = 0.005  # the smallest share shown in a cell
Notes = Mapping[int, str]  # cell -> a few characters, such as a share of visits


class Route(NamedTuple):
    """The planned route of a player, cell by cell."""

    action: int  # the first one
    cells: npt.NDArray[np.int64]  # [1 + steps], from the player's own cell


class Overlay(NamedTuple):
    """An agent's knowledge at its decision, to be shown on a board; empty if it had none of this kind."""

    shares: npt.NDArray[np.float64] | None = None  # [num_cells]: a probability or a share of visits for each cell
    routes: tuple[Route, ...] = ()

    def notes(self) -> Notes:
        """Returns the shares in per cent, for games that write them into cells."""
        shares = () if self.shares is None else self.shares.tolist()
        return {cell: f"{100 * share:.0f}" for cell, share in enumerate(shares) if share >= LEAST_NOTED}


def picture(width: float, height: float, parts: Iterable[str], left: float = 0.0, margin: float = MARGIN) -> str:
    """Returns a whole SVG of `width` by `height` cells, starting at `left`, with a margin; it fits its container."""
    box = f"{left - margin:g} {-margin:g} {width - left + 2 * margin:g} {height + 2 * margin:g}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="img" aria-label="board"'
        f' font-family="system-ui, sans-serif">{"".join(parts)}</svg>'
    )


def cell_mark(cell: int) -> str:
    """Returns the attribute that marks a shape as a cell to click on."""
    return f' data-cell="{cell}"'


def coloured(svg: str, colours: Mapping[int, str]) -> str:
    """Returns a board on which some cells have other colours, by cell."""
    return re.sub(
        r' data-cell="(\d+)"',
        lambda mark: mark[0] + (f' style="fill: {colours[int(mark[1])]}"' if int(mark[1]) in colours else ""),
        svg,
    )


def word(x: float, y: float, text: str, size: float = 0.4, colour: str = INK, bold: bool = False) -> str:
    """Returns text centred at x, y."""
    weight = ' font-weight="600"' * bold
    return (
        f'<text x="{x:.3g}" y="{y + 0.35 * size:.3g}" font-size="{size:.3g}" fill="{colour}" text-anchor="middle"'
        f"{weight}>{escape(text)}</text>"
    )


def stone(x: float, y: float, value: int, changed: bool = False, radius: float = 0.38) -> str:
    """Returns the stone of seat value - 1; one that has just changed has a ring."""
    ring = f' stroke="{CHANGED}" stroke-width="0.08"' if changed else ""
    colour = SEAT_COLOURS[(value - 1) % len(SEAT_COLOURS)]
    # The number distinguishes the seats if colours cannot.
    return f'<circle cx="{x:.4g}" cy="{y:.4g}" r="{radius}" fill="{colour}"{ring}/>' + word(
        x, y, str(value - 1), 0.9 * radius, "#fff" if value != 2 else INK
    )


def squares(
    values: Sequence[int],
    columns: int,
    changed: Collection[int] = (),
    notes: Notes | None = None,
    paper: str = PAPER,
    rows_named: bool = True,
) -> str:
    """Returns stones on a board of squares: value 0 is an empty cell, any other is the seat plus 1.

    The border names columns by letters, and rows by numbers from the top.
    """
    notes, rows = notes or {}, math.ceil(len(values) / columns)
    parts = []
    for cell, value in enumerate(values):
        row, column = divmod(cell, columns)
        parts.append(
            f'<rect x="{column}" y="{row}" width="1" height="1" fill="{paper}" stroke="{LINE}" stroke-width="0.03"'
            f"{cell_mark(cell)}/>"
        )
        parts.append(_content(column + 0.5, row + 0.5, int(value), cell in changed, notes.get(cell, "")))
    parts += [word(column + 0.5, rows + 0.3, chr(ord("a") + column), 0.32, LABEL) for column in range(columns)]
    parts += [word(-0.28, row + 0.5, str(row + 1), 0.32, LABEL) for row in range(rows) if rows_named]
    return picture(columns, rows + 0.5, parts, left=-0.5 if rows_named else 0.0)


def hexagons(
    centres: Sequence[tuple[float, float]],
    values: Sequence[int],
    changed: Collection[int] = (),
    notes: Notes | None = None,
    names: Sequence[str] = (),
    under: Iterable[str] = (),
) -> str:
    """Returns stones on hexagons with a corner at the top and centres 1 apart; the pointer shows the cells' names.

    Shapes `under` the board have the coordinates of the centres.
    """
    notes, side = notes or {}, 1 / math.sqrt(3)
    left, top = min(x for x, _ in centres) - 0.5, min(y for _, y in centres) - side
    corners = [(side * math.sin(math.pi * k / 3), -side * math.cos(math.pi * k / 3)) for k in range(6)]
    parts = [f'<g transform="translate({-left:g} {-top:g})">{"".join(under)}</g>']
    for cell, ((x, y), value) in enumerate(zip(centres, values, strict=True)):
        x, y = x - left, y - top
        points = " ".join(f"{x + dx:.3f},{y + dy:.3f}" for dx, dy in corners)
        title = f"<title>{escape(names[cell])}</title>" if names else ""
        look = f'fill="{PAPER}" stroke="{LINE}" stroke-width="0.03"'
        parts.append(f'<polygon points="{points}" {look}{cell_mark(cell)}>{title}</polygon>')
        parts.append(_content(x, y, int(value), cell in changed, notes.get(cell, ""), 0.36))
    width, height = max(x for x, _ in centres) + 0.5 - left, max(y for _, y in centres) + side - top
    return picture(width, height, parts)


def _content(x: float, y: float, value: int, changed: bool, note: str, radius: float = 0.38) -> str:
    if value:
        return stone(x, y, value, changed, radius)
    mark = f'<circle cx="{x:.4g}" cy="{y:.4g}" r="0.12" fill="{CHANGED}"/>' if changed else ""
    return mark + (word(x, y, note, 0.3, "#555") if note else "")


def lines(text: str) -> str:
    """Returns text as a picture, for games without a drawing of their own."""
    rows = text.splitlines() or [""]
    width = max(1, *map(len, rows)) * 0.62
    parts = [
        f'<text x="0" y="{i + 0.75:g}" font-size="1" font-family="monospace" xml:space="preserve" fill="{INK}">'
        f"{escape(row)}</text>"
        for i, row in enumerate(rows)
    ]
    return picture(width, len(rows), parts)
