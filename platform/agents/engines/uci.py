"""Engines that speak UCI, the protocol of chess engines; by the text of moves they play other games as well.

Source: R. Huber and S. Meyer-Kahlen, "Description of the universal chess interface", April 2006.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ...core.errors import UserError
from ...core.parameters import parameter
from ...games.game import Game, Position
from ..budget import AMOUNT
from ..seats.failure import SeatFailure
from .engine import EngineAgent, Limits, Match, Talk, node_count
from .process import EngineProcess
from .uci_options import MAX_OPTIONS, Option, check_options, read_option

MAX_IDS, MAX_ID = 4, 200  # lines by which an engine identifies itself, and characters of each


class UciTalk(Talk):
    """Speaks UCI; pondering stays off."""

    agent: Uci

    def __init__(self, process: EngineProcess, agent: EngineAgent) -> None:
        super().__init__(process, agent)
        self._moves: list[str] = []  # of the match so far, as texts

    def greet(self, deadline: float) -> None:
        self.send("uci", deadline)
        declared: dict[str, Option] = {}
        self._ids: list[str] = []
        while (line := self.receive(deadline)).split()[:1] != ["uciok"]:
            if line.split()[:1] == ["id"] and len(self._ids) < MAX_IDS:
                self._ids.append(line.strip().removeprefix("id ")[:MAX_ID])
            option = read_option(line)
            if option is not None and len(declared) < MAX_OPTIONS:
                declared[option.name.lower()] = option
        self.declared: Mapping[str, Option] = declared
        check_options(self.process.command, declared, self.agent.set_options())
        for name, value in self.agent.set_options():
            self.send(f"setoption name {name} value {value}" if value else f"setoption name {name}", deadline)
        self._sync(deadline)

    @property
    def said(self) -> str:
        return "; ".join(self._ids)

    def begin(self, match: Match, deadline: float) -> None:
        self._moves = []
        self.send("ucinewgame", deadline)
        self._sync(deadline)

    def catch_up(self, deadline: float) -> None:
        self._sync(deadline)

    def ask(self, match: Match, position: Position, limits: Limits, deadline: float) -> tuple[int, int]:
        known = len(self._moves)
        new = zip(match.before[known:], match.plies[known:], strict=True)
        self._moves += [match.game.move_text(before.state, ply) for before, ply in new]
        for line in self.process.take_unread():
            self._discard(line)
        self.send(position_command(match.game, self._moves), deadline)
        self.send(f"go {self.agent.budget_words(limits)}", deadline)
        nodes = 0
        while True:
            words = self.receive(deadline).split()
            if words[:1] == ["info"] and "nodes" in words[:-1]:
                nodes = node_count(words[words.index("nodes") + 1]) or nodes
            elif words[:1] == ["bestmove"]:
                text = words[1] if len(words) > 1 else ""
                action = match.game.move_of(position.state, text)
                if action is None:
                    raise self.illegal(text)
                return action, nodes

    def interrupt(self, deadline: float) -> bool:
        self.send("stop", deadline)
        self._await("bestmove", deadline)
        return True

    def _sync(self, deadline: float) -> None:
        self.send("isready", deadline)
        self._await("readyok", deadline)

    def _await(self, word: str, deadline: float) -> None:
        while (line := self.receive(deadline)).split()[:1] != [word]:
            self._discard(line)

    def _discard(self, line: str) -> None:
        if line.split()[:1] == ["bestmove"]:
            self.unasked(line)


def position_command(game: Game, moves: Sequence[str]) -> str:
    """Returns the words for a position: the start of the game, and the texts of the moves that led from there."""
    return f"position {game.uci_start()}{' moves ' * bool(moves)}{' '.join(moves)}"


@dataclass(frozen=True)
class Uci(EngineAgent):
    """A program that speaks UCI, such as Stockfish: it plays chess, and other games by the text of their moves."""

    name: ClassVar[str] = "uci"
    talk: ClassVar[type[Talk]] = UciTalk
    takes_options: ClassVar[str] = "options"
    budgets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "ms": {"movetime": AMOUNT, "nodes": 0, "depth": 0, "clock": 0.0, "increment": 0.0},
        "nodes": {"nodes": AMOUNT, "movetime": 0, "depth": 0, "clock": 0.0, "increment": 0.0},
        "plies": {"depth": AMOUNT, "movetime": 0, "nodes": 0, "clock": 0.0, "increment": 0.0},
    }

    movetime: int = parameter(0, "milliseconds per move, 0 = none", low=0, high=3_600_000)
    nodes: int = parameter(0, "nodes per move, 0 = none", low=0, high=10**12)
    depth: int = parameter(0, "plies of search per move, 0 = none", low=0, high=1000)
    options: str = parameter("", "options of the program, as NAME=VALUE;NAME=VALUE")

    def check(self) -> None:
        super().check()
        if self.command and not (self.movetime or self.nodes or self.depth or self.clock):
            raise UserError(f"{self.name} needs a budget per move: set movetime, nodes, depth or clock.")
        self.set_options()

    def cannot_play(self, game: Game) -> str | None:
        if game.has_chance:
            return f"{self.name} plays games without chance, got {game}; use json."
        return super().cannot_play(game)

    def move_seconds(self) -> float:
        return self.movetime / 1000

    def named_words(self) -> list[str]:
        return [f"{name}={value}" for name, value in self.set_options()]

    def set_options(self) -> list[tuple[str, str]]:
        """Returns the names and values of the program's options."""
        pairs = [part.partition("=") for part in self.options.split(";") if part.strip()]
        return [(name.strip(), value.strip()) for name, _, value in pairs]

    def option(self, name: str) -> str | None:
        return {key.lower(): value for key, value in self.set_options()}.get(name.lower())

    def with_options(self, values: Mapping[str, str]) -> Self:
        """Returns the agent with some options set; the others stay, in their order."""
        names = {name.lower(): name for name, _ in self.set_options()}
        pairs = dict(self.set_options()) | {names.get(name.lower(), name): value for name, value in values.items()}
        return self.replace(options=";".join(f"{name}={value}" for name, value in pairs.items()))

    def declared_options(self) -> Mapping[str, Option]:
        return _declared(self)

    def option_commands(self) -> list[str]:
        """Returns the options in the program's own words."""
        return [f"setoption name {name} value {value}" for name, value in self.set_options()]

    def budget_words(self, limits: Limits) -> str:
        """Returns the arguments of `go`."""
        words = []
        if limits.clock:
            left, added = int(1000 * limits.clock), int(1000 * self.increment)
            words += [f"wtime {left} btime {left} winc {added} binc {added}"]  # it does not know the other's clock
        words += [f"movetime {self.movetime}"] * bool(self.movetime and not limits.clock)
        words += [f"nodes {self.nodes}"] * bool(self.nodes) + [f"depth {self.depth}"] * bool(self.depth)
        return " ".join(words)


@functools.lru_cache(16)
def _declared(agent: Uci) -> Mapping[str, Option]:
    """Returns the options that an agent's program declares."""
    agent.require_program()
    talk = UciTalk(EngineProcess(agent.command), agent)
    try:
        talk.greet(time.monotonic() + agent.start_limit)
    except (SeatFailure, TimeoutError) as failure:
        what = str(failure) or f"it is not ready after {agent.start_limit:g} s"
        raise UserError(
            f"{agent.name}: the program must say which options it has, but {what}; fix its command."
        ) from None
    finally:
        talk.end()
    return talk.declared
