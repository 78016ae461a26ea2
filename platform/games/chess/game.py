"""Chess with the package `chess`, imported when a game begins: https://python-chess.readthedocs.io.

Draws need no claim: a stalemate, too little material, the third occurrence of a position, 50 moves of each side without
a capture or a pawn's move, and the maximum length end the game at once, as in engine matches.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ...core.errors import UserError, require_extra
from ...core.parameters import parameter
from ..abi import TERMINAL
from ..drawing import CHANGED, INK, LABEL, Notes, cell_mark, picture, word
from ..game import Ints, NumArray, Position
from ..python.live_states import PLIES
from ..python.python_game import PythonGame
from ..setup.notation import Pgn

if TYPE_CHECKING:
    from chess import Board, Move

# Moves as numbers: from * 64 + to with a1 = 0, h8 = 63, followed by the promotions; the names are UCI's.
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
STANDARD = "standard"
FIFTY_MOVES = 100  # plies
GLYPHS = dict(zip("kqrbnp", "♚♛♜♝♞♟", strict=True))
DARK, LIGHT, WHITE_PIECE = "#b9c4b4", "#f4f1ea", "#ffffff"


class ChessState(NamedTuple):
    """A board, which is never changed, and the history that the rules of draws need."""

    board: Board
    seen: tuple[Any, ...]  # the positions since the last irreversible move, including this one
    plies: int
    legal: tuple[int, ...]  # none if the game is over


@dataclass(frozen=True)
class Chess(PythonGame):
    """Chess: mate the king; seat 0 has white. Needs the package chess."""

    name: ClassVar[str] = "chess"
    fen: str = parameter(STANDARD, "start position of games in FEN, or standard")
    longest: int = parameter(600, "plies after which a game is drawn", low=2, high=6000)

    num_seats: ClassVar[int] = 2
    num_actions: ClassVar[int] = len(NAMES)
    max_legal: ClassVar[int] = 218
    board_help: ClassVar[str] = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"

    @property
    def max_length(self) -> int:  # type: ignore[override]
        return self.longest

    def begin(self) -> ChessState:
        chess = the_package()
        try:
            board = chess.Board() if self.fen == STANDARD else chess.Board(self.fen)
        except ValueError as error:
            raise UserError(
                f"chess: fen must be {STANDARD} or a position in FEN, got {self.fen!r}: {error}."
            ) from error
        if not board.is_valid():
            raise UserError(f"chess: fen must be a possible position, got {self.fen!r}: {board.status()!r}.")
        for colour in chess.COLORS:
            promoted, missing = promoted_and_missing(board, colour)
            if promoted > missing:
                raise UserError(
                    f"chess: fen must have no more promoted pieces of {chess.COLOR_NAMES[colour]} than missing pawns,"
                    f" got {self.fen!r} with {promoted} and {missing}; correct it."
                )
        return state_of(board, (), 0, self.longest)

    def _initial(self, rng: NumArray) -> Position:
        """Checks the end of the game: a position in FEN may be mate already."""
        position = super()._initial(rng)
        position.returns[:] = returns_of(self.live_state(position.state))
        return position

    def to_move(self, state: ChessState) -> int:
        return int(not state.board.turn) if state.legal else TERMINAL

    def legal(self, state: ChessState) -> Sequence[int]:
        return state.legal

    def step(self, state: ChessState, ply: int) -> tuple[ChessState, Sequence[float]]:
        board = state.board.copy(stack=False)
        board.push(the_package().Move.from_uci(NAMES[ply]))
        after = state_of(board, state.seen if board.halfmove_clock else (), state.plies + 1, self.longest)
        return after, returns_of(after)

    def show(self, state: ChessState) -> str:
        """Returns the board and its FEN."""
        rows = [f"{8 - row} {line}" for row, line in enumerate(str(state.board).splitlines())]
        return "\n".join([*rows, f"  {' '.join(FILES)}", state.board.fen()])

    def typed_move(self, state: Ints, text: str) -> int | None:
        """Accepts standard notation as well, such as Nf3 and O-O."""
        action = self.move_of(state, text)
        if action is not None:
            return action
        try:
            action = number_of(self.live_state(state).board.parse_san(text))
        except ValueError:
            return None
        return action if action in self.live_state(state).legal else None

    def shows_all(self, state: Ints) -> bool:
        """False once earlier positions count for repetition."""
        live = self.live_state(state)
        return len(live.seen) == 1 and bool(live.legal)

    def read_board(self, text: str, seed: int) -> Position:
        """Returns the start of a game from a position in FEN, which may follow a drawn board."""
        fen = " ".join(text.strip().splitlines()[-1].split())
        return self.replace(fen=fen).start(seed)

    def notation(self) -> Pgn:
        the_package()
        return Pgn("" if self.fen == STANDARD else self.fen)

    def action_name(self, action: int) -> str:
        return NAMES[action]

    def move_of(self, state: Ints, text: str) -> int | None:
        """Returns the legal move of a text in UCI's notation; castling may also be written as king takes own rook."""
        live, number = self.live_state(state), NUMBERS.get(text.casefold())
        if number in live.legal or number is None:
            return number
        try:
            number = number_of(live.board.parse_uci(NAMES[number]))
        except ValueError:
            return None
        return number if number in live.legal else None

    def uci_start(self) -> str:
        """Returns the start position with all fields; the parameter may leave some out."""
        return super().uci_start() if self.fen == STANDARD else f"fen {self.begin().board.fen()}"

    def clicks(self, state: Ints, action: int) -> tuple[tuple[int, ...], ...]:
        """Returns the squares that a piece leaves and enters, the same for all promotions of a pawn."""
        start, end = (FILES.index(NAMES[action][i]) + 8 * (int(NAMES[action][i + 1]) - 1) for i in (0, 2))
        return (start,), (end,)

    def svg(self, state: Ints, changed: Collection[int] = (), notes: Notes | None = None) -> str:
        """Returns the board from white's side; frames mark the squares of the last move."""
        board: Board = self.live_state(state).board
        last = NAMES[int(state[PLIES + int(state[PLIES])])] if state[PLIES] else ""
        parts = []
        for square in range(64):
            x, y = square % 8, 7 - square // 8
            paper = LIGHT if (x + y) % 2 == 0 else DARK
            parts.append(f'<rect x="{x}" y="{y}" width="1" height="1" fill="{paper}"{cell_mark(square)}/>')
            if f"{FILES[x]}{8 - y}" in (last[:2], last[2:4]):
                frame = f'fill="none" stroke="{CHANGED}" stroke-width="0.06"'
                parts.append(f'<rect x="{x + 0.03:g}" y="{y + 0.03:g}" width="0.94" height="0.94" {frame}/>')
            piece = board.piece_at(square)
            if piece is not None:
                colour = WHITE_PIECE if piece.color else INK
                glyph = word(x + 0.5, y + 0.5, GLYPHS[piece.symbol().lower()], 0.85, colour)
                parts.append(glyph.replace("<text ", f'<text stroke="{INK}" stroke-width="0.02" ', 1))
        parts += [word(file + 0.5, 8.3, FILES[file], 0.32, LABEL) for file in range(8)]
        parts += [word(-0.28, 7.5 - rank, str(rank + 1), 0.32, LABEL) for rank in range(8)]
        return picture(8, 8.5, parts, left=-0.5)


