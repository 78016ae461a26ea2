"""The referee's side of a seat whose agent is not ours: it asks the seat's own process and waits for a limited time.

Between its decisions the process is stopped, so that no agent thinks in another's time; processes are reused for later
matches of the same code.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import time
from collections.abc import Iterator, Sequence

import numpy as np

from ...core.errors import UserError
from ...core.outputs import user_cache
from ...core.outside import carried, library
from ...core.outside.bundle import Bundle
from ...core.outside.trust import trusted
from ...games.game import Game, Position
from ..agent import Agent, Decision, Player
from ..engines.pool import Pool
from .failure import Ending, SeatFailure, SeatsEnded
from .forks import FORKS
from .frames import (
    ANSWER,
    ASK,
    BEGIN,
    FAILED,
    LOAD,
    LONGEST_TEXT,
    LONGEST_TOLD,
    READY,
    TELL,
    TOLD,
    Broken,
    Ended,
    Line,
    Question,
    answer_of,
)
from .limited import Limited

MOVE_SECONDS = 60.0  # for a decision, unless the agent has less
BEGIN_SECONDS = 60.0  # to import the code and start a player
AWAKE_SECONDS = 0.05  # after waking; a process killed before that was killed by another
PREPARE_SECONDS = 900.0  # BEGIN_SECONDS before any match, while kernels are compiled
_CPU_CLOCK = 2  # of a process, by its number: see clock_getcpuclockid


def plays_outside(agent: Agent) -> bool:
    """Whether an agent has its own process, because it has others' code, which this process does not trust.

    Code of a session has run in this process already, and is in no file for another one.
    """
    if trusted() or agent.runs_program:
        return False
    text = agent.full_text()
    return bool(library.digests_in([text])) and not library.of_session(text)


def player_of(agent: Agent, game: Game, seat: int, seed: int) -> Player:
    """Returns the agent's player, in its own process if it is not ours; members of an ensemble search here."""
    if not plays_outside(agent):
        return agent.start(game, seat, seed)
    agent.require(game)
    if isinstance(agent, Limited):
        return OutsidePlayer(agent.agent, game, seat, seed, agent.seconds)
    return OutsidePlayer(agent, game, seat, seed)


class SeatProcess:
    """A process that plays one match at a time; every method raises SeatFailure if the process fails."""

    def __init__(self, code: Sequence[Bundle], game: str) -> None:
        """Starts it with others' code and the rules of a game of ours, if any."""
        self.pid, end = FORKS.fork("" if library.digests_in([game]) else game)
        self._woken = time.monotonic()
        self._line, self._cpu_clock, self.alive = Line(end), (~self.pid << 3) | _CPU_CLOCK, True
        bundles = [bundle.to_json() | {"folder": bundle.folder} for bundle in code]
        self._send(
            LOAD,
            json.dumps(
                {"folder": os.getcwd(), "cache": str(user_cache().parent), "code": bundles, "files": carried.arrived()}
            ).encode(),
            BEGIN_SECONDS,
        )

    def tell(self, request: bytes, seconds: float) -> bytearray:
        """Returns the answer to a question about the classes in the code, see `standins`."""
        with self._asking():
            self._wake()
            self._send(TELL, request, seconds)
            data = self._answered(TOLD, LONGEST_TOLD, seconds, "has not answered")
            self._rest()
        _end_strays(self.pid, self.pid)
        return data

    def begin(self, agent: str, game: str, seat: int, seed: int, seconds: float) -> bool:
        """Starts a player; returns whether it follows the match."""
        told = json.dumps({"agent": agent, "game": game, "seat": seat, "seed": seed})
        with self._asking():
            self._wake()
            self._send(BEGIN, told.encode(), seconds)
            data = self._answered(READY, 1, seconds, "has not started")
            self._rest()
        _end_strays(self.pid, self.pid)
        return data == b"\1"

    def ask(self, question: Question, actions: int, seconds: float) -> tuple[Decision, int]:
        """Returns the decision and the number of unasked answers."""
        with self._asking():
            self._wake()
            began, extra = time.monotonic(), -1
            self._send(ASK, question.packed(), seconds)
            number = -1
            while number != question.number:
                left = seconds - (time.monotonic() - began)
                if extra >= 0:  # unasked answers give no more time
                    if left <= 0:
                        raise self._failure(Ending.TIMEOUT, f"has not answered within {seconds:.3g} s")
                    self._line.wait(left)
                data = self._answered(ANSWER, 64 + 16 * actions, left, "has not answered", seconds)
                try:
                    number, decision = answer_of(data, actions)
                except Broken as failure:
                    raise self._failure(Ending.CRASHED, f"answered with {failure}") from None
                extra += 1
            self._rest()
        return decision, extra

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        """Ends the process if we are interrupted, so that its answer is not taken for that to a later question."""
        try:
            yield
        except (SeatFailure, UserError):
            raise
        except BaseException:
            self.end()
            raise

    def cpu_seconds(self) -> float:
        """Returns the CPU time of the process so far; NaN if unknown."""
        try:
            return time.clock_gettime(self._cpu_clock)
        except OSError:
            return np.nan

    def end(self) -> None:
        if self.alive:
            self.alive = False
            FORKS.end(self.pid)
            self._line.close()

    def _send(self, kind: int, data: bytes, seconds: float) -> None:
        self._line.wait(seconds)
        try:
            self._line.send(kind, data)
        except TimeoutError:
            raise self._failure(Ending.STALLED, "does not read what it is told") from None
        except OSError:
            raise self._crash() from None

    def _answered(self, kind: int, largest: int, left: float, late: str, seconds: float | None = None) -> bytearray:
        try:
            got, data = self._line.receive(max(largest, LONGEST_TEXT), time.monotonic() + left)
        except TimeoutError:
            within = f"{left if seconds is None else seconds:.3g} s"
            raise self._failure(Ending.TIMEOUT, f"{late} within {within}") from None
        except (Ended, OSError):
            raise self._crash() from None
        except Broken as failure:
            raise self._failure(Ending.CRASHED, f"answered with {failure}") from None
        if got == FAILED:
            self._rest()  # its code raised an exception; it may play another match
            raise SeatFailure(Ending.CRASHED, _printable(data.decode("utf-8", "replace")))
        if got != kind:
            raise self._failure(Ending.CRASHED, "gave a malformed answer")
        return data

    def _why(self) -> str:
        try:
            return _printable(FORKS.why(self.pid))
        except UserError:  # all processes have ended together
            self.end()
            raise

    def _crash(self) -> Exception:
        """Ends a process that has closed its connection, and returns the exception for that.

        A stopped process can neither run out of memory nor end itself by SIGKILL: another one did that.
        """
        why = self._why()
        if "SIGKILL" not in why or time.monotonic() - self._woken > AWAKE_SECONDS:
            return self._failure(Ending.CRASHED, why)
        self.end()
        return SeatsEnded(
            f"a seat's process {why} while it was stopped: another agent may have done it; repeat the command."
        )

    def _failure(self, ending: Ending, what: str) -> SeatFailure:
        """Ends the process and returns the failure."""
        self.end()
        return SeatFailure(ending, f"its process {what}")

    def _rest(self) -> None:
        _signal(self.pid, signal.SIGSTOP)

    def _wake(self) -> None:
        """Continues the process; raises an exception if it has ended while it was stopped."""
        self._woken = time.monotonic()
        if self._line.ended():
            raise self._crash()
        _signal(self.pid, signal.SIGCONT)


