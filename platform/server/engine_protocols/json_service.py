"""JSON lines: the counterpart of `turnier.agents.engines.json_lines`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from ...agents.engines.json_lines import PROTOCOL
from ...core.errors import MALFORMED, UserError
from ...games.registry import make_game
from .clock import share_of_clock, whole_move
from .hosted_agent import HostedAgent, Limit


class JsonService:
    """Answers requests one after another, for games of any number of seats."""

    def __init__(self, engine: HostedAgent, write: Callable[[str], None]) -> None:
        self.engine, self.write = engine, write
        self._requests: dict[str, Callable[[dict[str, Any]], dict[str, Any] | None]] = {
            "hello": self._hello,
            "game": self._game,
            "move": self._move,
        }

    def run(self, lines: Iterable[str]) -> None:
        """Answers until `quit` or the end of the input."""
        self.engine.prepare()
        for line in lines:
            if line.strip():
                try:
                    request = json.loads(line)
                    if request["type"] == "quit":
                        return
                    answer = self._answer(request)
                except MALFORMED as error:
                    answer = _failure(f"a request must be a JSON object as the protocol says, got {error!r}.")
                if answer is not None:
                    self.write(json.dumps(answer))

    def _answer(self, request: dict[str, Any]) -> dict[str, Any] | None:
        try:
            if request["type"] not in self._requests:
                raise UserError(f"type must be one of {', '.join(self._requests)} and quit, got {request['type']!r}.")
            return self._requests[request["type"]](request)
        except UserError as error:
            return _failure(str(error))

    def _hello(self, request: dict[str, Any]) -> dict[str, Any]:
        name = f"Turnier {self.engine.agent}"
        return {"type": "ready", "protocol": PROTOCOL, "name": name, "version": self.engine.version}

    def _game(self, request: dict[str, Any]) -> None:
        """Begins a game; there is no answer."""
        text, own = request["game"], self.engine.game.full_text()
        if text.partition("(")[0] != own.partition("(")[0]:  # other names could load code
            raise UserError(f"this engine plays {own}, got a game of {text}; start another engine.")
        self.engine.begin(make_game(text), int(request["seed"]))

    def _move(self, request: dict[str, Any]) -> dict[str, Any]:
        self.engine.follow_plies([int(ply) for ply in request["plies"]])
        if self.engine.position.to_move < 0:
            raise UserError("a seat must be to move, but the game is over or waits for an outcome.")
        decision = self.engine.choose(_limit(request))
        return {"action": decision.action, "move": self.engine.written(decision), "nodes": decision.nodes}


def _limit(request: dict[str, Any]) -> Limit | None:
    """Returns the limit of a move, by the seconds on the mover's clock or for the move."""
    if request.get("clock"):
        left, increment = (int(1000 * (request.get(member) or 0)) for member in ("clock", "increment"))
        return Limit(share_of_clock(left, increment), "ms")
    return Limit(whole_move(int(1000 * request["seconds"])), "ms") if request.get("seconds") else None


def _failure(sentence: str) -> dict[str, Any]:
    return {"type": "error", "error": sentence}
