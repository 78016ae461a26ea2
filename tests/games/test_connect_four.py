"""Connect four against published counts and, on small boards, a solver in plain Python."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from turnier.core.errors import UserError
from turnier.core.kernel import JIT
from turnier.games.connect_four import PLAYED, ConnectFour
from turnier.games.game import Position

Columns = tuple[str, ...]  # of "X" and "O" from the bottom up


def has_four(columns: Columns) -> bool:
    marks = {(c, r): mark for c, column in enumerate(columns) for r, mark in enumerate(column)}
    return any(
        all(marks.get((c + i * right, r + i * up)) == mark for i in range(4))
        for (c, r), mark in marks.items()
        for right, up in ((0, 1), (1, 0), (1, 1), (1, -1))
    )


def solve(rows: int, columns: int) -> dict[Columns, int]:
    """Returns seat 0's result with best play in every position that play reaches."""
    known: dict[Columns, int] = {}

    def visit(board: Columns, mark: str) -> int:
        if board not in known:
            other = "O" if mark == "X" else "X"
            free = [c for c in range(columns) if len(board[c]) < rows]
            if has_four(board):
                known[board] = 1 if other == "X" else -1
            elif not free:
                known[board] = 0
            else:
                after = (visit((*board[:c], board[c] + mark, *board[c + 1 :]), other) for c in free)
                known[board] = (max if mark == "X" else min)(after)
        return known[board]

    visit(("",) * columns, "X")
    return known


def solve_kernels(game: ConnectFour) -> dict[Columns, int]:
    known: dict[Columns, int] = {}

    def visit(position: Position) -> int:
        cells = game.cell_values(position.state).reshape(game.rows, game.columns)
        board = tuple("".join(".XO"[value] for value in column[::-1]).rstrip(".") for column in cells.T)
        if board not in known:
            after = [visit(position.play(action)) for action in position.legal_actions()]
            best = max if position.to_move == 0 else min
            known[board] = best(after) if after else int(position.returns[0])
        return known[board]

    visit(game.start())
    return known


@pytest.mark.parametrize(("rows", "columns"), [(1, 5), (3, 4), (4, 3)])
def test_every_position_has_the_value_of_the_plain_solver(rows: int, columns: int) -> None:
    assert solve_kernels(ConnectFour(rows, columns)) == solve(rows, columns)


def positions_by_ply(game: ConnectFour, plies: int) -> list[int]:
    """Returns the number of different positions after each number of plies, through the bare kernels."""
    layer, counts = {game.start().state.tobytes()}, []
    out, rewards = np.zeros(game.max_legal, np.int64), np.zeros(2)
    while layer and len(counts) <= plies:
        counts.append(len(layer))
        following = set()
        for state in (np.frombuffer(words, np.int64).copy() for words in layer):
            for action in out[: game.kernels.legal(state, out)].tolist() if state[PLAYED] >= 0 else ():
                after = state.copy()
                game.kernels.step(after, action, rewards)
                following.add(after.tobytes())
        layer = following
    return counts


def test_the_standard_board_has_the_published_position_counts() -> None:
    """Source: Tromp, sequence A212693 of the OEIS."""
    published = [1, 7, 49, 238, 1_120, 4_263, 16_422, 54_859][: 8 if JIT else 6]
    assert positions_by_ply(ConnectFour(), len(published) - 1) == published


def test_the_4x4_board_has_161029_positions() -> None:
    """Source: Tromp, "John's Connect Four Playground"."""
    assert sum(positions_by_ply(ConnectFour(4, 4), 16)) == 161_029


@pytest.mark.parametrize(("rows", "games"), [(1, 2), (2, 90), (3, 356_232)])
def test_one_column_more_than_rows_has_the_published_number_of_games(rows: int, games: int) -> None:
    """Source: Jehn, sequence A342329 of the OEIS."""
    game = ConnectFour(rows, rows + 1)

    @functools.cache
    def count(state: bytes) -> int:
        position = game.position(np.frombuffer(state, np.int64))
        after = [count(position.play(action).state.tobytes()) for action in position.legal_actions()]
        return sum(after) or 1

    assert count(game.start().state.tobytes()) == games


def test_drawing_names_and_sizes() -> None:
    position = ConnectFour(4, 5).start().play(2).play(2).play(0)
    assert str(position) == ". . . . .\n. . . . .\n. . O . .\nX . X . .\na b c d e"
    assert ConnectFour(8, 7).num_cells == 56
    with pytest.raises(UserError, match=r"\(rows \+ 1\) \* columns must be at most 63, got 64"):
        ConnectFour(7, 8)