def the_package() -> Any:
    """Returns the package chess; raises UserError if it is missing."""
    require_extra("the game chess", "engines", "chess")
    import chess

    return chess


def state_of(board: Board, seen: tuple[Any, ...], plies: int, longest: int) -> ChessState:
    """Returns a board as a state, after the positions that may still recur."""
    key = position_key(board)
    seen = (*seen, key)
    drawn = board.halfmove_clock >= FIFTY_MOVES or seen.count(key) == 3 or plies == longest
    legal = () if drawn or board.is_insufficient_material() else tuple(sorted(map(number_of, board.legal_moves)))
    return ChessState(board, seen, plies, legal)


def promoted_and_missing(board: Board, colour: bool) -> tuple[int, int]:
    """Returns a colour's number of pieces that must be promoted pawns, and the number of its missing pawns.

    `Board.is_valid` does not compare them, and more promoted pieces may have more moves than `max_legal`.
    """
    at_first = {"queens": 1, "rooks": 2, "bishops": 2, "knights": 2}
    there = board.occupied_co[colour]
    promoted = sum(max(0, (getattr(board, kind) & there).bit_count() - number) for kind, number in at_first.items())
    return promoted, 8 - (board.pawns & there).bit_count()


def returns_of(state: ChessState) -> tuple[float, float]:
    """Returns the returns of both seats, 0 unless there is a mate."""
    if state.legal or not state.board.is_checkmate():
        return 0.0, 0.0
    return (-1.0, 1.0) if state.board.turn else (1.0, -1.0)


def number_of(move: Move) -> int:
    return NUMBERS[move.uci()] if move.promotion else move.from_square * 64 + move.to_square


def position_key(board: Board) -> tuple[Any, ...]:
    """Returns everything that makes two positions the same: men, mover, castling, en passant."""
    men = (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
    en_passant = board.ep_square if board.has_legal_en_passant() else None
    return *men, board.occupied_co[True], board.occupied, board.turn, board.clean_castling_rights(), en_passant
