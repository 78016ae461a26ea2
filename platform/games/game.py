"""Games from Python: their declaration, and positions for tests, notebooks and bridges, which need no speed."""

from __future__ import annotations

import dataclasses
import functools
import html
from abc import abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from ..core.compilation.progress import compiled_together
from ..core.errors import UserError
from ..core.kernel import pointer
from ..core.parameters import Declared
from ..core.rng import stream
from .abi import CHANCE, OUTCOMES, STATE_DTYPE, TERMINAL, GameKernels, no_chance
from .drawing import Notes, Overlay, lines
from .generic import draw_outcome
from .setup.moves import BETWEEN, MOVES, first_ply, names_of_moves, word_of
from .setup.notation import Pgn, Sgf

Ints = npt.NDArray[np.int64]
NumArray = npt.NDArray[Any]
MAX_SEATS = 6
LONGEST_TEXT = 50_000  # characters of a position: a third of it is an official message of spe_ed's largest board
NOTEBOOK_WIDTH = "24em"  # of a board


@dataclass(frozen=True)
class Game(Declared):
    """Base of all games: sizes, kernels, geometry, and texts and drawings for people.

    Sizes may be class attributes or properties that depend on the variant's parameters.
    """

    kind: ClassVar[str] = "game"

    num_seats: ClassVar[int]
    num_actions: ClassVar[int]  # action ids are 0 .. num_actions - 1
    max_legal: ClassVar[int]  # most legal actions in any state
    max_outcomes: ClassVar[int] = 1  # most chance outcomes in any state
    state_words: ClassVar[int]
    max_return: ClassVar[float] = 1.0  # largest possible return; divides returns into [-1, 1]
    num_cells: ClassVar[int] = 0
    num_cell_values: ClassVar[int] = 0
    lane_words: ClassVar[int] = 0  # of the memory of the kernel `playouts`, if there is one
    places_stones: ClassVar[bool] = False  # whether an action with a cell's number changes only that cell, from one
    # value to another, both the same for all such actions of a state
    hidden: ClassVar[bool] = False  # whether states contain secrets of seats, and there is no `observe`
    in_python: ClassVar[bool] = False  # whether its kernels call Python methods, which may fail
    milestones: ClassVar[Mapping[str, tuple[int, ...]]] = {}  # facts, and the thresholds that results count
    out_fact: ClassVar[str] = ""  # followed by a seat's number: the fact with the round in which it went out, 0 = never
    default_agent: ClassVar[str] = "mcts(iterations=1000)"  # answers in well under a second, and needs no file
    phase_name: ClassVar[str] = "empty cells"  # the unit of `phase`
    board_help: ClassVar[str] = ""  # an example for `read_board`; empty: a position is given by its moves

    @property
    def min_return(self) -> float:
        """The least possible return, given to a seat that fails; 0 in games that say so."""
        return -self.max_return

    def variant_words(self) -> tuple[int, ...]:
        """Returns the state's first words, which hold the variant and never change."""
        return ()

    @abstractmethod
    def build_kernels(self) -> GameKernels:
        """Returns the game's kernels; called once per process and variant."""

    @functools.cached_property
    def kernels(self) -> GameKernels:
        """The game for agent kernels: its kernels and sizes."""
        with compiled_together():
            built = self.build_kernels()
        return dataclasses.replace(
            built,
            num_seats=self.num_seats,
            num_actions=self.num_actions,
            max_choices=max(self.max_legal, self.max_outcomes, self.num_cells),
            max_return=self.max_return,
            lane_words=self.lane_words,
            places_stones=int(self.places_stones),
        )

    @property
    def has_chance(self) -> bool:
        """Whether chance outcomes may have to be drawn after the start."""
        return self.max_outcomes > 1 or self.kernels.chance is not pointer(no_chance, OUTCOMES)

    def raise_failure(self) -> None:
        """Raises this thread's failure in a Python method that compiled code called, if any."""

    def symmetries(self) -> Ints:
        """Returns [num_symmetries, num_cells]: the former place of each cell of the turned board; identity first."""
        return np.arange(self.num_cells, dtype=np.int64)[None]

    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """Returns the adjacent cells of every cell."""
        return ((),) * self.num_cells

    def grid(self) -> Ints:
        """Returns [num_cells, 2]: each cell's row and column on a grid; neighbours are one step apart, also diagonally.

        By default they follow from the neighbours, for boards with rows of equal length; boards of another shape
        override this, or return [0, 2] if they have no grid.
        """
        neighbours = self.neighbours()
        columns = max(neighbours[0], default=0) if neighbours else 0
        places = np.stack(np.divmod(np.arange(self.num_cells, dtype=np.int64), max(columns, 1)), axis=1)
        near = all(
            abs(places[cell] - places[list(around)]).max() == 1 for cell, around in enumerate(neighbours) if around
        )
        return places if columns and near else np.zeros((0, 2), np.int64)

    def action_name(self, action: int) -> str:
        return str(action)

    def outcome_name(self, outcome: int) -> str:
        return str(outcome)

    def move_text(self, state: Ints, action: int) -> str:
        """Returns the text of a legal action in this state, as in engines and game records."""
        return self.action_name(action)

    def move_of(self, state: Ints, text: str) -> int | None:
        """Returns the legal action that `move_text` writes so, in capitals or not; None if there is none."""
        legal = Position(self, state, np.zeros(0), np.zeros(0)).legal_actions()  # which need no returns and no chance
        return next((a for a in legal if self.move_text(state, a).casefold() == text.casefold()), None)

    def notation(self) -> Pgn | Sgf | None:
        """Returns the format in which other programs read its games, if there is one."""
        return None

    def uci_start(self) -> str:
        """Returns the start of games as in UCI's command `position`."""
        return "startpos"

    def typed_move(self, state: Ints, text: str) -> int | None:
        """Returns the legal action of a text typed by a person, in more forms than `move_of` takes, or None."""
        return self.move_of(state, text)

    def position_of(self, text: str, seed: int = 0) -> Position:
        """Returns the position of a text; its chance continues from a seed.

        The text is the names of the plies from the start, `moves d3 c4`; or, if the game reads boards (`board_help`), a
        board, as `draw` prints it or with slashes between rows, and the seat to move. The position belongs to another
        variant of the game if the text needs one, as a FEN does. Raises UserError for the first mistake.
        """
        if len(text) > LONGEST_TEXT:
            raise UserError(f"a board must have at most {LONGEST_TEXT:,} characters, got {len(text):,}; shorten it.")
        names = names_of_moves(text)
        if names is not None:
            return self.before_chance(seed).after_names(names)
        if not text.strip():
            raise self._no_position(text)
        return self.read_board(text, seed)

    def read_board(self, text: str, seed: int) -> Position:
        """Returns the position of a board; raises UserError in games that do not read boards (without `board_help`)."""
        raise self._no_position(text)

    def _no_position(self, text: str) -> UserError:
        example = self.board_help or f"{MOVES} NAME NAME ..."
        return UserError(f"a position of {self} must be a text such as {example!r}, got {text[:40]!r}; write one.")

    def board_text(self, state: Ints) -> str:
        """Returns the state for `read_board`: the text of `draw`, and the seat to move if that is not in it."""
        return self.draw(state)

    def shows_all(self, state: Ints) -> bool:
        """Returns whether `board_text` says everything that decides what may be played: no history, no secrets."""
        return bool(self.board_help)

    def clicks(self, state: Ints, action: int) -> tuple[tuple[int, ...], ...]:
        """Returns the clicks for a legal action: for each click in turn, the cells that count.

        Empty if the action needs a button.
        """
        return ((action,),) if self.places_stones and action < self.num_cells else ()

    def shows(self, state: Ints) -> bool:
        """Returns whether a replay shows a state: by default unless chance is to move."""
        return bool(self.kernels.to_move(state) != CHANCE)

    def reasons(self, before: Ints, after: Ints) -> dict[int, str]:
        """Returns the reasons, by seat, why seats went out between two states that a replay shows."""
        return {}

    def facts(self, state: Ints) -> dict[str, float]:
        """Returns the numbers that results store of a final state in addition to the score."""
        return {}

    def facts_of(self, states: Ints) -> list[dict[str, float]]:
        """Returns the `facts` of many states, [n, state_words]; short games spend much of their time here."""
        if type(self).facts is Game.facts:
            return [{}] * len(states)
        return [self.facts(state) for state in states]

    def phase(self, state: Ints) -> int:
        """Returns a measure of progress by which results group positions: the number of cells of value 0.

        A game with another measure names it in `phase_name`.
        """
        return int((self.cell_values(state) == 0).sum())

    def draw(self, state: Ints) -> str:
        """Returns the state as text for people."""
        return " ".join(str(word) for word in state)

    def svg(self, state: Ints, changed: Collection[int] = (), notes: Notes | None = None) -> str:
        """Returns the state as SVG, as wide as its container: by default the text of `draw`.

        Args:
            state: the state to draw.
            changed: cells to mark, changed by the last ply.
            notes: a few characters for empty cells, by cell.
        """
        return lines(self.draw(state))

    def overlaid_svg(self, state: Ints, overlay: Overlay, changed: Collection[int] = ()) -> str:
        """Returns the state as SVG with an agent's overlay: by default its shares as notes in cells."""
        return self.svg(state, changed, overlay.notes())

    def verify_record(self, record: Mapping[str, Any]) -> str | None:
        """Replays one recorded game or position; returns the first disagreement as a sentence, or None."""
        raise UserError(f"{self.name} has no recorded format to verify; see its file's verify_record.")

    def new_state(self) -> Ints:
        """Returns an empty state [state_words] with the variant words filled in."""
        state = np.zeros(self.state_words, STATE_DTYPE)
        words = self.variant_words()
        state[: len(words)] = words
        return state

    def cell_values(self, state: Ints) -> Ints:
        """Returns every cell's value, [num_cells]."""
        out = np.zeros(self.num_cells, np.int64)
        self.kernels.cells(state, out)
        return out

    def __getstate__(self) -> dict[str, Any]:
        """Leaves out cached members, such as kernels."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # a game never changes

    def start(self, seed: int = 0) -> Position:
        """Returns the start position; chance draws from the seed's stream."""
        return self.start_from(stream(seed))

    def start_from(self, rng: NumArray) -> Position:
        """Returns the start position; chance continues a copy of a stream, [4]."""
        return self._initial(rng).after_chance()

    def before_chance(self, seed: int = 0) -> Position:
        """Returns the position before the first ply, which may be an outcome of chance."""
        return self._initial(stream(seed))

    def _initial(self, rng: NumArray) -> Position:
        state, rng = self.new_state(), rng.copy()
        self.kernels.init(state, rng)
        return Position(self, state, np.zeros(self.num_seats), rng)

    def position(self, state: Ints, returns: NumArray | None = None, seed: int = 0) -> Position:
        """Returns a position with the given state, copied."""
        return Position(
            self, state.copy(), np.zeros(self.num_seats) if returns is None else returns.copy(), stream(seed)
        )


