"""Requests of people at tables, and the streams that tell them about changes there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ...agents.agent import decide
from ...agents.registry import AGENTS
from ...core.errors import UserError
from .opinions import require_harmless, weighed
from .requests import NEVER_STORED, body_of
from .table_state import state_of
from .tables import MAX_TEXT, Table, Tables, read_agent

HEARTBEAT = 15.0  # seconds after which a silent stream sends a sign of life, and finds out whether anybody listens
LISTENERS = 50  # per table


def table_routes(tables: Tables) -> list[Route]:
    """Returns the routes of all tables."""
    listening: dict[str, int] = {}

    async def begin(request: Request) -> Response:
        sent = await body_of(request)
        table = await tables.open(sent.get("game"), sent.get("agents"))
        keys = {str(seat): key for seat, key in table.keys.items()}
        return JSONResponse({"id": table.id, "keys": keys}, headers=NEVER_STORED)

    async def events(request: Request) -> Response:
        table, key = tables.get(request.path_params["id"]), request.query_params.get("key", "")
        return StreamingResponse(follow(table, key), media_type="text/event-stream", headers=NEVER_STORED)

    async def follow(table: Table, key: str) -> AsyncIterator[str]:
        if listening.get(table.id, 0) >= LISTENERS:
            return
        listening[table.id] = listening.get(table.id, 0) + 1
        try:
            shown = -1
            while not table.closed:
                if table.turn != shown:
                    shown = table.turn
                    yield f"data: {json.dumps(state_of(table, key), separators=(',', ':'))}\n\n"
                try:
                    async with asyncio.timeout(HEARTBEAT):
                        await table.await_change(shown)
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            listening[table.id] -= 1

    async def act(request: Request) -> Response:
        table, sent = tables.get(request.path_params["id"]), await body_of(request)
        key, what = _text(sent, "key"), request.path_params["what"]
        answer: dict[str, Any] = {}
        if what == "play":
            await table.play(key, _number(sent, "turn"), _number(sent, "action"))
        elif what == "undo":
            await table.undo(key)
        elif what == "resign":
            await table.resign(key)
        elif what == "exchange":
            agent = await run_in_threadpool(read_agent, sent.get("agent"))
            answer["key"] = await table.exchange(key, _number(sent, "seat"), agent)
        elif what == "hint":
            answer = await _hint(table, key, _text(sent, "agent"))
        else:
            raise UserError(f"a table knows play, undo, resign, exchange and hint, got {what[:20]!r}; reload the page.")
        return JSONResponse(answer, headers=NEVER_STORED)

    return [
        Route("/api/tables", begin, methods=["POST"]),
        Route("/api/tables/{id:str}/events", events),
        Route("/api/tables/{id:str}/{what:str}", act, methods=["POST"]),
    ]


async def _hint(table: Table, key: str, text: str) -> dict[str, Any]:
    """Returns an agent's opinion of the present position."""
    seat = table.require_seat(key)
    table.require_quiet()
    match, position = table.match, table.match.position
    if position.to_move != seat:
        raise UserError("you can get a hint only on your turn; wait for it.")

    def ask() -> dict[str, Any]:
        require_harmless(text)
        agent = AGENTS.make(text)
        agent.require(match.game)
        decision = decide(agent.start(match.game, seat, match.spec.seed), match.seen())
        return {
            "choice": match.game.move_text(position.state, decision.action),
            "actions": weighed(agent, position, decision),
        }

    return await asyncio.get_running_loop().run_in_executor(table.threads, ask)


def _text(sent: dict[str, Any], name: str) -> str:
    found = sent.get(name, "")
    if not isinstance(found, str) or len(found) > MAX_TEXT:
        raise UserError(f"{name} must be a text of at most {MAX_TEXT} characters; reload the page.")
    return found


def _number(sent: dict[str, Any], name: str) -> int:
    found = sent.get(name)
    if not isinstance(found, int) or isinstance(found, bool) or abs(found) > 1 << 40:
        raise UserError(f"{name} must be a whole number; reload the page.")
    return found
