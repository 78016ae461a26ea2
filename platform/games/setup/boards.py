"""Boards from text: rows of marks or numbers, as `draw` prints them or divided by slashes, and the seat to move."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ...core.errors import UserError

STONES = {".": 0, "_": 0, "-": 0, "X": 1, "O": 2}
_TO_MOVE = re.compile(
    r"(?:(?P<mark>[XO#])\s+to\s+move\b(?:\s*,\s*seat\s+(?P<moving>\d))?|seat\s+(?P<seat>\d)\s+to\s+move\b)",
    re.IGNORECASE,
)
_OVER = re.compile(r"\bover\b", re.IGNORECASE)


@dataclass(frozen=True)
class BoardText:
    """The parts of a text."""

    rows: tuple[str, ...]  # as written, without empty ones
    mark: int | None  # the colour that is said to move, from 0
    seat: int | None  # the seat that is said to move

    @property
    def mover(self) -> int | None:
        """The seat to move if colours are seats."""
        return self.mark if self.seat is None else self.seat


def caption(mover: int) -> str:
    """Returns the line below a board, for `take_apart`; a seat below 0 means that the game is over."""
    return f"{'XO#'[mover]} to move" if mover >= 0 else "over"


def take_apart(game: object, text: str, seats: int) -> BoardText:
    """Returns the rows of a text, and the colour or seat to move if it says `X to move` or `seat 1 to move`."""
    mark = seat = None
    if found := _TO_MOVE.search(text):
        mark = None if found["mark"] is None else "XO#".index(found["mark"].upper())
        number = found["moving"] or found["seat"]
        seat = None if number is None else int(number)
        text = text[: found.start()] + text[found.end() :]
        for named in (mark, seat):
            if named is not None and named >= seats:
                raise UserError(f"{game} has the seats 0 to {seats - 1}, got {found[0]!r}; name one of them.")
    rows = (row.strip() for row in re.split(r"[\n/]", _OVER.sub("", text)))
    return BoardText(tuple(row for row in rows if row), mark, seat)


def read_marks(
    game: object,
    rows: Sequence[str],
    lengths: Sequence[int],
    marks: dict[str, int],
    labels: Collection[str] = (),
    tails: str = "",
) -> list[int]:
    """Returns the values of all cells, row by row; raises UserError for the first mistake.

    Args:
        game: for errors.
        rows: of a text; a number at the beginning of a row is a label.
        lengths: cells of each row.
        marks: capital letter or sign -> value.
        labels: rows that name columns, without blanks.
        tails: a label that may end a row, for each row from the last one upwards.
    """
    compact = [re.sub(r"^\d+", "", "".join(row.split())) for row in rows]
    compact = [row for row in compact if row and row not in labels]
    if len(compact) == 1 and len(compact[0]) == sum(lengths) and len(lengths) > 1:
        ends = [sum(lengths[: i + 1]) for i in range(len(lengths))]
        compact = [compact[0][end - length : end] for end, length in zip(ends, lengths, strict=True)]
    if len(compact) != len(lengths):
        raise UserError(f"a board of {game} must have {len(lengths)} rows, got {len(compact)}; divide them by slashes.")
    values: list[int] = []
    for number, (row, length) in enumerate(zip(compact, lengths, strict=True), 1):
        below = len(lengths) - number
        if len(row) == length + 1 and below < len(tails) and row[-1] == tails[below]:
            row = row[:-1]
        values += _row_values(game, number, row, length, marks)
    return values


def _row_values(game: object, number: int, row: str, length: int, marks: dict[str, int]) -> list[int]:
    unknown = next((sign for sign in row if sign.upper() not in marks), None)
    if unknown is not None:
        raise UserError(
            f"a cell of {game} must be one of {' '.join(marks)}, got {unknown!r} in row {number}; write another sign."
        )
    if len(row) != length:
        raise UserError(f"row {number} of {game} must have {length} cells, got {len(row)}: {row}; complete it.")
    return [marks[sign.upper()] for sign in row]


def read_numbers(game: object, rows: Sequence[str]) -> list[list[int]]:
    """Returns the numbers of every row; dots and dashes are 0."""
    table = []
    for row in rows:
        words = row.replace(",", " ").replace(";", " ").split()
        wrong = next((word for word in words if word not in "._-" and not re.fullmatch(r"\d{1,9}", word)), None)
        if wrong is not None:
            raise UserError(f"a cell of {game} must be a number or a dot, got {wrong!r}; write another.")
        table.append([0 if word in "._-" else int(word) for word in words])
    return table


def alternating_mover(game: object, values: Sequence[int], said: int | None) -> int:
    """Returns the seat to move if two place stones in turn, seat 0 first; raises UserError for an impossible board."""
    first, second = (sum(value == colour for value in values) for colour in (1, 2))
    if first - second not in (0, 1):
        raise UserError(
            f"X of {game} must have as many stones as O or one more, got {first} and {second}; correct the board."
        )
    return require_mover(game, first - second, said)


def require_mover(game: object, mover: int, said: int | None) -> int:
    """Returns the seat to move; raises UserError if the text says another."""
    if said is not None and said != mover:
        raise UserError(f"seat {mover} must be to move with these stones of {game}, got seat {said}; correct one.")
    return mover


def winner_of(game: object, won: Sequence[bool], mover: int) -> int | None:
    """Returns the seat that has won, if any; raises UserError if it did not move last, as a win ends the game."""
    if won[mover]:
        raise impossible(game, f"seat {mover} has won already, yet is to move")
    return 1 - mover if won[1 - mover] else None


def impossible(game: object, why: str) -> UserError:
    return UserError(f"a board of {game} must be one that moves can lead to, but {why}; correct it.")


def win_returns(winner: int | None) -> list[float]:
    """Returns the returns of both seats if one has won, or nobody."""
    return [0.0, 0.0] if winner is None else [1.0, -1.0] if winner == 0 else [-1.0, 1.0]
