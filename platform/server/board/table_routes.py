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
from ...agents.human.agent import Human
from ...agents.registry import AGENTS
from ...core.errors import UserError
from ...games.abi import CHANCE
from .frames import moves_on
from .opinions import require_harmless, weighed
from .requests import NEVER_STORED, body_of
from .tables import MAX_TEXT, Table, Tables, label, read_agent, visible

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


HIDDEN = "…"  # in place of a move that others may not see yet


def state_of(table: Table, key: str) -> dict[str, Any]:
    """Returns the board and the seats, and for the seat to move the legal moves with the places to click."""
    match, seat = table.match, table.seat_of(key)
    shown, mover = visible(match, seat), -1 if match.over else match.position.to_move
    mine = seat is not None and seat == mover and not table.thinking
    svg = match.game.svg(shown.state, _changed(table, seat))
    legal = match.position.legal_actions() if mine else []
    return {
        "turn": table.turn,
        "game": str(match.game),
        "svg": svg,
        "seats": [
            {"name": label(agent), "human": isinstance(agent, Human), "returns": float(match.position.returns[number])}
            for number, agent in enumerate(match.agents)
        ],
        "seat": -1 if seat is None else seat,
        "toMove": mover,
        "thinking": table.thinking,
        "legal": moves_on(svg, match.game, match.position.state, legal),
        "moves": _moves(table, seat),
        "over": match.over,
        "ending": str(match.ending),
        "scores": list(match.record().scores) if match.over else [],
        "match": match.spec.id if table.stored else "",
        "trouble": table.trouble or match.error,
    }


def _moves(table: Table, seat: int | None) -> list[dict[str, Any]]:
    """Returns the moves of all seats, but of an unfinished round of simultaneous moves only the seat's own."""
    match = table.match
    known: list[dict[str, Any]] = [
        {"seat": before.to_move, "name": table.game.move_text(before.state, ply)}
        for before, ply in zip(match.before, match.plies, strict=False)  # an agent may be adding one
        if before.to_move != CHANCE
    ]
    if match.game.kernels.has_observe and not match.over:
        below = match.position.to_move  # seats commit in order: those of this round come before it
        for move in reversed(known):
            if move["seat"] >= below:
                break
            below = move["seat"]
            if move["seat"] != seat:
                move["name"] = HIDDEN
    return known


def _changed(table: Table, seat: int | None) -> tuple[int, ...]:
    """Returns the cells changed by the latest ply, if the seat may see it."""
    match = table.match
    if not match.before:
        return ()
    if match.game.kernels.has_observe and not match.over:
        return ()
    now, then = (match.game.cell_values(position.state) for position in (match.position, match.before[-1]))
    return tuple(int(cell) for cell in (now != then).nonzero()[0])