class Position:
    """A state with the returns so far and the stream of chance; `play` returns a new position."""

    def __init__(self, game: Game, state: Ints, returns: NumArray, rng: NumArray) -> None:
        self.game = game
        self.state = state
        self.returns = returns  # [seats]
        self._rng = rng
        self._mover: int | None = None  # asked once, like `_legal`: environments ask in several places of a step
        self._legal: list[int] | None = None

    @property
    def to_move(self) -> int:
        """The seat to move, or CHANCE or TERMINAL."""
        if self._mover is None:
            self._mover = int(self.game.kernels.to_move(self.state))
        return self._mover

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.to_move == TERMINAL

    @property
    def rng(self) -> NumArray:
        """A copy of the stream of chance, [4]."""
        return self._rng.copy()

    def legal_actions(self) -> list[int]:
        """Returns the actions of the seat to move, ascending; none if chance is to move or the game is over."""
        if self.to_move < 0:
            return []
        if self._legal is None:
            out = np.zeros(self.game.max_legal, np.int64)
            self._legal = out[: self.game.kernels.legal(self.state, out)].tolist()
        return self._legal[:]

    def outcomes(self) -> list[tuple[int, float]]:
        """Returns the chance outcomes with their probabilities if chance is to move."""
        out, probs = np.zeros(self.game.max_outcomes, np.int64), np.zeros(self.game.max_outcomes)
        n = self.game.kernels.chance(self.state, out, probs) if self.to_move == CHANCE else 0
        return [(int(o), float(p)) for o, p in zip(out[:n], probs[:n], strict=True)]

    def play(self, action: int, draw_chance: bool = True) -> Position:
        """Returns the position after a legal action or, if chance is to move, an outcome.

        With `draw_chance` the outcomes that follow are drawn, otherwise the afterstate is returned.
        """
        possible = [o for o, _ in self.outcomes()] if self.to_move == CHANCE else self.legal_actions()
        if action not in possible:
            name = self.game.outcome_name if self.to_move == CHANCE else self.game.action_name
            names = ", ".join(f"{a} ({name(a)})" for a in possible) or "none, the game is over"
            raise UserError(f"an action of {self.game} must be legal, got {action}; legal here: {names}.")
        after = self.stepped(action)
        return after.after_chance() if draw_chance else after

    def stepped(self, action: int) -> Position:
        """Returns the position or afterstate after an action or outcome that is known to be possible."""
        after = Position(self.game, self.state.copy(), self.returns.copy(), self._rng.copy())
        self.game.kernels.step(after.state, action, after.returns)
        return after

    def draw_outcome(self) -> int:
        """Draws the next chance outcome from the position's own stream, without playing it."""
        if self.game.kernels.has_sample_chance:
            return int(self.game.kernels.sample_chance(self.state, self._rng))
        outcomes, probs = np.zeros(self.game.max_outcomes, np.int64), np.zeros(self.game.max_outcomes)
        return int(draw_outcome(self.game.kernels, self.state, self._rng, outcomes, probs))

    def after_chance(self) -> Position:
        """Draws chance outcomes in place until a seat is to move or the game is over; returns itself."""
        while self.to_move == CHANCE:
            self.game.kernels.step(self.state, self.draw_outcome(), self.returns)
            self._mover = None
        return self

    def named_plies(self) -> dict[str, int]:
        """Returns the legal actions, or the outcomes if chance is to move, by all of their names."""
        if self.to_move == CHANCE:
            return {self.game.outcome_name(outcome): outcome for outcome, _ in self.outcomes()}
        legal, game = self.legal_actions(), self.game
        return {game.move_text(self.state, a): a for a in legal} | {game.action_name(a): a for a in legal}

    def after_names(self, names: str) -> Position:
        """Returns the position after plies and outcomes of chance, named as in `named_plies` or `typed_move`."""
        position, rest, number = self, names.strip(BETWEEN), 0
        while rest:
            number += 1
            if position.over:
                word = word_of(rest)
                raise UserError(f"nothing may follow the end of the game, got {word!r} as ply {number}; leave it out.")
            is_chance = position.to_move == CHANCE
            typed = None if is_chance else functools.partial(self.game.typed_move, position.state)
            ply, length = first_ply(rest, position.named_plies(), number, typed)
            position, rest = position.play(ply, draw_chance=False), rest[length:].lstrip(BETWEEN)
        return position.after_chance()

    def start_again(self) -> Position:
        """Returns the start position of another game; its chance continues the stream of this one."""
        return self.game.start_from(self._rng)

    def view(self, seat: int) -> Ints:
        """Returns a copy of the state as far as `seat` may know it."""
        view = self.state.copy()
        if self.game.kernels.has_observe:
            self.game.kernels.observe(self.state, seat, view)
        return view

    def __str__(self) -> str:
        return self.game.draw(self.state)

    def __repr__(self) -> str:
        return f"{self._caption()}\n{self}"

    def _repr_html_(self) -> str:
        """Shows the board in a notebook."""
        board = f'<div style="max-width: {NOTEBOOK_WIDTH}">{self.game.svg(self.state)}</div>'
        return f"<p>{html.escape(self._caption())}</p>{board}"

    def _caption(self) -> str:
        turns = {TERMINAL: "over", CHANCE: "chance to move"}
        returns = ", ".join(f"{value:g}" for value in self.returns)
        return f"{self.game}: {turns.get(self.to_move, f'seat {self.to_move} to move')}, returns {returns}"
