"""Overlays of spe_ed as SVG: shades of free cells by steps, lines from the head, and a legend of what there is."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np

from turnier.games.drawing import Overlay, Route
from turnier.games.registry import make_game
from turnier.games.spe_ed.board import X, Y
from turnier.games.spe_ed.overlay import COLOURS, SHADES

SVG = "{http://www.w3.org/2000/svg}"
GAME = make_game("spe_ed(width=9,height=7)")


def drawn(overlay: Overlay | None) -> ET.Element:
    state = GAME.start(2).state
    return ET.fromstring(GAME.svg(state) if overlay is None else GAME.overlaid_svg(state, overlay))


def words(picture: ET.Element) -> list[str]:
    return [text.text or "" for text in picture.iter(f"{SVG}text")]


def test_free_cells_are_shaded_by_how_likely_they_are_entered() -> None:
    state, entered = GAME.start(2).state, np.zeros(63)
    taken = [(int(state[Y + seat]), int(state[X + seat])) for seat in range(2)]
    free = [(y, x) for y in range(7) for x in range(9) if (y, x) not in taken]
    for cell, likely in zip([taken[0], *free], [0.9, 0.002, 0.003, 0.05, 0.05, 0.3, 1.7], strict=False):
        entered[9 * cell[0] + cell[1]] = likely
    picture = drawn(Overlay(entered))
    shown = {path.get("fill"): path.get("d", "") for path in picture.iter(f"{SVG}path")}
    cells = {colour: [(int(y), int(x)) for x, y in re.findall(r"M(\d+) (\d+)h", d)] for colour, d in shown.items()}
    colours = dict(SHADES)
    assert cells == {colours[0.003]: [free[1]], colours[0.03]: free[2:4], colours[0.3]: free[4:6]}
    assert words(picture)[:6] == ["entered by others", "0.3 %", "1 %", "3 %", "10 %", "30 %"]
    assert not list(picture.iter(f"{SVG}polyline"))


def test_paths_are_lines_through_cells_side_by_side() -> None:
    way = np.array([0, 2, 11, 29])
    picture = drawn(Overlay(None, (Route(3, way), Route(0, way[:3]), Route(3, np.arange(60) % 63))))
    found = [line for line in picture.iter(f"{SVG}polyline") if line.get("stroke") in COLOURS]
    corners = [[tuple(map(float, p.split(","))) for p in line.get("points", "").split()] for line in found]
    cells = [[int(y) * 9 + int(x) for x, y in line] for line in corners]
    assert [line for line in cells if len(line) == 4] == [way.tolist()] and way[:3].tolist() in cells
    assert {line.get("stroke") for line in found} == {COLOURS[3], COLOURS[0]}
    assert len({line[0] for line in corners if line[0][0] < 1 and line[0][1] < 1}) == 3  # not one over the other
    ways = [float(line.get("stroke-opacity", "1")) for line in found if line.get("stroke") == COLOURS[3]]
    assert min(ways) < 0.5 < max(ways) == 1  # pale where it is far ahead
    assert words(picture)[1:3] == ["turn_left 2", "speed_up 59"]


def test_the_board_stays_as_it_is_and_the_legend_lies_below() -> None:
    plain, nothing = drawn(None), drawn(Overlay())
    assert ET.tostring(plain) == ET.tostring(nothing)
    picture = drawn(Overlay(np.zeros(63), (Route(1, np.array([3, 4])),)))
    height = float(picture.attrib["viewBox"].split()[3])
    assert height > float(plain.attrib["viewBox"].split()[3])
    legend = list(picture.iter(f"{SVG}text"))[:8]
    assert all(7 < float(text.get("y", "0")) < height for text in legend)
