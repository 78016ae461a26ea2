"""JSON lines: an object per line asks, an object per line answers; docs/engines.md has its members."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from turnier.core.errors import MALFORMED, UserError
from turnier.games.registry import make_game
from turnier.server.engine_protocols.clock import share_of_clock, whole_move
from turnier.server.engine_protocols.engine import Engine, Limit

PROTOCOL = 1


class JsonLines:
    """Answers requests one after another, for games of any number of seats."""

    def __init__(self, engine: Engine, write: Callable[[str], None]) -> None:
        self.engine, self.write = engine, write
        self._requests: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "hello": self._hello,
            "start": self._start,
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
                self.write(json.dumps(answer))

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        kind = request["type"]
        try:
            if kind not in self._requests:
                raise UserError(f"type must be one of {', '.join(self._requests)} and quit, got {kind!r}.")
            return {"type": kind, **self._requests[kind](request)}
        except UserError as error:
            return _failure(str(error))

    def _hello(self, request: dict[str, Any]) -> dict[str, Any]:
        return {
            "protocol": PROTOCOL,
            "name": f"Turnier {self.engine.agent}",
            "version": self.engine.version,
            "game": self.engine.game.full_text(),
        }

    def _start(self, request: dict[str, Any]) -> dict[str, Any]:
        text = request.get("game", str(self.engine.game))
        if text.partition("(")[0].strip() != self.engine.game.name:  # other names could have code loaded
            raise UserError(f"this engine plays {self.engine.game.name}, got {text!r}; start another one.")
        self.engine.begin(make_game(text))
        return {"game": self.engine.game.full_text()}

    def _move(self, request: dict[str, Any]) -> dict[str, Any]:
        self.engine.follow([str(move) for move in request["moves"]])
        if self.engine.position.over:
            raise UserError("the game is over.")
        decision = self.engine.choose(_limit(request))
        return {
            "move": self.engine.written(decision),
            "nodes": decision.nodes,
            "ms": round(1000 * decision.seconds, 3),
        }


def _limit(request: dict[str, Any]) -> Limit | None:
    """Returns what the move may cost: the first that is given of a time, a number of nodes, a depth, a clock."""
    if "ms" in request:
        return Limit(whole_move(int(request["ms"])), "ms")
    for member, unit in (("nodes", "nodes"), ("depth", "plies")):
        if member in request:
            return Limit(max(1, int(request[member])), unit)
    if "left_ms" in request:
        increment, moves = int(request.get("increment_ms", 0)), int(request.get("moves_left", 0))
        return Limit(share_of_clock(int(request["left_ms"]), increment, moves), "ms")
    return None


def _failure(sentence: str) -> dict[str, Any]:
    return {"type": "error", "error": sentence}
