"""Base of agents that are programs: parameters, and a player that follows a match and enforces time limits."""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from ...core.errors import UserError, other_digest
from ...core.outside.bundle import DIGITS
from ...core.outside.classes import SHOWN_DIGITS
from ...core.parameters import parameter, parameters_of
from ...core.text_form import Spec
from ...games.game import Game, Position
from ..agent import Agent, Decision, Player
from ..seats.failure import Ending, SeatFailure
from .content import digest_of, require_same_words
from .pool import Pool
from .process import EngineProcess

ON_FAILURE = ("lose", "replay", "stop")
STOP_SECONDS = 2.0  # to answer when it is told to stop after its time
NODE_DIGITS = 13  # of a move's nodes: their sums are stored in 64 bits
MAX_NOTES = 3  # of a match
MAX_NOTED = 100  # characters of a quotation in a note
NO_DIGEST = "none"  # only the command identifies the program, as in all texts stored before programs had digests


@dataclass(frozen=True)
class Match:
    """A match as an engine is told it."""

    game: Game
    seat: int
    seed: int
    plies: list[int] = field(default_factory=list)  # all so far, outcomes of chance included
    before: list[Position] = field(default_factory=list)  # the position before each ply


@dataclass(frozen=True)
class Limits:
    """An engine's time for a move, in seconds."""

    own: float  # its budget as told, 0 = as long as it needs
    hard: float  # then its answer is too late
    clock: float  # left on its clock, 0 = it has none


class Talk:
    """A conversation with a running engine; a subclass for each protocol. Methods raise SeatFailure."""

    def __init__(self, process: EngineProcess, agent: EngineAgent) -> None:
        self.process, self.agent = process, agent
        self.notes: list[str] = []  # of the match; the player's own list

    @property
    def alive(self) -> bool:
        return self.process.alive

    def end(self) -> None:
        self.process.end("quit")

    @abstractmethod
    def greet(self, deadline: float) -> None:
        """Initialises the engine after its start, until it is ready."""

    @property
    def said(self) -> str:
        """The program's description of itself, such as its name and version; empty if there is none."""
        return ""

    @abstractmethod
    def begin(self, match: Match, deadline: float) -> None:
        """Begins a match."""

    def catch_up(self, deadline: float) -> None:
        """Discards unasked answers, before each question but a match's first and outside the time for it.

        Does nothing if the protocol has no means for it.
        """

    @abstractmethod
    def ask(self, match: Match, position: Position, limits: Limits, deadline: float) -> tuple[int, int]:
        """Returns the engine's action and the number of nodes that it reports.

        Raises a failure if the move is illegal; TimeoutError if none comes before the deadline.
        """

    def interrupt(self, deadline: float) -> bool:
        """Asks an engine for any answer after its time; returns whether one came."""
        return False

    def send(self, line: str, deadline: float) -> None:
        self.process.write(line, deadline)

    def receive(self, deadline: float) -> str:
        """Returns the next line; raises TimeoutError if none comes in time."""
        line = self.process.read(deadline)
        if line is None:
            raise TimeoutError
        return line

    def unasked(self, text: str) -> None:
        """Notes an unasked answer, so that it is not taken for the next one."""
        if len(self.notes) < MAX_NOTES:
            self.notes.append(
                f"the engine {self.process.command!r} writes {text[:MAX_NOTED]!r} without being asked; it is"
                " not counted"
            )

    def illegal(self, text: str) -> SeatFailure:
        return self.process.failure(Ending.ILLEGAL_MOVE, f"plays {text[:100]!r}, which is not legal here")


def node_count(text: str) -> int:
    """Returns the nodes that an engine reports; 0 (unknown) if that is no number or has too many digits."""
    return int(text) if text.isdecimal() and len(text) <= NODE_DIGITS else 0