def _end_strays(pid: int, group: int) -> None:
    """Ends children of a process outside its group, which would not rest with it; Linux only."""
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                children = list(map(int, file.read().split()))
            for child in children:
                _end_strays(child, group)
                if os.getpgid(child) != group:
                    os.kill(child, signal.SIGKILL)


def _printable(text: str) -> str:
    """Returns others' text without control characters, which terminals and databases would obey."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "\ufffd" for sign in text)


def _signal(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except OSError:
        return  # it has ended, as the next read shows


IDLE: Pool[tuple[str, ...], SeatProcess] = Pool()


def kind_of(code: Sequence[Bundle]) -> tuple[str, ...]:
    """Returns the kind of interchangeable processes: their code, and where it finds files."""
    files = (text for file in carried.arrived() for text in (file.value, file.path))
    return (
        *(os.getcwd(), str(user_cache()), *files),
        *(text for bundle in code for text in (bundle.digest, bundle.folder)),
    )


class OutsidePlayer:
    """Plays one seat of one match in its own process."""

    def __init__(
        self, agent: Agent, game: Game, seat: int, seed: int, move: float = MOVE_SECONDS, begin: float = BEGIN_SECONDS
    ) -> None:
        self._texts, self._game, self._move = (agent.full_text(), game.full_text()), game, move
        self._code = library.bundles_in(self._texts)
        self._kind = kind_of(self._code)
        self._plies: Sequence[int] = ()
        self._before: Sequence[Position] = ()
        self._asked = self._extra = 0
        self.cpu_seconds = 0.0  # of the latest decision
        self._given_back = False
        self._process = self._begun(seat, seed, begin)

    def _begun(self, seat: int, seed: int, seconds: float) -> SeatProcess:
        known = IDLE.take(self._kind)
        try:
            process = known or self._new()
            self._follows = process.begin(*self._texts, seat, seed, seconds)
        except (SeatFailure, UserError):
            if known is None or known.alive:  # otherwise it ended between matches, which is no failure in this one
                raise
            process = self._new()
            self._follows = process.begin(*self._texts, seat, seed, seconds)
        return process

    @property
    def notes(self) -> list[str]:
        """Notes on answers that did not change the match."""
        return [f"{self._extra:,} unasked answers were discarded"] if self._extra else []

    def _new(self) -> SeatProcess:
        return SeatProcess(self._code, self._texts[1])

    def follow(self, plies: Sequence[int], before: Sequence[Position]) -> None:
        """Takes all plies so far and the position before each; the process is told if its player follows them."""
        self._plies, self._before = plies, before

    def act(self, position: Position) -> Decision:
        began, cpu = time.perf_counter(), self._process.cpu_seconds()
        self.cpu_seconds = 0.0  # until it answers
        self._asked += 1
        first = self._before[0] if self._before else position
        plies = np.array(self._plies if self._follows else (), np.int64)
        question = Question(self._asked, position.rng, plies, first.state, position.state, position.returns)
        decision, extra = self._process.ask(question, self._game.num_actions, self._move)
        self._extra += extra
        self.cpu_seconds = self._process.cpu_seconds() - cpu
        return Decision(decision.action, decision.visits, decision.values, decision.nodes, time.perf_counter() - began)

    def close(self) -> None:
        """Gives the process back for the next match; further calls do nothing."""
        given, self._given_back = self._given_back, True
        if self._process.alive and not given:
            IDLE.give_back(self._kind, self._process)


@functools.lru_cache(maxsize=4096)
def prove(agent: Agent, game: Game) -> None:
    """Starts an agent in every seat of a game, once per process; raises UserError if it cannot start."""
    for seat in range(game.num_seats):
        try:
            OutsidePlayer(agent, game, seat, 0, begin=PREPARE_SECONDS).close()
        except SeatFailure as failure:
            raise UserError(f"{agent} cannot start in {game}: {failure}; fix it.") from None
