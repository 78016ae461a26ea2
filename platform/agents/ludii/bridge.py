"""Python's end of the bridge to Ludii: its commands as methods, one process per thread, kept from match to match."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Sequence
from typing import NamedTuple

from turnier.agents.ludii.games import LudiiGame
from turnier.agents.ludii.jar import command_of, path_of_jar
from turnier.agents.ludii.process import LineProgram, ProgramFailure

PROTOCOL = "1"
START_SECONDS = 120.0  # Java starts, compiles the bridge and loads a game
ANSWER_SECONDS = 60.0  # everything but thinking


class Situation(NamedTuple):
    """What Ludii says of a match: whose turn it is and how he can move, or how it ended."""

    seat: int  # -1 = over
    moves: tuple[str, ...]
    ranks: tuple[float, ...]  # by seat, 1 = best; empty while it lasts

    @property
    def over(self) -> bool:
        return self.seat < 0


class Bridge:
    """A process that runs Ludii; several matches may be open at once."""

    def __init__(self, jar: str) -> None:
        self._program = LineProgram("Ludii's bridge", command_of(jar))
        self._numbers = itertools.count(1)
        self._over: list[str] = []  # matches that nobody plays any more
        self._games: dict[LudiiGame, tuple[str, tuple[str, ...]]] = {}
        self.warm: set[tuple[LudiiGame, str]] = set()  # agents that have searched so long that Java has compiled them
        name, protocol, self.version, *_ = [*self._ask("hello", seconds=START_SECONDS), "", "", ""]
        if (name, protocol) != ("turnier-ludii", PROTOCOL):
            self.close()
            raise ProgramFailure(f"Ludii's bridge must speak turnier-ludii {PROTOCOL}, got {name} {protocol}")

    @property
    def alive(self) -> bool:
        return self._program.alive

    def close(self) -> None:
        self._program.close()

    def _ask(self, *fields: object, seconds: float = ANSWER_SECONDS) -> list[str]:
        kind, *answer = self._program.ask("\t".join(map(str, fields)), seconds).split("\t")
        if kind == "ok":
            return answer
        self.close()
        if kind == "error":
            raise ProgramFailure(f"Ludii's bridge refuses the command {fields[0]}: {' '.join(answer)}")
        raise ProgramFailure(f"Ludii's bridge must answer ok or error, got {kind!r}")

    def load(self, game: LudiiGame) -> tuple[str, tuple[str, ...]]:
        """Returns the name of a loaded game and the labels of its sites."""
        if game not in self._games:
            name = f"game{len(self._games) + 1}"
            swap = "swap" if game.swap else "no_swap"
            _, *labels = self._ask("game", name, game.file, swap, *game.options, seconds=START_SECONDS)
            self._games[game] = name, tuple(labels)
        return self._games[game]

    def begin(self, game: LudiiGame, agent: str, seat: int, seed: int) -> LudiiMatch:
        """Begins a match in which the agent has one seat; it lasts as long as somebody has it."""
        while self._over:
            self._ask("end", self._over.pop())
        name, game_name = f"match{next(self._numbers)}", self.load(game)[0]
        match = LudiiMatch(self, name, _situation(self._ask("match", name, game_name, seed, seat + 1, agent)))
        # Forgotten with the next match: this may be called at any moment, between a question and its answer too.
        weakref.finalize(match, self._over.append, name).atexit = False
        return match


class LudiiMatch:
    """A match that is open in the bridge."""

    def __init__(self, bridge: Bridge, name: str, situation: Situation) -> None:
        self.bridge, self.name, self.situation = bridge, name, situation

    def play(self, moves: Sequence[str]) -> Situation:
        """Plays moves; says what has become of the match."""
        if moves:
            self.situation = _situation(self.bridge._ask("moves", self.name, *moves))
        return self.situation

    def think(self, seconds: float, iterations: int, deadline: float) -> tuple[str, int]:
        """Returns the agent's move, which is not played yet, and its iterations; one of the limits is 0."""
        move, done = self.bridge._ask("think", self.name, seconds, iterations, seconds=deadline)
        return move, int(done)


def _situation(answer: Sequence[str]) -> Situation:
    first, *rest = answer
    if first == "over":
        return Situation(-1, (), tuple(map(float, rest)))
    return Situation(int(first) - 1, tuple(rest), ())


_of_thread = threading.local()
_shared: dict[str, list[Bridge]] = {}  # which no thread has


def bridge_of_thread(digest: str) -> Bridge:
    """Returns this thread's bridge to the jar with a digest, started where there is none or it has ended."""
    bridges: dict[str, Bridge] = _of_thread.__dict__.setdefault("bridges", {})
    if digest not in bridges or not bridges[digest].alive:
        path, idle = path_of_jar(digest), _shared.setdefault(digest, [])
        try:
            bridges[digest] = idle.pop()
        except IndexError:
            bridges[digest] = Bridge(path)
    return bridges[digest]


def share_bridge_of_thread(digest: str) -> None:
    """Gives this thread's bridge to whichever thread needs one next."""
    bridges: dict[str, Bridge] = _of_thread.__dict__.setdefault("bridges", {})
    bridge = bridges.pop(digest, None)
    if bridge and bridge.alive:
        _shared.setdefault(digest, []).append(bridge)
