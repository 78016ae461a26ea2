"""Chess moves as numbers: from * 64 + to with a1 = 0, h8 = 63, followed by the promotions; the names are UCI's."""

from __future__ import annotations

FILES, PIECES = "abcdefgh", "bnqr"
SQUARES = [f"{letter}{rank}" for rank in range(1, 9) for letter in FILES]
PROMOTIONS = [
    f"{FILES[file]}{rank}{FILES[to]}{last}{piece}"
    for rank, last in ((7, 8), (2, 1))
    for file in range(8)
    for to in range(max(file - 1, 0), min(file + 2, 8))
    for piece in PIECES
]
NAMES = [start + end for start in SQUARES for end in SQUARES] + PROMOTIONS
NUMBERS = {name: number for number, name in enumerate(NAMES)}
