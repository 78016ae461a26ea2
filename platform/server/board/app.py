"""The board's web application: its one page, its files, and stored matches as JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from ...agents.registry import AGENTS, label_of
from ...arena.analysis.reanalysis import Reanalysis
from ...arena.match import MatchRecord
from ...core.errors import UserError
from ...games.registry import GAMES
from ...results.failures import failure_of
from ...results.match_list import list_matches, newest_run_of
from ...results.store.store import Store
from ..limits import is_number
from .analyses import analysis_routes
from .frames import Frames
from .opinions import Knowledge, certainties, opinions, require_harmless
from .requests import NEVER_STORED, SECURITY, Guard, our_error, user_error
from .streams import TOO_MUCH, Streams
from .table_routes import table_routes
from .tables import Tables, require_harmless_game

STREAMS = 4  # of opinions at once: each keeps a core busy
REPEATS = 2, 50  # searches of a position for its certainty
OPPONENTS = "combi(milliseconds=200)", "mcts(iterations=1000)", "mctse(iterations=1000)", "random"
LISTED_RUNS, LISTED_MATCHES = 50, 100
TITLE = '<p class="board-title" id="title"></p>'  # below another head
STATIC = files("turnier.server.board").joinpath("static")

Film = Callable[[Path, Any], None]  # writes a stored match (its record) as a GIF or video, by the file's suffix


@dataclass
class Library:
    """Stored matches, a way to make films of them, and the tables for new ones."""

    opened: Callable[[], Store]
    film: Film
    tables: Tables
    option: str = ""  # with which commands use the store
    tidy: Callable[[], None] = lambda: None  # called when a match has been read, with thousands of others of its block
    named: Callable[[Sequence[str]], list[str]] = lambda agents: list(
        map(label_of, agents)
    )  # names of a match's agents

    @property
    def store(self) -> Store:
        return self.opened()

    def record(self, match: str) -> MatchRecord:
        """Returns a stored match by its id or the id's beginning; raises UserError if there is none."""
        found = self.store.find_record(match)
        self.tidy()
        return found


def make_app(library: Library, hosts: list[str]) -> Starlette:
    """Returns the ASGI application of a board.

    Args:
        library: the content to show.
        hosts: the host names that browsers may use; others are refused, so that no site can pose as this one.
    """
    middleware = [
        Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False),
        Middleware(Guard),
        Middleware(GZipMiddleware, minimum_size=2000),  # it does not touch event streams
    ]
    handlers = {UserError: user_error, Exception: our_error}
    return Starlette(routes=board_routes(library), middleware=middleware, exception_handlers=handlers)


