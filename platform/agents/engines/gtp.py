"""Engines that speak GTP, the protocol of Go programs; by the names of cells they play other board games as well.

Source: G. Farnebäck, "Specification of the Go Text Protocol, version 2, draft 2", October 2002.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import ClassVar, Self

from ...core.errors import UserError
from ...core.parameters import parameter
from ...games.game import Game, Position
from ..seats.failure import Ending
from .engine import EngineAgent, Limits, Match, Talk
from .process import MAX_LINE, EngineProcess

COLOURS = ("b", "w")  # of the seats
NUMBER_SECONDS = 2.0  # to show whether commands may have numbers, unknown to simple engines
_ANSWER = re.compile(r"([=?])(\d*)(.*)", re.DOTALL)


MAX_ID = 200  # characters of a name or a version


class GtpTalk(Talk):
    """Speaks GTP; the first seat is black."""

    agent: Gtp

    def __init__(self, process: EngineProcess, agent: EngineAgent) -> None:
        super().__init__(process, agent)
        self._commands: set[str] = set()
        self._told = 0  # plies that the engine knows
        self._number = 0  # of the latest command
        self._numbered = False  # whether answers repeat the numbers of commands, which tell them apart

    def greet(self, deadline: float) -> None:
        self._commands = set(self.command("list_commands", deadline).split())
        try:
            self.send("1 protocol_version", deadline)
            said = self._read_answer("protocol_version", min(deadline, time.monotonic() + NUMBER_SECONDS))
            self._numbered = re.match(r"[=?]1(\s|$)", said) is not None
        except TimeoutError:
            pass
        asked = [word for word in ("name", "version") if word in self._commands]
        self._said = " ".join(self.command(word, deadline)[:MAX_ID] for word in asked)

    @property
    def said(self) -> str:
        return self._said

    def begin(self, match: Match, deadline: float) -> None:
        size, komi = getattr(match.game, "size", None), getattr(match.game, "komi", None)
        if size is not None:
            self.command(f"boardsize {size}", deadline)
        self.command("clear_board", deadline)
        if komi is not None:
            self.command(f"komi {komi:g}", deadline)
        for line in self.agent.settings.split(";"):
            if line.strip():
                self.command(line.strip(), deadline)
        self._told = 0

    def ask(self, match: Match, position: Position, limits: Limits, deadline: float) -> tuple[int, int]:
        colour, told = COLOURS[match.seat], self._told
        for before, ply in list(zip(match.before, match.plies, strict=True))[told:]:
            self.command(f"play {COLOURS[before.to_move]} {match.game.move_text(before.state, ply)}", deadline)
        if limits.clock and "time_left" in self._commands:
            self.command(f"time_left {colour} {int(limits.clock)} 0", deadline)
        elif limits.own and "time_settings" in self._commands and not told:  # its first move
            self.command(f"time_settings 0 {int(limits.own)} 1", deadline)
        text = self.command(f"genmove {colour}", deadline).strip()
        if text.casefold() == "resign":
            raise self.process.failure(Ending.RESIGNED, "resigns")
        action = match.game.move_of(position.state, text)
        if action is None:
            raise self.illegal(text)
        self._told = len(match.plies) + 1
        return action, 0

    def command(self, line: str, deadline: float) -> str:
        """Returns the answer to a command; raises a failure if it is an error."""
        for stale in () if self._numbered else self.process.take_unread():
            if stale.strip():
                self.unasked(stale)
        self._number += 1
        self.send(f"{self._number} {line}" if self._numbered else line, deadline)
        while True:
            answer = self._read_answer(line, deadline)
            found = _ANSWER.match(answer)
            if not self._numbered or found is None or found[2] == str(self._number):
                break
            self.unasked(answer)
        if found is None or found[1] != "=":
            raise self.process.failure(Ending.CRASHED, f"answers {line!r} with {answer[:100]!r}")
        return (found[3] if self._numbered else answer[1:]).strip()

    def _read_answer(self, line: str, deadline: float) -> str:
        """Returns lines up to an empty one; skips empty lines before them."""
        while not (first := self.receive(deadline)).strip():
            pass
        lines, size = [first], len(first)
        while (following := self.receive(deadline)).strip():
            lines.append(following)
            size += len(following)
            if size > MAX_LINE:
                raise self.process.failure(Ending.CRASHED, f"answers {line!r} with more than {MAX_LINE:,} bytes")
        return "\n".join(lines)


@dataclass(frozen=True)
class Gtp(EngineAgent):
    """A program that speaks GTP, such as GNU Go: it plays Go, and other games whose moves are names of cells."""

    name: ClassVar[str] = "gtp"
    talk: ClassVar[type[Talk]] = GtpTalk

    seconds: float = parameter(
        0.0, "seconds per move, at least 1, sent rounded down to whole seconds; 0 = none", low=0.0, high=3600.0
    )
    settings: str = parameter("", "further commands to send at the start of each match, as COMMAND;COMMAND")

    def within(self, amount: int, unit: str) -> Self:
        if unit != "ms" or amount % 1000:
            raise UserError(
                f"a budget must be whole seconds for {self.name}, such as 2000ms, got {amount}{unit} for {self};"
                " choose another."
            )
        return self.replace(seconds=amount / 1000, clock=0.0, increment=0.0)

    def cannot_play(self, game: Game) -> str | None:
        if game.has_chance or game.num_seats != len(COLOURS):
            return f"{self.name} plays games of two seats without chance, got {game}; use json."
        if 0 < self.seconds < 1:  # not in `check`: matches that are stored keep their agents
            return (
                f"{self.name} sends whole seconds, so seconds must be 0 or at least 1, got {self.seconds}; choose"
                f" limit={self.seconds}, which the program is not told, and a quick level of the program."
            )
        return super().cannot_play(game)

    def named_words(self) -> list[str]:
        return [word for line in self.settings.split(";") for word in line.split()]

    def move_seconds(self) -> float:
        return self.seconds
