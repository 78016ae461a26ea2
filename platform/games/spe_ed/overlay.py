"""The overlay of spe_ed's agents: the probable cells of others, and routes of long survival.

Probabilities shade free cells, in steps of a factor of about three; routes are lines with the colour and dash of their
first action, paler further ahead. Lines that share cells lie side by side.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ..drawing import INK, LINE, PAPER, SEAT_COLOURS, Overlay, Route
from .board import ACTIONS

# The least probability of each shade; a single hue, light to dark.
SHADES = ((0.003, "#e6dff1"), (0.01, "#cdbde3"), (0.03, "#ac92cf"), (0.1, "#8662b5"), (0.3, "#5b3492"))
COLOURS = (SEAT_COLOURS[0], SEAT_COLOURS[3], SEAT_COLOURS[1], SEAT_COLOURS[2], INK)  # of lines, by first action
DASHES = ("", "0.5 0.25", "0.3 0.2", "0.8 0.2 0.15 0.2", "")
NEAR = ((0, 1.0), (12, 0.6), (40, 0.3))  # rounds ahead -> opacity of lines from there on
SPREAD = 0.32  # share of a cell, to both sides, for lines side by side


def shades(entered: npt.NDArray[np.float64]) -> Iterator[str]:
    """Yields the shades of cells, [height, width], one shape per step."""
    steps = np.searchsorted([least for least, _ in SHADES], entered, side="right")
    for step, (_, colour) in enumerate(SHADES, 1):
        cells = "".join(f"M{x} {y}h1v1h-1z" for y, x in np.argwhere(steps == step).tolist())
        if cells:
            yield f'<path d="{cells}" fill="{colour}" shape-rendering="crispEdges"/>'


def lines(routes: tuple[Route, ...], width: int) -> Iterator[str]:
    """Yields the lines of routes on a board with `width` columns, the nearest parts last."""
    for (begins, opacity), ends in reversed([*zip(NEAR, [*(near[0] for near in NEAR[1:]), None], strict=True)]):
        for number, route in enumerate(routes):
            part = route.cells[begins : None if ends is None else ends + 1]
            if len(part) > 1:
                shift = 0.5 + SPREAD * (2 * (number + 0.5) / len(routes) - 1)
                points = " ".join(f"{cell % width + shift:.2f},{cell // width + shift:.2f}" for cell in part.tolist())
                if not begins:  # readable on shades and across other lines
                    yield _line(f'<polyline points="{points}"', route.action, opacity, under=True)
                yield _line(f'<polyline points="{points}"', route.action, opacity)


def _line(shape: str, action: int, opacity: float = 1.0, under: bool = False) -> str:
    if under:
        return (
            f'{shape} fill="none" stroke="{PAPER}" stroke-width="0.26" stroke-opacity="0.7" stroke-linejoin="round"/>'
        )
    dash = f' stroke-dasharray="{DASHES[action]}"' if DASHES[action] else ""
    return (
        f'{shape} fill="none" stroke="{COLOURS[action]}" stroke-width="0.13" stroke-opacity="{opacity:g}"'
        f' stroke-linejoin="round"{dash}/>'
    )


def legend(overlay: Overlay, width: int, top: float) -> tuple[list[str], float]:
    """Returns the legend of shades and lines, drawn from `top` below a board of `width` columns, and its height."""
    size = width / 36
    parts: list[str] = []
    row = top + 1.2 * size

    def words(x: float, text: str, colour: str = INK) -> None:
        parts.append(
            f'<text x="{x:.4g}" y="{row + 0.36 * size:.4g}" font-size="{size:.4g}" fill="{colour}">{text}</text>'
        )

    if overlay.shares is not None:
        words(0, "entered by others")
        for step, (least, colour) in enumerate(SHADES):
            x = size * (10.5 + 5.2 * step)
            parts.append(
                f'<rect x="{x:.4g}" y="{row - size / 2:.4g}" width="{size:.4g}" height="{size:.4g}" fill="{colour}"'
                f' stroke="{LINE}" stroke-width="0.03"/>'
            )
            words(x + 1.3 * size, f"{100 * least:g} %")
        row += 1.7 * size
    if overlay.routes:
        words(0, "longest paths found by first action, and their rounds")
        found = sorted({route.action for route in overlay.routes})
        for place, action in enumerate(found):
            if place % 3 == 0:
                row += 1.5 * size
            x = size * 11.7 * (place % 3)
            longest = max(len(route.cells) - 1 for route in overlay.routes if route.action == action)
            parts.append(_line(f'<path d="M{x:.4g} {row:.4g}h{1.6 * size:.4g}"', action))
            words(x + 2 * size, f"{ACTIONS[action]} {longest}")
        row += 1.7 * size
    return parts, row - top - 0.7 * size if parts else 0.0