def board_routes(library: Library, home: str = "/", header: str = "") -> list[BaseRoute]:
    """Returns the routes of a board.

    Args:
        library: the content to show.
        home: the address of its first page.
        header: HTML in place of the head of its pages, if they are part of other pages.
    """
    page = STATIC.joinpath("index.html").read_text(encoding="utf-8")
    if header:
        page = re.sub("<header>.*</header>", lambda _: header + TITLE, page)
        page = page.replace("</head>", '<link rel="stylesheet" href="/site/site.css"></head>')
    streams, knowledge = Streams(STREAMS), Knowledge()

    async def index(request: Request) -> Response:
        place = f'<a href="{request.url.path}"'
        return HTMLResponse(page.replace(f"{place}>", f'{place} aria-current="page">', 1), headers=SECURITY)

    async def runs(request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(_listed_runs, library.store), headers=NEVER_STORED)

    async def matches(request: Request) -> Response:
        agents, run = request.query_params.getlist("agent"), request.path_params["run"]
        found = await run_in_threadpool(list_matches, library.store, run, agents, limit=LISTED_MATCHES)
        return JSONResponse([{"id": match.id, "text": match.text} for match in found], headers=NEVER_STORED)

    async def names(request: Request) -> Response:
        known = {"games": GAMES.names(), "agents": AGENTS.names(), "option": library.option}
        return JSONResponse(known, headers=NEVER_STORED)

    async def game(request: Request) -> Response:
        text = request.query_params.get("text", "")
        require_harmless_game(text)
        return JSONResponse(await run_in_threadpool(_seats_of, text))

    async def match(request: Request) -> Response:
        def read() -> dict[str, Any]:
            record = library.record(request.path_params["id"])
            return replay_of(record, newest_run_of(library.store, record.spec.id), library.named(record.spec.agents))

        return JSONResponse(await run_in_threadpool(read), headers=NEVER_STORED)

    async def opinions_of(request: Request) -> Response:
        agent = request.query_params.get("agent", "")
        record = await run_in_threadpool(_judged, library, request.path_params["id"], agent)
        return streams.response(opinions(record, agent))

    async def certainty_of(request: Request) -> Response:
        agent, repeats = request.query_params.get("agent", ""), request.query_params.get("repeats", "8")
        if not (is_number(repeats) and REPEATS[0] <= int(repeats) <= REPEATS[1]):
            raise UserError(f"repeats must be {REPEATS[0]}..{REPEATS[1]}, got {repeats[:20]}; choose another number.")
        record = await run_in_threadpool(_judged, library, request.path_params["id"], agent)
        return streams.response(certainties(record, int(repeats), agent))

    async def known_at(request: Request) -> Response:
        number = request.path_params["move"]
        record = await run_in_threadpool(library.record, request.path_params["id"])
        if not streams.places.acquire(blocking=False):
            return JSONResponse(TOO_MUCH, 429)
        try:
            svg = await run_in_threadpool(knowledge.svg, record, number, request.query_params.getlist("show"))
        finally:
            streams.places.release()
        return Response(svg, media_type="image/svg+xml", headers=NEVER_STORED)

    async def film(request: Request) -> Response:
        record = await run_in_threadpool(library.record, request.path_params["id"])
        ending = request.path_params["ending"]
        if not streams.places.acquire(blocking=False):
            return JSONResponse(TOO_MUCH, 429)
        try:
            data = await run_in_threadpool(_filmed, library.film, record, ending)
        finally:
            streams.places.release()
        kind = "image/gif" if ending == "gif" else "video/mp4"
        name = f'attachment; filename="{record.spec.id[:12]}.{ending}"'
        return Response(data, media_type=kind, headers={"Content-Disposition": name})

    return [
        Route(home, index),
        Route("/analyse", index),
        Route("/match/{id:str}", index),
        Route("/table/{id:str}", index),
        Route("/api/names", names),
        Route("/api/game", game),
        Route("/api/runs", runs),
        Route("/api/runs/{run:path}/matches", matches),
        Route("/api/matches/{id:str}", match),
        Route("/api/matches/{id:str}/opinions", opinions_of),
        Route("/api/matches/{id:str}/certainty", certainty_of),
        Route("/api/matches/{id:str}/moves/{move:int}/board.svg", known_at),
        Route("/api/matches/{id:str}/film.{ending:str}", film),
        *analysis_routes(streams),
        *table_routes(library.tables),
        Mount("/static", StaticFiles(directory=str(STATIC))),
    ]


def _seats_of(text: str) -> dict[str, Any]:
    """Returns the number of seats of a game, and a default opponent for people."""
    require_harmless_game(text)
    game = GAMES.make(text)
    suitable = (name for name in OPPONENTS if AGENTS.make(name).cannot_play(game) is None)
    return {"seats": game.num_seats, "opponent": next(suitable)}


def _listed_runs(store: Store) -> list[dict[str, Any]]:
    counts = store.match_counts()
    found = [run for run in store.runs() if counts.get(run.id)]
    latest = sorted(found, key=lambda run: run.created, reverse=True)[:LISTED_RUNS]
    return [{"id": run.id, "name": run.name, "kind": run.kind, "matches": counts[run.id]} for run in latest]


def _judged(library: Library, match: str, agent: str) -> MatchRecord:
    """Returns a match; raises UserError if its judge must not be asked."""
    if agent:
        require_harmless(agent)
    return library.record(match)


def _filmed(film: Film, record: Any, ending: str) -> bytes:
    if ending not in ("gif", "mp4"):
        raise UserError(f"a film is a gif or an mp4, got {ending[:20]}; choose one of them.")
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"film.{ending}"
        film(path, record)
        return path.read_bytes()


def replay_of(record: MatchRecord, run: str, names: Sequence[str]) -> dict[str, Any]:
    """Returns a match as JSON; raises UserError if its moves are not legal.

    `boards` has the boards before each decision and the last one, see `Frames`; `moves` has one entry per decision,
    with the `returns` of all seats before it.
    """
    review = Reanalysis(record)
    game, frames = review.game, Frames()
    for moment in review.moments:
        frames.add(game.svg(moment.position.state, moment.changed))
    moves = [
        {
            "seat": moment.seat,
            "name": game.move_text(moment.position.state, moment.action),
            "action": moment.action,
            "opening": moment.opening,
            "returns": moment.position.returns.tolist(),
        }
        for moment in review.moments[:-1]
    ]
    return {
        "id": record.spec.id,
        "run": run,
        "game": str(game),
        "agents": list(names),
        "texts": list(record.spec.agents),
        "scores": list(record.scores),
        "seed": str(record.spec.seed),  # too many digits for JavaScript's numbers
        "termination": str(record.termination),
        "error": record.error,
        "failure": failure_of(record),
        "chance": game.has_chance,
        "secondsPerDecision": review.seconds_per_decision,
        "elements": frames.elements,
        "boards": frames.boards,
        "moves": moves,
        "returns": review.moments[-1].position.returns.tolist(),
    }
