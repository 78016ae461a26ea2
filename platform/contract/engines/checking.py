"""Checks an engine by the laws of its protocol, in their order."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import NamedTuple

from ...agents.engines.engine import EngineAgent
from ...agents.engines.gtp import Gtp
from ...agents.engines.json_lines import Json
from ...agents.engines.uci import Uci
from ...agents.seats.failure import SeatFailure
from ...core.errors import unknown
from ...games.registry import make_game
from ..law import LawBroken, name_of
from ..process import BROKEN, KEPT, UNCHECKED, Finding
from . import gtp_laws, json_laws, uci_laws
from .checked_engine import CheckedEngine, Laws


class Protocol(NamedTuple):
    """A protocol: the agent of a command, the laws, and the game in which engines are checked."""

    agent: Callable[[str], EngineAgent]
    laws: Laws
    game: str


def laws_of(module: ModuleType) -> Laws:
    """Returns the laws that are functions of a module; their docstrings are the descriptions."""
    functions = (law for name, law in vars(module).items() if name.startswith("law_"))
    return {name_of(law): (" ".join((law.__doc__ or "").split()), law) for law in functions}


PROTOCOLS = {
    "uci": Protocol(lambda command: Uci(command=command, nodes=1), uci_laws.LAWS, "chess"),
    "gtp": Protocol(lambda command: Gtp(command=command), gtp_laws.LAWS, "go(size=9)"),
    "json": Protocol(lambda command: Json(command=command), laws_of(json_laws), "tictactoe"),
}


class EngineChecking:
    """The laws of one engine, which runs until the end of this block.

    Raises UserError if there is no such protocol, program or game.
    """

    def __init__(self, command: str, protocol: str, game: str, limit: float, margin: float) -> None:
        if protocol not in PROTOCOLS:
            raise unknown("protocol", protocol, PROTOCOLS)
        chosen = PROTOCOLS[protocol]
        self._game = make_game(game or chosen.game)
        agent = chosen.agent(command)
        agent.require(self._game)
        agent.require_program()
        self._kind = (
            f"engine that speaks {protocol.upper()}" if protocol != "json" else "program that speaks JSON lines"
        )
        self._engine = CheckedEngine(command, self._game, limit, margin)
        self.laws = chosen.laws

    def __enter__(self) -> EngineChecking:
        return self

    def __exit__(self, *_: object) -> None:
        self._engine.end()

    def begin(self) -> list[Finding]:
        """Returns the laws, not yet checked."""
        command, game = self._engine.command, str(self._game)
        return [Finding(command, self._kind, game, name, must, UNCHECKED) for name, (must, *_) in self.laws.items()]

    def findings(self, laws: Sequence[Finding]) -> Iterator[Finding]:
        """Yields the finding for each law; if the first law is broken, no other can be checked."""
        first = ""
        for law in laws:
            said = "" if first else self._broken_by(law.law)
            state = UNCHECKED if first else BROKEN if said else KEPT
            yield dataclasses.replace(law, state=state, sentence=said or (first and f"it needs the law `{first}`"))
            if said and law is laws[0]:
                first = law.law

    def note(self) -> str:
        return ""

    def _broken_by(self, name: str) -> str:
        """Returns a sentence on how a law is broken; "" if it is kept."""
        try:
            for step in self.laws[name][1:]:
                step(self._engine)
        except (LawBroken, SeatFailure) as failure:
            self._engine.end()  # its further output must not reach the next law
            return f"{str(failure).rstrip('.')}."
        return ""
