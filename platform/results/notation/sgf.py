"""Games on boards of cells in SGF, version FF[4]. Source: https://www.red-bean.com/sgf."""

from __future__ import annotations

from ...arena.match import MatchRecord, Termination, unpack_plies
from ...arena.play import replay_positions
from ...core.errors import UserError
from ...games.game import Position
from ...games.registry import game_of
from ...games.setup.notation import Sgf

NODES_PER_LINE = 12
LOST_BY = {Termination.TIMEOUT: "T", Termination.RESIGNED: "R"}  # every other failure is a forfeit


def sgf_of(record: MatchRecord) -> str:
    """Returns a game as an SGF game tree, followed by a line break; raises UserError if SGF has no such game."""
    game = game_of(record.spec.game)
    notation = game.notation()
    if not isinstance(notation, Sgf):
        raise UserError(f"SGF is for games such as go, hex and othello, got one of {game}; write .jsonl.")
    positions = list(replay_positions(record.spec, record.plies))
    nodes = [
        f";{'BW'[position.to_move]}[{notation.move(ply)}]"
        for position, ply in zip(positions, unpack_plies(record.plies).tolist(), strict=False)
    ]
    properties = {
        "FF": "4",
        "CA": "UTF-8",
        "GM": str(notation.number),
        **notation.properties,
        "PB": record.spec.agents[0],
        "PW": record.spec.agents[1],
        "RE": _result(record, notation, positions[-1]),
        "GN": record.spec.id,
        "GC": _comment(record),
    }
    lines = ["".join(nodes[i : i + NODES_PER_LINE]) for i in range(0, len(nodes), NODES_PER_LINE)]
    root = "".join(f"{name}[{_escaped(value)}]" for name, value in properties.items())
    return "\n".join([f"(;{root}", *lines]) + ")\n"


def _result(record: MatchRecord, notation: Sgf, last: Position) -> str:
    """Returns the winner with the margin, if the game has one, or the reason of the loss; Void for a void match."""
    black, white = record.scores
    if black == white:
        return "Draw" if record.termination.has_result else "Void"
    winner = "B" if black > white else "W"
    if record.termination is not Termination.NORMAL and record.termination is not Termination.LIMIT:
        return f"{winner}+{LOST_BY.get(record.termination, 'F')}"
    return f"{winner}+{notation.margin(last.state) if last.over else ''}"


def _comment(record: MatchRecord) -> str:
    """Returns the facts for which SGF has no property."""
    parts = [f"seed {record.spec.seed}", f"ended {record.termination.value}", record.error]
    if record.spec.opening:
        parts.insert(1, f"opening of {len(record.spec.opening)} plies")
    return ", ".join(filter(None, parts))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")
