"""Plain-Python oracles of agents and evaluators: exact expectations, expectimax, minimax, heuristics and MCTSE.

They use the rules of tests/naive.py (boards of tile values, named directions, marks) and share no code with kernels;
only the search oracle asks the game's kernels for moves, since it has to draw the same random numbers.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tests import naive
from tests.naive import Board

# --- 2048: exact values ---------------------------------------------------------------------------------------------


@functools.cache
def expectimax(board: Board) -> Fraction:
    """Returns the expected points still to come under the best play."""
    return max(expectimax_actions(board).values(), default=Fraction(0))


def expectimax_actions(board: Board) -> dict[str, Fraction]:
    """Returns for every legal direction the expected points of playing it and then the best."""
    return {
        direction: gained
        + sum((p * expectimax(naive.place(after, *tile)) for *tile, p in naive.chance(after)), Fraction(0))
        for direction, (after, gained) in ((d, naive.slide(board, d)) for d in naive.legal(board))
    }


@functools.cache
def over_within(board: Board, plies: int) -> Fraction:
    """Returns the probability that no move is legal after at most `plies` plies of random play."""
    moves = naive.legal(board)
    if not moves or plies == 0:
        return Fraction(not moves)
    total = Fraction(0)
    for direction in moves:
        after, _ = naive.slide(board, direction)
        for cell, tile, p in naive.chance(after):
            total += p * over_within(naive.place(after, cell, tile), plies - 1) / len(moves)
    return total


def rollout_value(board: Board, direction: str, plies: int | None, method: int, largest_score: float) -> float:
    """Returns the exact mean game score (Kutsch 2017, 9.2) of rollouts after a direction, from 0 points on."""
    after, gained = naive.slide(board, direction)
    value = Fraction(0)
    for cell, tile, p in naive.chance(after):
        state = naive.place(after, cell, tile)
        value += p * (gained + naive.random_play(state, plies)[0]) / Fraction(largest_score)
        if method == 2:
            value -= p * (1 if plies is None else over_within(state, plies))
    return float(value)


def survives(board: Board, direction: str) -> Fraction:
    """Returns the probability that a move is still legal after a direction and the next tile."""
    after, _ = naive.slide(board, direction)
    return sum((p for cell, tile, p in naive.chance(after) if naive.legal(naive.place(after, cell, tile))), Fraction(0))


def reachable_boards(size: int) -> set[Board]:
    """Returns every board that play from any start position can reach, with the player to move or the game over."""
    seen: set[Board] = set()
    waiting = [board for board, _ in naive.start_boards(size)]
    while waiting:
        board = waiting.pop()
        if board in seen:
            continue
        seen.add(board)
        for direction in naive.legal(board):
            after, _ = naive.slide(board, direction)
            waiting += [naive.place(after, cell, tile) for cell, tile, _ in naive.chance(after)]
    return seen


# --- 2048: heuristics (Kutsch 2017, 7.1 and 9.4) --------------------------------------------------------------------


def empty_bonus(board: Board, score: float, method: int, weight: float) -> float:
    """0: (1 + w)^empty, 1: highest tile x empty x w, 2: score x empty x w."""
    tiles = [tile for row in board for tile in row]
    empty = tiles.count(0)
    return float([(1 + weight) ** empty, max(tiles) * empty * weight, score * empty * weight][method])


def corners(board: Board) -> list[int]:
    return [board[0][0], board[0][-1], board[-1][0], board[-1][-1]]


def corner_bonus(board: Board, weight: float) -> float:
    highest = max(map(max, board))
    return highest * weight if highest in corners(board) else 0.0


def snakes(board: Board) -> list[list[int]]:
    """Returns the tiles along the two snakes from each corner: row by row or column by column, turning at every end."""
    found = []
    for lines in (board, tuple(zip(*board, strict=True))):
        for from_below in (False, True):
            for from_right in (False, True):
                snake: list[int] = []
                for i, line in enumerate(reversed(lines) if from_below else lines):
                    snake += reversed(line) if from_right == (i % 2 == 0) else line
                found.append(snake)
    return found


def chain_sum(board: Board, exactly_half: bool) -> int:
    """Returns the best sum of a falling chain that starts with the highest tile in a corner, 0 where there is none."""
    best = 0
    for snake in snakes(board):
        if snake[0] != max(map(max, board)):
            continue
        chain = [snake[0]]
        for tile in snake[1:]:
            if tile == 0 or not (2 * tile == chain[-1] if exactly_half else tile < chain[-1]):
                break
            chain.append(tile)
        best = max(best, sum(chain))
    return best


def merge_sum(board: Board) -> int:
    """Returns the tiles' values summed over the merges that sliding along the rows, and along the columns, makes."""
    total = 0
    for lines in (board, tuple(zip(*board, strict=True))):
        for line in lines:
            i = 0
            while i + 1 < len(line):
                if line[i] and line[i] == line[i + 1]:
                    total += line[i]
                    i += 2
                else:
                    i += 1
    return total