@dataclass(frozen=True)
class EngineAgent(Agent):
    """Base of agents that are external programs. A program's decisions may differ with the same seed."""

    talk: ClassVar[type[Talk]]

    command: str = parameter("", "the program with its arguments")
    clock: float = parameter(
        0.0, "seconds for all its moves in a game, instead of a time per move; 0 = none", low=0.0, high=86_400.0
    )
    increment: float = parameter(0.0, "seconds that each of its moves adds to the clock", low=0.0, high=3600.0)
    limit: float = parameter(60.0, "seconds for a move if nothing else sets its time", low=0.001, high=86_400.0)
    margin: int = parameter(200, "milliseconds by which an answer may be late", low=0, high=3_600_000)
    start_limit: float = parameter(10.0, "seconds to start and get ready", low=0.1, high=3600.0)
    on_failure: str = parameter(
        "lose", "what happens if it crashes, stalls, is late or plays an illegal move", choices=ON_FAILURE
    )

    digest: str = parameter(
        "",
        "digest of the files named by the command; filled in; none = only the command identifies the program",
        later=True,
    )

    def check(self) -> None:
        if self.digest not in ("", NO_DIGEST) and not re.fullmatch(
            rf"[0-9a-f]{{{SHOWN_DIGITS},{DIGITS}}}", self.digest
        ):
            raise UserError(
                f"{self.name}: digest must be {SHOWN_DIGITS} to {DIGITS} hexadecimal digits or {NO_DIGEST}, got"
                f" {self.digest!r}; leave it out."
            )
        if len(self.digest) < DIGITS and self.digest != NO_DIGEST:
            now = self.digest_now()
            if now.startswith(self.digest):
                object.__setattr__(self, "digest", now)

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> Self:
        """Returns the agent; one stored before programs had digests keeps its text, and so its identity."""
        before = [field.name for field, declared in parameters_of(cls) if not declared.later]
        stored = "digest" not in values and all(name in values for name in before)
        here = stored and bool(digest_of(str(values["command"])))
        return super().of_values({**values, "digest": NO_DIGEST} if here else values)

    def replace(self, **changes: Any) -> Self:
        """Returns the agent with other parameters; another program has another digest."""
        files = {"command", "options", "settings"} & changes.keys()
        return super().replace(**({"digest": ""} if files and self.digest != NO_DIGEST else {}) | changes)

    def spec(self, defaults: bool = False) -> Spec:
        """Returns the text form's tree, with the digest last, shortened for people."""
        full = super().spec(defaults)
        digest = full.parameters.pop("digest", NO_DIGEST)
        if digest != NO_DIGEST:
            full.parameters["digest"] = digest if defaults else str(digest)[:SHOWN_DIGITS]
        return full

    def digest_now(self) -> str:
        """Returns the current digest of the files here; "" if there is no such program."""
        return digest_of(self.command, self.named_words())

    def named_words(self) -> list[str]:
        """Returns words outside the command that may name files, some as NAME=VALUE."""
        return []

    def cannot_play(self, game: Game) -> str | None:
        if not self.command.strip():
            return f'{self.name} needs a program: {self.name}(command="PROGRAM ARGUMENTS").'
        if game.hidden or game.kernels.has_observe:
            return f"{self.name} is told all moves, so it plays games without hidden information, got {game}."
        return None

    @property
    def runs_program(self) -> bool:
        return True

    def prepare(self, game: Game) -> None:
        """Starts the program once; it then waits for its first match."""
        self.require_program()
        if (self, game) in _prepared:
            return
        player = EnginePlayer(self, game, 0, 0)
        try:
            player.follow((), ())
        except SeatFailure as failure:
            raise UserError(
                f"{self.name} must be ready for {game} before the first game, but {failure}; fix its command or"
                " its settings."
            ) from None
        if self.digest not in ("", NO_DIGEST) and player.said:
            require_same_words(self.command, self.digest, player.said)
        player.close()
        _prepared.add((self, game))

    def require_program(self) -> None:
        """Raises UserError if there is no such program, or if its digest differs."""
        try:
            program = shlex.split(self.command)[0]
        except (ValueError, IndexError) as failure:
            raise UserError(f"{self.name}: command must be a program with its arguments, got {failure}.") from None
        if shutil.which(program) is None:
            raise UserError(f"{self.name}: there is no program {program!r}; install it or fix the command.")
        now = NO_DIGEST if self.digest in ("", NO_DIGEST) else self.digest_now()
        if now != NO_DIGEST and not now.startswith(self.digest):
            raise other_digest(f"what {self.name} runs", repr(self.command), self.digest, now)

    @abstractmethod
    def move_seconds(self) -> float:
        """Returns the seconds per move without a clock; 0 if the program chooses its time, within `limit`."""

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        self.require(game)
        return EnginePlayer(self, game, seat, seed)


IDLE: Pool[EngineAgent, Talk] = Pool()
_prepared: set[tuple[EngineAgent, Game]] = set()


