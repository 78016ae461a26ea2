"""An engine whose laws are checked; it is started again if a law has ended it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

from ...agents.engines.process import EngineProcess
from ...games.game import Game, Position
from ..law import LawBroken

END_SECONDS = 2.0  # to end when told to
QUIET_SECONDS = 0.3  # without output
STRANGE = "\u2603\u00ff\x01\x7f"  # characters of no protocol's words
MAX_LINES = 10_000  # of an answer
LONGEST_TOLD = 100  # characters of an engine's output in a sentence


class CheckedEngine:
    """An engine and the game in which it is checked; every method raises LawBroken if no answer comes in time.

    Args:
        command: the program with its arguments.
        game: the game that it plays.
        limit: seconds that an answer may take by default.
        margin: seconds that a move may be late.
    """

    def __init__(self, command: str, game: Game, limit: float, margin: float) -> None:
        self.command, self.game, self.limit, self.margin = command, game, limit, margin
        self._process: EngineProcess | None = None
        self.greeted = False  # whether this process has answered the protocol's first question

    @property
    def process(self) -> EngineProcess:
        """The engine's process, started again if it is known to have ended."""
        if self._process is None or not self._process.alive:
            self.end()
            self._process = EngineProcess(self.command)
        return self._process

    def end(self) -> None:
        if self._process is not None:
            self._process.end()
        self._process, self.greeted = None, False

    def send(self, *lines: str) -> None:
        for line in lines:
            self.process.write(line, time.monotonic() + self.limit)

    def line(self, seconds: float | None = None) -> str:
        """Returns the next line, which must come within so many seconds."""
        seconds = self.limit if seconds is None else seconds
        found = self._read(time.monotonic() + seconds)
        if found is None:
            raise LawBroken(f"there must be an answer within {seconds:g} s, got none")
        return found

    def until(self, wanted: Callable[[str], bool], seconds: float | None = None) -> list[str]:
        """Returns the lines up to and including the first wanted one."""
        deadline = time.monotonic() + (self.limit if seconds is None else seconds)
        lines = [self.line(max(0.0, deadline - time.monotonic()))]
        while not wanted(lines[-1]):
            found = self._read(deadline)
            if found is None:
                raise LawBroken(f"the answer must come in time, got none; the last line is {told(lines[-1])}")
            self._add(lines, found)
        return lines

    def rest(self) -> list[str]:
        """Returns the lines that are written although nothing is asked."""
        lines = list[str]()
        deadline = time.monotonic() + QUIET_SECONDS
        while (found := self._read(deadline)) is not None:
            self._add(lines, found)
        return lines

    def _add(self, lines: list[str], found: str) -> None:
        """Adds a line; raises LawBroken if an engine writes without end."""
        if len(lines) >= MAX_LINES:
            raise LawBroken(f"at most {MAX_LINES:,} lines may be written at once; the last one is {told(found)}")
        lines.append(found)

    def _read(self, deadline: float) -> str | None:
        """Returns the next line of the process that was asked, even if it has ended since; None if there is none."""
        return (self._process or self.process).read(deadline)

    def must_end(self) -> None:
        """Raises LawBroken if the engine, which was told to end, does not end with exit code 0."""
        code = self.process_that_ends().exit_code(END_SECONDS)
        self.end()
        if code != 0:
            got = f"the exit code {code}" if code is not None else "a process that still runs"
            raise LawBroken(f"the engine must end within {END_SECONDS:g} s with the exit code 0, got {got}")

    def process_that_ends(self) -> EngineProcess:
        """Returns the process, which is not started again if it has ended."""
        assert self._process is not None
        return self._process

    def legal_move(self, position: Position, text: str) -> int:
        """Returns the action of a move's text; raises LawBroken if it is not legal."""
        action = position.game.move_of(position.state, text)
        if action is None:
            legal = ", ".join(position.game.move_text(position.state, each) for each in position.legal_actions()[:8])
            raise LawBroken(f"a move must be legal, such as {legal}; got {told(text)}")
        return action

    def line_of_play(self, plies: int, seed: int) -> tuple[Position, list[str]]:
        """Returns the position after random moves, in a game that is not over, and the texts of the moves."""
        rng, position, texts = random.Random(seed), self.game.start(), list[str]()
        for _ in range(plies):
            action = rng.choice(position.legal_actions())
            after = position.play(action)
            if after.over:
                break
            texts.append(self.game.move_text(position.state, action))
            position = after
        return position, texts


Step = Callable[[CheckedEngine], object]
# Laws by name: a description, and steps that check it; each step may raise LawBroken.
Laws = dict[str, tuple[str, *tuple[Step, ...]]]


def send(*lines: str) -> Step:
    """Writes lines, without waiting for an answer."""
    return lambda engine: engine.send(*lines)


def close_input(engine: CheckedEngine) -> None:
    engine.process.close_input()


def ends(engine: CheckedEngine) -> None:
    engine.must_end()


def told(text: str) -> str:
    """Returns an engine's output as a quotation for a sentence."""
    return repr(text if len(text) <= LONGEST_TOLD else f"{text[:LONGEST_TOLD]}...")


def word_after(words: Sequence[str], name: str) -> str:
    """Returns the word after a name; "" if there is none."""
    return words[words.index(name) + 1] if name in words[:-1] else ""