def heuristics(board: Board, score: float, rollout_score: float, largest_score: float, p: Any) -> float:
    """Returns the value of a `heuristics2048` evaluator `p`, given the score that its rollout reached."""
    bonus = 0.0
    if p.use_empty:
        bonus += empty_bonus(board, score, p.empty_method, (p.empty0, p.empty1, p.empty2)[p.empty_method])
    if p.use_corner:
        bonus += corner_bonus(board, p.corner)
    if p.use_row:
        bonus += chain_sum(board, p.row_method == 1) * (p.row0, p.row1)[p.row_method]
    if p.use_merge:
        bonus += merge_sum(board) * p.merge
    if p.use_rollout:
        bonus += rollout_score * p.rollout
    return bonus / largest_score


# --- Tic-tac-toe ----------------------------------------------------------------------------------------------------


def cells(marks: str) -> list[int]:
    return [cell for cell, mark in enumerate(marks) if mark == "."]


def outcome(marks: str) -> int:
    """Returns 1 where X has a line, -1 where O has one, else 0."""
    return naive.has_line(marks, "X") - naive.has_line(marks, "O")


@functools.cache
def minimax(marks: str) -> int:
    """Returns the outcome for X under the best play of both."""
    mover = naive.mover(marks)
    if mover is None:
        return outcome(marks)
    return (max if mover == "X" else min)(minimax(naive.put(marks, cell)) for cell in cells(marks))


@functools.cache
def random_outcome(marks: str) -> Fraction:
    """Returns the expected outcome for X where both play at random."""
    if naive.mover(marks) is None:
        return Fraction(outcome(marks))
    possible = cells(marks)
    return sum((random_outcome(naive.put(marks, cell)) for cell in possible), Fraction(0)) / len(possible)


def winning_cells(marks: str, mark: str) -> list[int]:
    """Returns the empty cells that would complete a line of `mark`."""
    return [c for c in cells(marks) if naive.has_line(marks[:c] + mark + marks[c + 1 :], mark)]


@functools.cache
def all_marks() -> tuple[str, ...]:
    """Returns every position with a seat to move, one of each class of symmetric ones."""
    turns = [(6, 3, 0, 7, 4, 1, 8, 5, 2), (2, 1, 0, 5, 4, 3, 8, 7, 6)]
    seen: set[str] = set()
    found = []
    waiting = ["." * 9]
    while waiting:
        marks = waiting.pop()
        if marks in seen or naive.mover(marks) is None:
            continue
        found.append(marks)
        family = {marks}
        while len(grown := family | {"".join(m[i] for i in turn) for m in family for turn in turns}) > len(family):
            family = grown
        seen |= family
        waiting += [naive.put(marks, cell) for cell in cells(marks)]
    return tuple(found)


# --- MCTS-Expectimax with objects in place of arrays (Kutsch 2017, 5, algorithms 7 to 9) ------------------------------


@dataclass
class Node:
    """A decision node (children by action) or an action node (children by the outcomes drawn)."""

    visits: int = 0
    values: list[float] = field(default_factory=list)  # sums (or least values), one a seat
    children: dict[Any, Node] = field(default_factory=dict)


def uct(mean: float, visits: int, parent_visits: int, exploration: float, largest: float = 1.0) -> float:
    """Returns K's equation 3; with `largest` 1 it is plain UCT."""
    return mean / largest + exploration * math.sqrt(math.log(parent_visits) / visits)


def mctse(
    agent: Any,
    iterations: int,
    start: Callable[[], Any],
    draw_below: Callable[[int], int],
    draw_outcome: Callable[[Any], int],
    evaluate: Callable[[Any], list[float]],
) -> Node:
    """Returns the root of a search with an `mctse` agent's parameters.

    `start()` gives a fresh position that may be changed: `mover()` (None where over), `chance()`, `legal()`,
    `step(id)`; the other functions draw from the search's random stream.
    """
    root = Node()
    largest: dict[int, float] = {}
    action_nodes = 0
    for done in range(iterations):
        position, node = start(), root
        path = [root]
        for _ in range(agent.tree_depth):
            mover = position.mover()
            if mover is None:
                break
            untried = [action for action in position.legal() if action not in node.children]
            if untried:
                if action_nodes == agent.maxnodes:
                    break
                action = untried[draw_below(len(untried))]
                node.children[action] = Node()
                action_nodes += 1
            else:
                m = largest.get(mover, 0.0)
                m = m if agent.selection == "uctn" and done >= 100 and m > 0 else 1.0

                def weigh(a: int, node: Node = node, mover: int = mover, m: float = m) -> float:
                    child = node.children[a]
                    mean = child.values[mover] / (1 if agent.backup == "minimum" else child.visits)
                    return uct(mean * (1.0 / m), child.visits, node.visits, agent.exploration)

                # Of equals the last one that was created, as the arrays' lists run.
                action = max(reversed(list(node.children)), key=weigh)
            path.append(node.children[action])
            position.step(action)
            drawn = []
            while position.chance():
                drawn.append(draw_outcome(position))
                position.step(drawn[-1])
            node = path[-1].children.setdefault(tuple(drawn), Node())
            path.append(node)
            if untried:
                break
        values = evaluate(position)
        for seat, value in enumerate(values):
            largest[seat] = max(largest.get(seat, 0.0), value)
        for visited in path:
            visited.visits += 1
            if agent.backup == "minimum":
                visited.values = [min(a, b) for a, b in zip(visited.values or values, values, strict=True)]
            else:
                visited.values = [a + b for a, b in zip(visited.values or [0.0] * len(values), values, strict=True)]
    return root
