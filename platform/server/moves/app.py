"""The best move over HTTP: `GET /move?board=...` answers with the output of `turnier analyse --best --json`."""

from __future__ import annotations

import asyncio
import math
import threading
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ...agents.agent import Agent
from ...agents.registry import make_agent
from ...arena.analysis import PlayingOn, best_move
from ...arena.analysis.outlook import GAMES
from ...core.errors import UserError, unknown
from ...games.game import Game
from ...games.registry import make_game
from ..analysis_data import analysis_data
from ..board.requests import NEVER_STORED, SECURITY, Guard, failure, our_error, user_error
from ..board.serving import configured, hosts_of
from ..board.streams import TOO_MUCH
from ..limits import is_number
from ..listening import listen

PER_SECOND, BURST = 20.0, 40  # requests of an address
PLACES = 2  # answers computed at once: each keeps a core busy
MOST_CHARACTERS = 8_000  # of a board; addresses have at most 16,384 bytes
MOST_GAMES, MOST_GOAL = 1000, 1 << 18
QUESTIONS = "board", "seconds", "games", "goal"


@dataclass(frozen=True)
class Adviser:
    """The agent to ask, and the limits of an answer."""

    game: Game
    agent: Agent
    player: Agent | None  # for continued games; None: a quick version of the agent
    seconds: float  # maximum for continued games

    def answer(self, questions: QueryParams) -> dict[str, Any]:
        """Returns the best move of a board as JSON values; raises UserError for questions that make no sense."""
        for name, _ in questions.multi_items():
            if name not in QUESTIONS:
                raise unknown("question", name[:40], QUESTIONS)
        board = questions.get("board", "")
        if not board.strip():
            raise UserError(f"a request must have a board, such as /move?board={self.game.board_help or 'moves ...'}")
        if len(board) > MOST_CHARACTERS:
            raise UserError(
                f"a board must have at most {MOST_CHARACTERS:,} characters, got {len(board):,}; shorten it."
            )
        games = _whole(questions.get("games", str(GAMES)), "games", MOST_GAMES)
        seconds = _seconds(questions.get("seconds"), self.seconds)
        goal = _whole(questions["goal"], "goal", MOST_GOAL) if "goal" in questions else None
        on = PlayingOn(games, seconds, self.player, goal) if games else None
        *_, found = best_move(self.game.position_of(board), self.agent, on)
        return analysis_data(found)


def _seconds(text: str | None, most: float) -> float:
    try:
        seconds = most if text is None else float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= most:
        raise UserError(f"seconds must be a number above 0 and at most {most:g} here, got {str(text)[:20]!r}.")
    return seconds


def _whole(text: str, name: str, most: int) -> int:
    if not (is_number(text) and int(text) <= most):
        raise UserError(f"{name} must be a whole number of at most {most:,}, got {text[:20]!r}; choose another.")
    return int(text)


def make_app(adviser: Adviser, hosts: list[str]) -> Starlette:
    """Returns the ASGI application.

    Args:
        adviser: gives the answers.
        hosts: allowed host names, as in the board.
    """
    places = threading.BoundedSemaphore(PLACES)

    def answer(questions: QueryParams) -> Response:
        if not places.acquire(blocking=False):
            return JSONResponse(TOO_MUCH, 429, headers=NEVER_STORED)
        try:
            return JSONResponse(adviser.answer(questions), headers=NEVER_STORED)
        finally:
            places.release()

    async def move(request: Request) -> Response:
        return await run_in_threadpool(answer, request.query_params)

    async def index(request: Request) -> Response:
        game = adviser.game
        about = {"game": game.full_text(), "agent": str(adviser.agent), "most_seconds": adviser.seconds}
        ask = f"/move?board={quote(game.board_help or 'moves NAME NAME')}"
        return JSONResponse(about | {"questions": QUESTIONS, "ask": ask}, headers=NEVER_STORED | SECURITY)

    async def http_error(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        said = f"ask GET /move?board=..., got {request.method} {request.url.path[:60]}."
        return failure(said, status)

    return Starlette(
        routes=[Route("/", index, methods=["GET"]), Route("/move", move, methods=["GET"])],
        middleware=[Middleware(Guard, per_second=PER_SECOND, burst=BURST, hosts=hosts, data="/move")],
        exception_handlers={UserError: user_error, HTTPException: http_error, Exception: our_error},
    )


def serve_moves(game: str, agent: str, games_by: str, seconds: float, host: str, port: int) -> None:
    """Serves until it is stopped; raises UserError if the agent cannot play the game."""
    made = make_game(game)
    adviser = Adviser(
        made, make_agent(agent or made.default_agent), make_agent(games_by) if games_by else None, seconds
    )
    start = made.start()
    for _ in best_move(start, adviser.agent, None if start.over else PlayingOn(1, seconds, adviser.player)):
        pass  # compiles, and reports mistakes before the first request
    with listen(host, port) as listening:
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{listening.getsockname()[1]}"
        print(f"Best moves of {made} by {adviser.agent}: {address}/move?board=... (Ctrl-C ends it)", flush=True)
        asyncio.run(uvicorn.Server(configured(make_app(adviser, hosts_of(host)))).serve([listening]))
