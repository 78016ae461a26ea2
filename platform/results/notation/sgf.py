"""Games of Go, Othello and Hex in SGF, version FF[4]. Source: https://www.red-bean.com/sgf."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from turnier.arena.match import MatchRecord, Termination, unpack_plies
from turnier.arena.play import replay_positions
from turnier.core.errors import UserError
from turnier.games.game import Game, Position
from turnier.games.go.game import Go
from turnier.games.hex import Hex
from turnier.games.othello import Othello
from turnier.games.registry import game_of

NODES_PER_LINE = 12
LOST_BY = {Termination.TIMEOUT: "T", Termination.RESIGNED: "R"}  # every other failure is a forfeit


def _go(game: Go, action: int) -> str:
    """Returns column and row from above as letters, nothing for a pass."""
    row, column = divmod(action, game.size)
    return "" if action == game.num_cells else f"{_letter(column)}{_letter(game.size - 1 - row)}"


def _othello(game: Othello, action: int) -> str:
    row, column = divmod(action, game.size)
    return "" if action == game.num_cells else f"{_letter(column)}{_letter(row)}"


def _hex(game: Hex, action: int) -> str:
    """Returns the cell's name; the swap here mirrors the stone."""
    return "swap-pieces" if action == game.num_cells else game.action_name(action)


def _letter(number: int) -> str:
    return chr(ord("a") + number)


# SGF's number of a game, and how it writes an action.
NUMBERS: Mapping[type[Game], tuple[int, Callable[[Any, int], str]]] = {
    Go: (1, _go),
    Othello: (2, _othello),
    Hex: (11, _hex),
}


def sgf_of(record: MatchRecord) -> str:
    """Returns a game as an SGF game tree, with a line break behind it; raises UserError where SGF has no such game."""
    game = game_of(record.spec.game)
    if not isinstance(game, Go | Othello | Hex):
        raise UserError(f"SGF is written for go, hex and othello, got a game of {game}; write .jsonl.")
    number, written = NUMBERS[type(game)]
    positions = list(replay_positions(record.spec, record.plies))
    nodes = [
        f";{'BW'[position.to_move]}[{written(game, ply)}]"
        for position, ply in zip(positions, unpack_plies(record.plies).tolist(), strict=False)
    ]
    komi = {"KM": f"{game.komi:g}", "RU": _rules(game)} if isinstance(game, Go) else {}
    properties = {
        "FF": "4",
        "CA": "UTF-8",
        "GM": str(number),
        "SZ": str(game.size),
        **komi,
        "PB": record.spec.agents[0],
        "PW": record.spec.agents[1],
        "RE": _result(record, positions[-1]),
        "GN": record.spec.id,
        "GC": _comment(record),
    }
    lines = ["".join(nodes[i : i + NODES_PER_LINE]) for i in range(0, len(nodes), NODES_PER_LINE)]
    root = "".join(f"{name}[{_escaped(value)}]" for name, value in properties.items())
    return "\n".join([f"(;{root}", *lines]) + ")\n"


def _rules(game: Go) -> str:
    return f"area scoring, no suicide, {'positional superko' if game.superko else 'simple ko'}"


def _result(record: MatchRecord, last: Position) -> str:
    """Returns who won, by how much where Go was played to its end, or why the other one lost; Void: nobody won."""
    black, white = record.scores
    if black == white:
        return "Draw" if record.termination.has_result else "Void"
    winner = "B" if black > white else "W"
    if record.termination is not Termination.NORMAL and record.termination is not Termination.LIMIT:
        return f"{winner}+{LOST_BY.get(record.termination, 'F')}"
    if isinstance(last.game, Go) and last.over:
        return f"{winner}+{abs(last.game.lead(last.state)):g}"
    return f"{winner}+"


def _comment(record: MatchRecord) -> str:
    """Returns what SGF has no property for."""
    parts = [f"seed {record.spec.seed}", f"ended {record.termination.value}", record.error]
    if record.spec.opening:
        parts.insert(1, f"opening of {len(record.spec.opening)} plies")
    return ", ".join(filter(None, parts))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")
