"""Events that renew pages: one whenever a run, or any of them, has something new. A page that is idle costs nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from turnier.core.errors import UserError
from turnier.dashboards.app.shown_store import ShownStore
from turnier.server.board.requests import NEVER_STORED, failure

BEAT, IDLE_BEAT = 2.0, 5.0  # s between two looks while something is running, and while nothing is
ALIVE = 30.0  # s after which a comment shows whether the page still listens
LISTENERS = 300  # at once


class Live:
    """The events of a store. All listeners share one look at the store for each moment."""

    def __init__(self, shown: ShownStore) -> None:
        self.shown, self.listeners = shown, 0

    async def events(self, request: Request) -> Response:
        """Answers with the events of the run in the address, or of all."""
        if self.listeners >= LISTENERS:
            return failure(f"more than {LISTENERS} pages are waiting for news; close some.", 429)
        run = request.query_params.get("run", "")
        if run:
            await run_in_threadpool(self.shown.run, run)
        look = (lambda: self._of_run(run)) if run else self._of_all
        return StreamingResponse(self._stream(look), media_type="text/event-stream", headers=NEVER_STORED)

    async def _stream(self, look: Callable[[], tuple[str, bool]]) -> AsyncIterator[str]:
        self.listeners += 1
        try:
            known, silent = "", 0.0
            while True:
                try:
                    found, live = await run_in_threadpool(look)
                except UserError as error:
                    yield f"event: refused\ndata: {json.dumps({'error': str(error)})}\n\n"
                    return
                if known and found != known:
                    yield f"event: news\ndata: {json.dumps({'live': live})}\n\n"
                    silent = 0.0
                elif silent >= ALIVE:
                    yield ": alive\n\n"
                    silent = 0.0
                known = found
                beat = BEAT if live else IDLE_BEAT
                silent += beat
                await asyncio.sleep(beat)
        finally:
            self.listeners -= 1

    def _of_run(self, run: str) -> tuple[str, bool]:
        one: Any = self.shown.progress().get(run)
        found = self.shown.runs().get(run)
        if one is None or found is None:
            raise UserError("this run is no longer stored; begin with the page Runs.")
        live = self.shown.is_live(found)
        return repr((self.shown.state_of(found), one.state, one.done if live else 0)), live

    def _of_all(self) -> tuple[str, bool]:
        progress = self.shown.progress()
        live = any(self.shown.is_live(run) for run in self.shown.runs().values())
        parts = [(one.run, one.name, one.state, one.done, one.stored, one.note) for one in progress.values()]
        return repr(parts), live
