"""A position of spe_ed as a picture."""

from __future__ import annotations

import itertools

from turnier.games.game import Ints
from turnier.games.spe_ed_board import ACTIVE, DIRECTION, DX, DY, HEIGHT, PLAYERS, WIDTH, X, Y
from turnier.games.spe_ed_messages import cells_of

COLOURS = ("#2f6fde", "#d9480f", "#2b8a3e", "#9c36b5", "#b08900", "#0b7285")  # of the seats
CRASH, EMPTY, OUT = "#c92a2a", "#eef1f5", "#555555"


def svg(state: Ints) -> str:
    """Returns the board as SVG, a cell one unit: trails pale, crashes red, heads as discs that point ahead."""
    width, height = int(state[WIDTH]), int(state[HEIGHT])
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" shape-rendering="crispEdges"'
        f' viewBox="-1 -1 {width + 2} {height + 2}">',
        f'<rect width="{width}" height="{height}" fill="{EMPTY}"/>',
    ]
    for y, row in enumerate(cells_of(state).tolist()):
        x = 0
        for value, run in itertools.groupby(row):
            length = len(list(run))
            if value:
                look = f'fill="{CRASH}"' if value < 0 else f'fill="{COLOURS[value - 1]}" fill-opacity=".62"'
                parts.append(f'<rect x="{x}" y="{y}" width="{length}" height="1" {look}/>')
            x += length
    for seat in range(int(state[PLAYERS])):
        x, y = state[X + seat] + 0.5, state[Y + seat] + 0.5
        dx, dy = 0.9 * DX[state[DIRECTION + seat]], 0.9 * DY[state[DIRECTION + seat]]
        colour = COLOURS[seat] if state[ACTIVE + seat] else OUT
        parts.append(
            f'<g shape-rendering="auto"><circle cx="{x:g}" cy="{y:g}" r=".75" fill="{colour}"/><path d="M{x:g} {y:g}'
            f'l{dx:g} {dy:g}" stroke="#fff" stroke-width=".25"/><title>player {1 + seat}</title></g>'
        )
    return "".join([*parts, "</svg>"])
