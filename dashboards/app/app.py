"""The dashboards' web application: pages of runs, the board, optuna-dashboard and data, at one address."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from turnier.core.errors import UserError, nearest
from turnier.dashboards.app import vega
from turnier.dashboards.app.api import api_routes
from turnier.dashboards.app.live import Live
from turnier.dashboards.app.optuna_server import optuna_routes
from turnier.dashboards.app.shown_store import ShownStore
from turnier.dashboards.links import run_address
from turnier.dashboards.pages import league, runs, side_by_side
from turnier.dashboards.pages.page import CHARTS, MENU, Page, banner, refused
from turnier.dashboards.pages.run import CANDIDATES, RunPage
from turnier.dashboards.reports.run import run_page
from turnier.dashboards.sections import kind_of, kinds_with
from turnier.dashboards.summaries.candidates import games_of_candidate
from turnier.server.board.app import Library, board_routes
from turnier.server.board.requests import NEVER_STORED, SECURITY, Guard, failure, our_error, user_error

STATIC = files("turnier.dashboards.app").joinpath("static")
FILES = "files"  # the part of an address before a figure's or table's file
REPORT = "report.html"
# Forms lead to our own addresses.
POLICY = {name: text.replace("form-action 'none'", "form-action 'self'") for name, text in SECURITY.items()}
STYLED = POLICY | NEVER_STORED
KEPT = {"Cache-Control": "public, max-age=3600", "Content-Encoding": "gzip"}


def make_app(shown: ShownStore, library: Library, hosts: list[str]) -> Starlette:
    """Returns the ASGI application.

    Args:
        shown: the store that the pages show.
        library: what the board shows.
        hosts: the host names that browsers may use; others are refused, so that no site can pose as this one.
    """

    async def all_runs(request: Request) -> Response:
        return await _page(lambda: runs.runs_page(shown, request.query_params))

    async def run(request: Request) -> Response:
        return await run_in_threadpool(_of_run, shown, request)

    async def compare(request: Request) -> Response:
        return await _page(lambda: side_by_side.page(shown, request.query_params))

    async def compare_file(request: Request) -> Response:
        name = request.path_params["name"]
        return await _file(name, lambda: side_by_side.file(shown, request.query_params, name))

    async def leagues(request: Request) -> Response:
        return await _page(lambda: league.page(shown, request.query_params, request.path_params.get("game", "")))

    async def league_file(request: Request) -> Response:
        game, name = request.path_params["game"], request.path_params["name"]
        return await _file(name, lambda: league.file(shown, request.query_params, game, name))

    async def script(request: Request) -> Response:
        return Response(await run_in_threadpool(vega.script), media_type="text/javascript", headers=KEPT)

    board = board_routes(library, home="/play", header=banner())
    routes = [
        Route("/", all_runs),
        Route("/runs", all_runs),
        Route("/runs/{rest:path}", run),
        Route("/compare", compare),
        Route(f"/compare/{FILES}/{{name:str}}", compare_file),
        Route("/league", leagues),
        Route(f"/league/{{game:str}}/{FILES}/{{name:str}}", league_file),
        Route("/league/{game:str}", leagues),
        Route(CHARTS, script),
        Route("/favicon.ico", lambda request: RedirectResponse("/site/icon.svg")),
        Route("/api/live", Live(shown).events),
        *api_routes(shown, library),
        *optuna_routes(shown),
        *board,
        Mount("/site", StaticFiles(directory=str(STATIC))),
    ]
    middleware = [
        Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False),
        Middleware(Guard),
        Middleware(GZipMiddleware, minimum_size=2000, compresslevel=4),
    ]
    handlers = {UserError: _sentence, HTTPException: _no_page, Exception: our_error}
    return Starlette(routes=routes, middleware=middleware, exception_handlers=handlers)


async def _page(make: Callable[[], Page]) -> Response:
    return HTMLResponse(await run_in_threadpool(lambda: make().html()), headers=STYLED)


async def _file(name: str, make: Callable[[], tuple[bytes, str]]) -> Response:
    return _saved(name, *await run_in_threadpool(make))


def _saved(name: str, content: bytes, media: str) -> Response:
    kept = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media, headers=NEVER_STORED | kept)


def _of_run(shown: ShownStore, request: Request) -> Response:
    """Answers with a page of a run, a file of it, or the way to it: RUN, RUN/TAB, RUN/[TAB/]files/NAME."""
    rest, query = request.path_params["rest"].rstrip("/"), request.query_params
    known, place = shown.runs(), rest
    while place and place not in known and "/" in place:
        place = place.rpartition("/")[0]
    below = rest[len(place) :].strip("/").split("/") if rest != place else []
    run = shown.run(place)
    if place != run.id:
        words = f"?{query}" if query else ""
        return RedirectResponse(run_address(run.id) + "".join(f"/{part}" for part in below) + words, 307)
    if below == [REPORT]:
        name = f"{''.join(c if c.isalnum() else '-' for c in run.id)}.html"
        return _saved(name, run_page(shown.store, run), "text/html")
    if FILES in below and len(below) == below.index(FILES) + 2:
        page = RunPage(shown, run, "".join(below[:-2]), query)
        return _saved(below[-1], *page.file(below[-1]))
    if len(below) == 2 and below[0] == CANDIDATES and below[1].isdecimal() and run.kind in kinds_with("OPTUNA"):
        data = shown.read(run, kind_of(run.kind).read)
        return RedirectResponse(games_of_candidate(run.id, int(below[1]), data.trials, data.definition), 307)
    if len(below) > 1:
        raise UserError(f"a run has tabs, got {'/'.join(below)[:60]!r}; begin with {run_address(run.id)}.")
    return HTMLResponse(RunPage(shown, run, "".join(below), query).page().html(), headers=STYLED)


async def _sentence(request: Request, error: Exception) -> Response:
    """Answers with the sentence of a UserError, on a page or as data."""
    if request.url.path.startswith("/api/"):
        return await user_error(request, error)
    status = 400 if isinstance(error, side_by_side.TooFewRuns) else 404
    return HTMLResponse(refused(str(error)).html(), status, headers=STYLED)


async def _no_page(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    path = request.url.path
    if path.startswith("/api/") or status != 404:
        return failure(f"{path[:80]} is not there." if status == 404 else str(error), status)
    hint = nearest(path, [*MENU.values(), "/runs", "/compare", "/dashboard"]) or "begin with the page Runs."
    sentence = f"No page is at {path[:80]}; {hint}"
    return HTMLResponse(refused(sentence).html(), 404, headers=STYLED)