class EnginePlayer:
    """Plays one seat of one match with its own process, and gives that back at the end.

    The process runs only during exchanges. If one that has played other matches ends before its first answer in this
    one, it is started again: it has not been asked for a move yet.

    Attributes:
        notes: sentences on mistakes of the engine that do not lose the match.
    """

    def __init__(self, agent: EngineAgent, game: Game, seat: int, seed: int) -> None:
        self._agent, self._match = agent, Match(game, seat, seed)
        self._talk: Talk | None = None
        self._begun = False
        self._may_restart = False
        self._left = agent.clock
        self.notes: list[str] = []

    @property
    def said(self) -> str:
        """The program's description of itself since its start, for this match or an earlier one."""
        return "" if self._talk is None else self._talk.said

    def follow(self, plies: Sequence[int], before: Sequence[Position]) -> None:
        """Takes the plies of the match so far and the positions before them; starts the engine at the first call."""
        self._match.plies[:] = plies
        self._match.before[:] = before
        try:
            if not self._begun:
                self._begin()
            else:
                self._in_time(lambda talk, deadline: talk.catch_up(deadline))
        except BaseException as failure:
            self._drop()
            raise self._asked(failure) from None

    def _begin(self) -> None:
        """Begins the match, with an idle engine of earlier matches if there is one."""
        self._talk = IDLE.take(self._agent)
        if self._talk is None:
            self._start()
            return
        self._may_restart = True
        try:
            self._in_time(lambda talk, deadline: talk.begin(self._match, deadline))
            self._begun = True
        except SeatFailure:
            self._restart()

    def _start(self) -> None:
        self._agent.require_program()  # its files may have changed since the last start
        self._talk = self._agent.talk(EngineProcess(self._agent.command), self._agent)

        def first(talk: Talk, deadline: float) -> None:
            talk.greet(deadline)
            talk.begin(self._match, deadline)

        self._in_time(first)
        self._begun = True

    def _restart(self) -> None:
        self._drop()
        self._may_restart = False
        self._start()

    def _in_time(self, step: Callable[[Talk, float], None]) -> None:
        """Runs a step that has to end within `start_limit`."""
        talk = self._talk
        assert talk is not None
        talk.notes = self.notes
        talk.process.wake()
        try:
            step(talk, time.monotonic() + self._agent.start_limit)
        except TimeoutError:
            what = f"is not ready after {self._agent.start_limit:g} s"
            raise talk.process.failure(Ending.STALLED, what) from None

    def act(self, position: Position) -> Decision:
        if not self._begun:
            raise UserError(
                f"{self._agent.name} must be told the moves that led to a position, but got only the position; use"
                " it in matches."
            )
        try:
            action, nodes, seconds = self._answer(position)
        except BaseException as failure:
            self._drop()
            raise self._asked(failure) from None
        self._may_restart = False
        if self._agent.clock:
            self._left += self._agent.increment - seconds
        none = np.zeros((2, self._match.game.num_actions))
        return Decision(action, none[0], none[1], nodes, seconds)

    def _answer(self, position: Position) -> tuple[int, int, float]:
        """Returns the engine's action, nodes and seconds."""
        assert self._talk is not None
        self._talk.process.wake()
        began = time.monotonic()
        try:
            action, nodes = self._ask(self._talk, position, began)
        except SeatFailure:
            if not self._may_restart or self._talk.alive:
                raise
            self._restart()
            began = time.monotonic()
            action, nodes = self._ask(self._talk, position, began)
        seconds = time.monotonic() - began
        self._talk.process.rest()
        return action, nodes, seconds

    def _ask(self, talk: Talk, position: Position, began: float) -> tuple[int, int]:
        limits = self._limits()
        hard = began + limits.hard
        try:
            return talk.ask(self._match, position, limits, hard)
        except TimeoutError:
            answered = False
            with contextlib.suppress(TimeoutError):
                answered = talk.interrupt(hard + STOP_SECONDS)
            ending = Ending.TIMEOUT if answered else Ending.STALLED
            what = "answers, but not" if answered else "does not answer"
            raise talk.process.failure(ending, f"{what} within {limits.hard:.3g} s") from None

    def _limits(self) -> Limits:
        margin = self._agent.margin / 1000
        if self._agent.clock:
            return Limits(0.0, max(0.0, self._left) + margin, max(0.001, self._left))
        own = self._agent.move_seconds()
        return Limits(own, (own or self._agent.limit) + margin, 0.0)

    def _asked(self, failure: BaseException) -> BaseException:
        """Returns a failure with the agent's policy; a resignation is a result, not a failure."""
        if isinstance(failure, SeatFailure) and failure.ending is not Ending.RESIGNED:
            failure.on_failure = self._agent.on_failure
        return failure

    def close(self) -> None:
        """Gives the process back for the next match."""
        if self._talk is not None:
            self._talk.process.rest()
            IDLE.give_back(self._agent, self._talk)
            self._talk = None

    def _drop(self) -> None:
        """Ends a process that has failed; the next match starts another."""
        if self._talk is not None:
            self._talk.process.end()
            self._talk = None
