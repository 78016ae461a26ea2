"""GTP version 2: the Go Text Protocol, for Go and for any game of two whose moves have names.

Source: Farneback, "Specification of the Go Text Protocol, version 2, draft 2", 2002.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...core.errors import UserError
from ...core.parameters import parameters_of
from ...games.game import Game
from ...games.go.game import Go
from .clock import share_of_clock
from .hosted_agent import HostedAgent, Limit

COLOURS = {"b": 0, "black": 0, "w": 1, "white": 1}  # seats
NOISE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]|#.*")  # ignored parts of lines


@dataclass
class Clock:
    """A seat's clock in seconds: the main time, then periods of so many stones."""

    main: float
    period: float
    stones: int
    left: float
    stones_left: int = 0  # 0 in the main time

    @property
    def limited(self) -> bool:
        return self.period == 0 or self.stones > 0

    def milliseconds(self) -> int:
        """Returns the time for the next move."""
        if self.stones_left:
            return share_of_clock(int(1000 * self.left), moves=self.stones_left)
        return share_of_clock(int(1000 * (self.left + (self.period if self.stones == 1 else 0))))

    def spend(self, seconds: float) -> None:
        """Counts a move's time, for arenas that never send the time left."""
        self.left -= seconds
        if self.stones_left == 1 or (self.left <= 0 and self.stones):
            self.left, self.stones_left = self.period, self.stones
        elif self.stones_left:
            self.stones_left -= 1


class Failure(Exception):
    """The answer to a command that cannot be obeyed."""


class GtpService:
    """Answers commands one after another; seat 0 is black."""

    def __init__(self, engine: HostedAgent, write: Callable[[str], None]) -> None:
        engine.require_two_seats("GTP")
        self.engine, self.write = engine, write
        self._game = engine.game  # for the next games
        self._settings: tuple[float, float, int] | None = None  # for the clocks
        self._clocks: dict[int, Clock] = {}
        self._commands: dict[str, Callable[[list[str]], str]] = {
            "protocol_version": lambda _: "2",
            "name": lambda _: f"Turnier {engine.agent}",
            "version": lambda _: engine.version,
            "known_command": lambda words: "true" if words and words[0] in self._commands else "false",
            "list_commands": lambda _: "\n".join(self._commands),
            "quit": lambda _: "",
            "boardsize": self._boardsize,
            "clear_board": self._clear_board,
            "play": self._play,
            "genmove": self._genmove,
            "reg_genmove": self._reg_genmove,
            "undo": self._undo,
            "time_settings": self._time_settings,
            "time_left": self._time_left,
            "showboard": lambda _: "\n" + engine.game.draw(engine.position.state),
        }
        if isinstance(engine.game, Go):
            self._commands |= {"komi": self._komi, "final_score": self._final_score}

    def run(self, lines: Iterable[str]) -> None:
        """Answers until `quit` or the end of the input."""
        self.engine.prepare()
        for line in lines:
            words = NOISE.sub("", line).split()
            number = words.pop(0) if words and words[0].isdecimal() else ""
            if words:
                self.write(self._answer(number, words))
            if words[:1] == ["quit"]:
                return

    def _answer(self, number: str, words: list[str]) -> str:
        try:
            if words[0] not in self._commands:
                raise Failure("unknown command")
            said = self._commands[words[0]](words[1:])
            return f"={number} {said}".rstrip(" ") + "\n"
        except (Failure, UserError) as failure:
            return f"?{number} {' '.join(str(failure).split())}\n"
        except (ValueError, IndexError, OverflowError):
            return f"?{number} syntax error\n"

    def _seat(self, words: list[str]) -> int:
        """Returns the seat of a colour, which must be to move: games here have fixed turns."""
        seat = _seat_of(words[0])
        if self.engine.position.over:
            raise Failure("the game is over")
        if seat != self.engine.position.to_move:
            raise Failure("it is the other color's turn")
        return seat

    def _boardsize(self, words: list[str]) -> str:
        size = int(words[0])
        declared = {field.name: meaning for field, meaning in parameters_of(type(self._game))}
        if "size" not in declared or not declared["size"].contains(size):
            raise Failure("unacceptable size")
        self._game = _accepted(self._game, "size", size)
        return self._clear_board([])

    def _komi(self, words: list[str]) -> str:
        """Sets the komi, which also counts for the game on the board."""
        self._game = _accepted(self._game, "komi", float(words[0]))
        moves = [(self.engine.game.move_text(self.engine.position.state, ply)) for ply in self.engine.plies]
        self.engine.begin(self._game)
        self.engine.follow(moves)
        return ""

    def _clear_board(self, words: list[str]) -> str:
        self.engine.begin(self._game)
        self._clocks = {}
        return ""

    def _play(self, words: list[str]) -> str:
        self._seat(words)
        try:
            self.engine.play(words[1])
        except UserError:
            raise Failure("illegal move") from None
        return ""

    def _genmove(self, words: list[str]) -> str:
        seat = self._seat(words)
        began = time.monotonic()
        clock = self._clock(seat)
        decision = self.engine.choose(None if clock is None else Limit(clock.milliseconds(), "ms"))
        text = self.engine.written(decision)
        self.engine.play(text)
        if clock is not None:
            clock.spend(time.monotonic() - began)
        return text

    def _reg_genmove(self, words: list[str]) -> str:
        self._seat(words)
        return self.engine.written(self.engine.choose(None))

    def _undo(self, words: list[str]) -> str:
        self.engine.undo()
        return ""

    def _time_settings(self, words: list[str]) -> str:
        main, period, stones = float(words[0]), float(words[1]), int(words[2])
        self._settings, self._clocks = (main, period, stones), {}
        return ""

    def _time_left(self, words: list[str]) -> str:
        seat = _seat_of(words[0])
        left, stones = float(words[1]), int(words[2])
        main, period, of = self._settings or (left, 0.0, 0)
        self._clocks[seat] = Clock(main, period, of, left, stones)
        return ""

    def _clock(self, seat: int) -> Clock | None:
        """Returns the clock of a seat, or None without a limit."""
        if seat not in self._clocks and self._settings is not None:
            main, period, stones = self._settings
            first = 0 if main > 0 else stones
            self._clocks[seat] = Clock(main, period, stones, main or period, first)
        clock = self._clocks.get(seat)
        return clock if clock is not None and clock.limited else None

    def _final_score(self, words: list[str]) -> str:
        game = self.engine.game
        assert isinstance(game, Go)
        lead = game.lead(self.engine.position.state)
        return f"{'B' if lead > 0 else 'W'}+{abs(lead):g}" if lead else "0"


def _seat_of(colour: str) -> int:
    if colour.lower() not in COLOURS:
        raise Failure("invalid color or coordinate")
    return COLOURS[colour.lower()]


def _accepted(game: Game, name: str, value: float) -> Game:
    """Returns the game with another value of a parameter; raises Failure if the game does not allow it."""
    try:
        return game.replace(**{name: value})
    except UserError as error:
        raise Failure(str(error)) from None
