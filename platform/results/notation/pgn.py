"""Games of chess in PGN, by the package chess."""

from __future__ import annotations

from ...arena.match import MatchRecord, Termination, unpack_plies
from ...core.errors import UserError
from ...games.registry import game_of
from ...games.setup.notation import Pgn

# PGN's names of the ends of games; other failures count as abandoning the game.
TERMINATIONS = {
    Termination.NORMAL: "normal",
    Termination.RESIGNED: "normal",
    Termination.LIMIT: "adjudication",
    Termination.UNFINISHED: "unterminated",
    Termination.ILLEGAL_ACTION: "rules infraction",
    Termination.ILLEGAL_MOVE: "rules infraction",
    Termination.TIMEOUT: "time forfeit",
}


def pgn_of(record: MatchRecord) -> str:
    """Returns a game of chess in PGN, followed by an empty line; raises UserError for another game."""
    game = game_of(record.spec.game)
    notation = game.notation()
    if not isinstance(notation, Pgn):
        raise UserError(f"PGN is for chess, got a game of {game}; write .sgf or .jsonl.")
    import chess.pgn

    headers = {
        "Event": "Turnier",
        "Site": "?",
        "Date": "????.??.??",
        "Round": "-",
        "White": record.spec.agents[0],
        "Black": record.spec.agents[1],
        "Result": result_of(record),
        "Termination": TERMINATIONS.get(record.termination, "abandoned"),
        "Ending": f"{record.termination.value}: {record.error}" if record.error else record.termination.value,
        "Match": record.spec.id,
        "Seed": str(record.spec.seed),
        "OpeningPlies": str(len(record.spec.opening)),
    }
    if notation.fen:
        headers |= {"SetUp": "1", "FEN": notation.fen}
    written = chess.pgn.Game({name: text_of(value) for name, value in headers.items()})
    node: chess.pgn.GameNode = written
    for ply in unpack_plies(record.plies).tolist():
        node = node.add_variation(chess.Move.from_uci(game.action_name(ply)))
    return f"{written}\n\n"


def result_of(record: MatchRecord) -> str:
    """Returns the result by the scores; `*` if the match is void."""
    white, black = record.scores
    if white != black:
        return "1-0" if white > black else "0-1"
    return "1/2-1/2" if record.termination.has_result else "*"


def text_of(value: str) -> str:
    """Returns a header's text in one line without quotation marks, which readers of PGN treat differently."""
    return " ".join(value.replace('"', "'").split())
