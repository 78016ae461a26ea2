"""Programs that speak our own protocol: a JSON object per line. docs/engines.md describes it.

We write                                                              the program answers
{"type": "hello", "protocol": 1}                                      {"type": "ready", "protocol": 1}
{"type": "game", "game": TEXT, "seat": 0, "seats": 2, "seed": 1}      nothing
{"type": "move", "plies": [...], "moves": [...], "legal": [...],
 "names": [...], "board": TEXT, "returns": [...],                     {"action": 3} or {"move": "d4"}, and "nodes"
 "seconds": 1.0}, or "clock": 60.0, "increment": 0.5
{"type": "quit"}                                                      nothing; it ends
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ...core.errors import UserError
from ...core.parameters import parameter
from ...games.abi import CHANCE
from ...games.game import Position
from ..seats.failure import Ending
from .engine import EngineAgent, Limits, Match, Talk, node_count

PROTOCOL = 1
MAX_ID = 200  # characters of a name or a version


class JsonTalk(Talk):
    """Speaks JSON lines."""

    def greet(self, deadline: float) -> None:
        self._write({"type": "hello", "protocol": PROTOCOL}, deadline)
        answer = self._object(deadline)
        if answer.get("type") != "ready" or answer.get("protocol") != PROTOCOL:
            what = f'must answer {{"type": "ready", "protocol": {PROTOCOL}}}, got {str(answer)[:100]}'
            raise self.process.failure(Ending.CRASHED, what)
        self._said = " ".join(str(answer[word])[:MAX_ID] for word in ("name", "version") if word in answer)

    @property
    def said(self) -> str:
        return self._said

    def begin(self, match: Match, deadline: float) -> None:
        self._discard()
        self._write(game_message(match), deadline)

    def ask(self, match: Match, position: Position, limits: Limits, deadline: float) -> tuple[int, int]:
        game, legal = match.game, position.legal_actions()
        self._discard()
        self._write(move_message(match, position, limits, self.agent.increment), deadline)
        answer = self._object(deadline)
        action, text, nodes = answer.get("action"), answer.get("move"), answer.get("nodes")
        if isinstance(text, str):
            action = game.move_of(position.state, text)
        if type(action) is not int or action not in legal:
            raise self.illegal(json.dumps(answer))
        return action, node_count(str(nodes)) if type(nodes) is int else 0

    def end(self) -> None:
        self.process.end('{"type": "quit"}')

    def _discard(self) -> None:
        for line in self.process.take_unread():
            if line.strip():
                self.unasked(line)

    def _write(self, message: dict[str, Any], deadline: float) -> None:
        self.send(json.dumps(message, separators=(",", ":")), deadline)

    def _object(self, deadline: float) -> dict[str, Any]:
        line = self.receive(deadline)
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise self.process.failure(Ending.CRASHED, f"answers {line[:100]!r}, which is no JSON object")
        return answer


def game_message(match: Match) -> dict[str, Any]:
    """Returns the message at the start of a match."""
    game = match.game
    return {
        "type": "game",
        "game": game.full_text(),
        "seat": match.seat,
        "seats": game.num_seats,
        "seed": match.seed,
    }


def move_message(match: Match, position: Position, limits: Limits, increment: float) -> dict[str, Any]:
    """Returns the message that asks for a move."""
    game, legal = match.game, position.legal_actions()
    return {
        "type": "move",
        "plies": match.plies,
        "moves": [_text(before, ply) for before, ply in zip(match.before, match.plies, strict=True)],
        "legal": legal,
        "names": [game.move_text(position.state, action) for action in legal],
        "board": game.draw(position.state),
        "returns": position.returns.tolist(),
        "seconds": limits.own or None,
        "clock": limits.clock or None,
        "increment": increment,
    }


def _text(before: Position, ply: int) -> str:
    """Returns the text of a ply: an action, or an outcome of chance."""
    return before.game.outcome_name(ply) if before.to_move == CHANCE else before.game.move_text(before.state, ply)


@dataclass(frozen=True)
class Json(EngineAgent):
    """A program that speaks JSON lines (docs/engines.md): it plays any game without hidden information."""

    name: ClassVar[str] = "json"
    talk: ClassVar[type[Talk]] = JsonTalk

    seconds: float = parameter(0.0, "seconds per move, 0 = none", low=0.0, high=3600.0)

    def within(self, amount: int, unit: str) -> Self:
        if unit != "ms":
            raise UserError(f"a budget must be in ms for {self.name}, got {unit} for {self}; choose another.")
        return self.replace(seconds=amount / 1000, clock=0.0, increment=0.0)

    def move_seconds(self) -> float:
        return self.seconds
