"""Python's end of the bridge to Ludii: its commands as methods; docs/other_libraries.md describes them."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from typing import NamedTuple

from ..engines.pool import Pool
from ..engines.process import EngineProcess
from ..seats.failure import Ending, SeatFailure
from .games import LudiiGame
from .jar import command_of, path_of_jar

PROTOCOL = ("turnier-ludii", "1")
ANSWER_SECONDS = 60.0  # except starting, loading and thinking


class Situation(NamedTuple):
    """A match as Ludii sees it: the seat to move and the legal moves, or the result."""

    seat: int  # -1 = over
    moves: tuple[str, ...]
    ranks: tuple[float, ...]  # by seat, 1 = best; empty while it lasts

    @property
    def over(self) -> bool:
        return self.seat < 0


class Bridge:
    """A process that runs Ludii and plays one match at a time; methods raise SeatFailure."""

    def __init__(self, digest: str, start_limit: float) -> None:
        """Starts Ludii; raises UserError if the jar or Java is missing."""
        self.digest = digest
        self._start_limit = start_limit
        self._process = EngineProcess(shlex.join(command_of(path_of_jar(digest))))
        self._process.command = "Ludii's bridge"  # failures need not name the jar's path
        self._labels: dict[LudiiGame, tuple[str, ...]] = {}
        self._loaded: LudiiGame | None = None
        self.warm: set[tuple[LudiiGame, str]] = set()  # agents that have searched long enough for Java to compile them
        try:
            name, protocol, self.version, *_ = [*self._ask("hello", seconds=start_limit), "", "", ""]
            if (name, protocol) != PROTOCOL:
                raise self._failure(f"must speak {' '.join(PROTOCOL)}, got {name} {protocol}")
        except BaseException:
            self.end()
            raise

    @property
    def alive(self) -> bool:
        return self._process.alive

    def end(self) -> None:
        self._process.end("quit")

    def load(self, game: LudiiGame) -> tuple[str, ...]:
        """Chooses the game of the next matches; returns the labels of its sites."""
        if game != self._loaded:
            swap = "swap" if game.swap else "no_swap"
            _, *labels = self._ask("game", game.file, swap, *game.options, seconds=self._start_limit)
            self._labels[game], self._loaded = tuple(labels), game
        return self._labels[game]

    def begin(self, game: LudiiGame, agent: str, seat: int = 0, seed: int = 0) -> None:
        """Begins a match with the agent in one seat; forgets the one before."""
        self.load(game)
        self.situation = self._situation("match", seed, seat + 1, agent)

    def play(self, moves: Sequence[str]) -> None:
        if moves:
            self.situation = self._situation("moves", *moves)

    def think(self, seconds: float, iterations: int, deadline: float) -> tuple[str, int]:
        """Returns the agent's move, not played yet, and its iterations; one of the limits is 0."""
        move, done = self._ask("think", seconds, iterations, seconds=deadline)
        return move, int(done)

    def illegal(self, move: str) -> SeatFailure:
        return self._failure(f"plays {move[:100]!r}, which is not legal here", Ending.ILLEGAL_MOVE)

    def _ask(self, *fields: object, seconds: float = ANSWER_SECONDS) -> list[str]:
        deadline = time.monotonic() + seconds
        self._process.write("\t".join(map(str, fields)), deadline)
        line = self._process.read(deadline)
        if line is None:
            raise self._failure(f"does not answer within {seconds:.3g} s", Ending.STALLED)
        kind, *answer = line.split("\t")
        if kind == "error":
            raise SeatFailure(Ending.CRASHED, f"Ludii's bridge refuses the command {fields[0]}: {' '.join(answer)}")
        if kind != "ok":
            raise self._failure(f"must answer ok or error, got {line[:100]!r}")
        return answer

    def _situation(self, *fields: object) -> Situation:
        first, *rest = self._ask(*fields)
        if first == "over":
            return Situation(-1, (), tuple(map(float, rest)))
        return Situation(int(first) - 1, tuple(rest), ())

    def _failure(self, what: str, ending: Ending = Ending.CRASHED) -> SeatFailure:
        return self._process.failure(ending, what)


IDLE: Pool[str, Bridge] = Pool()  # by the jar's digest


def take_bridge(digest: str, start_limit: float) -> Bridge:
    """Returns an idle bridge, otherwise a new one."""
    return IDLE.take(digest) or Bridge(digest, start_limit)
