"""Runs as JSON, for notebooks and other programs: what `show --json` prints, with the same limits as the pages."""

from __future__ import annotations

import json
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from turnier.arena.analysis.reanalysis import Reanalysis
from turnier.dashboards.app.shown_store import ShownStore
from turnier.dashboards.figures.figure import Figure
from turnier.dashboards.figures.replay import board_svg
from turnier.dashboards.pages.run import RunPage
from turnier.dashboards.pages.runs import listed
from turnier.dashboards.sections import Drawing, kind_of
from turnier.results.frames import json_rows
from turnier.server.board.app import Library
from turnier.server.board.requests import NEVER_STORED

KEPT = {"Cache-Control": "private, max-age=86400"}  # a match never changes


def api_routes(shown: ShownStore, library: Library) -> list[Route]:
    """Returns the routes of the data."""

    async def runs(request: Request) -> Response:
        return _json(await run_in_threadpool(lambda: list(listed(shown))))

    async def run(request: Request) -> Response:
        return _json(await run_in_threadpool(_run, shown, request.path_params["run"]))

    async def figures(request: Request) -> Response:
        def read() -> list[dict[str, Any]]:
            page = RunPage(shown, shown.run(request.path_params["run"]), "", request.query_params)
            drawn = [one.drawn for some in page.described.values() for one in some if isinstance(one, Drawing)]
            return [_figure(one) for one in drawn if one is not None]

        return _json(await run_in_threadpool(read))

    async def board(request: Request) -> Response:
        def draw() -> str:
            review = Reanalysis(library.record(request.path_params["match"]))
            return board_svg(review.game, review.moments[-1])

        svg = await run_in_threadpool(draw)
        return Response(svg, media_type="image/svg+xml", headers=KEPT)

    return [
        Route("/api/runs", runs),
        Route("/api/runs/{run:str}", run),
        Route("/api/runs/{run:str}/figures", figures),
        Route("/api/matches/{match:str}/board.svg", board),
    ]


def _json(content: Any) -> Response:
    return JSONResponse(content, headers=NEVER_STORED)


def _run(shown: ShownStore, text: str) -> dict[str, Any]:
    run = shown.run(text)
    kind = kind_of(run.kind)
    data = shown.read(run, kind.read)
    result = kind.to_json(data) if hasattr(kind, "to_json") else None
    return next(listed(shown, run.id)) | {
        "definition": run.definition,
        "environment": run.environment,
        "result": result,
    }


def _figure(figure: Figure) -> dict[str, Any]:
    """Returns a figure as a Vega-Lite specification with all of its data."""
    return {
        "title": figure.title,
        "note": figure.caption,
        "spec": figure.spec,
        "data": json.loads(json.dumps(json_rows(figure.data), default=str)),
    }
