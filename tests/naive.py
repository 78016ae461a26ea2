"""Plain-Python oracles: the rules of 2048 and tic-tac-toe, slow and obvious, sharing no code with the kernels.

A 2048 board is rows of tile values (0 = empty) of any size. Directions are named, in the order of the kernels' actions.
"""

from __future__ import annotations

import functools
from fractions import Fraction

Board = tuple[tuple[int, ...], ...]

DIRECTIONS = ("left", "right", "up", "down")
TILES = ((2, Fraction(9, 10)), (4, Fraction(1, 10)))  # what chance places, and how often


def slide_line(line: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """Returns a line moved to its front, and the points: equal neighbours merge once, those nearest the front first."""
    tiles = [tile for tile in line if tile]
    moved: list[int] = []
    points = 0
    while tiles:
        tile = tiles.pop(0)
        if tiles and tiles[0] == tile:
            tile += tiles.pop(0)
            points += tile
        moved.append(tile)
    return tuple(moved + [0] * (len(line) - len(moved))), points


def slide(board: Board, direction: str) -> tuple[Board, int]:
    """Returns the board after a move, before a new tile appears, and the points."""
    lines = board if direction in ("left", "right") else tuple(zip(*board, strict=True))
    backwards = direction in ("right", "down")
    moved = [slide_line(line[::-1] if backwards else line) for line in lines]
    after = tuple(line[::-1] if backwards else line for line, _ in moved)
    if direction in ("up", "down"):
        after = tuple(zip(*after, strict=True))
    return after, sum(points for _, points in moved)


def legal(board: Board) -> list[str]:
    """Returns the directions that change the board."""
    return [direction for direction in DIRECTIONS if slide(board, direction)[0] != board]


def place(board: Board, cell: int, tile: int) -> Board:
    """Returns the board with a tile put on a cell (row-major)."""
    row, column = divmod(cell, len(board))
    return tuple(
        tuple(tile if (r, c) == (row, column) else old for c, old in enumerate(line)) for r, line in enumerate(board)
    )


def chance(board: Board) -> list[tuple[int, int, Fraction]]:
    """Returns every (cell, tile, probability) of the next tile: all empty cells alike."""
    flat = [tile for row in board for tile in row]
    empty = [cell for cell, tile in enumerate(flat) if tile == 0]
    return [(cell, tile, share / len(empty)) for cell in empty for tile, share in TILES]


def tile_sum(board: Board) -> int:
    return sum(map(sum, board))


def potential(board: Board) -> int:
    """Returns the points that merging the board's tiles out of 2s is worth."""
    return sum(tile * (tile.bit_length() - 2) for row in board for tile in row if tile)


def empty_board(size: int) -> Board:
    return ((0,) * size,) * size


@functools.cache
def random_play(board: Board, plies: int | None = None) -> tuple[Fraction, Fraction]:
    """Returns the exact expected points and plies of uniformly random legal play, for at most `plies` plies."""
    moves = legal(board) if plies is None or plies > 0 else []
    points = length = Fraction(0)
    for direction in moves:
        after, gained = slide(board, direction)
        points += Fraction(gained, len(moves))
        length += Fraction(1, len(moves))
        for cell, tile, probability in chance(after):
            more, longer = random_play(place(after, cell, tile), None if plies is None else plies - 1)
            points += probability * more / len(moves)
            length += probability * longer / len(moves)
    return points, length


@functools.cache
def best_score(board: Board) -> int:
    """Returns the most points that the best moves and the luckiest tiles can still make."""
    best = 0
    for direction in legal(board):
        after, gained = slide(board, direction)
        for cell, tile, _ in chance(after):
            best = max(best, gained + best_score(place(after, cell, tile)))
    return best


def start_boards(size: int) -> list[tuple[Board, Fraction]]:
    """Returns every start position, two tiles on an empty board, with its probability."""
    return [
        (place(place(empty_board(size), first, a), second, b), p * q)
        for first, a, p in chance(empty_board(size))
        for second, b, q in chance(place(empty_board(size), first, a))
    ]


# Tic-tac-toe: nine marks row by row, "X" (moves first), "O" or ".".
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


def has_line(marks: str, mark: str) -> bool:
    return any(all(marks[cell] == mark for cell in line) for line in LINES)


def mover(marks: str) -> str | None:
    """Returns whose turn it is, or None where the game is over."""
    if has_line(marks, "X") or has_line(marks, "O") or "." not in marks:
        return None
    return "X" if marks.count("X") == marks.count("O") else "O"


def put(marks: str, cell: int) -> str:
    """Returns the marks after the mover has taken a cell."""
    return marks[:cell] + str(mover(marks)) + marks[cell + 1 :]
