"""optuna-dashboard on a store's studies, below /dashboard of our own pages; it reads and cannot change anything."""

from __future__ import annotations

import threading
from typing import Any

from a2wsgi import WSGIMiddleware
from starlette.routing import Route

from turnier.core.errors import UserError
from turnier.dashboards.app.shown_store import ShownStore
from turnier.search.storage.studies import read_only_storage
from turnier.search.storage.trials import study_names

# Its script asks for these, which are not ours.
PATHS = (
    "/dashboard",
    "/dashboard/{rest:path}",
    "/static/bundle.js",
    "/api/meta",
    "/api/studies",
    "/api/studies/{rest:path}",
    "/csv/{rest:path}",
)
THREADS = 8


class _OpenedLate:
    """Opens the storage at the first request, so that our own pages do not wait for it."""

    def __init__(self, shown: ShownStore) -> None:
        self._shown, self._lock = shown, threading.Lock()
        self._application: Any = None

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        with self._lock:
            if self._application is None:
                if not study_names(self._shown.store):
                    begin = f"turnier tune 2048 mc --params rollout_depth=0..50 --budget 10min{self._shown.option}"
                    raise UserError(f"optuna-dashboard shows studies, and none is stored here yet; type: {begin}")
                from optuna_dashboard import wsgi

                self._application = wsgi(read_only_storage(self._shown.store))
        environ.setdefault("HTTP_ACCEPT_ENCODING", "")  # which it expects of every client
        return self._application(environ, start_response)


def optuna_routes(shown: ShownStore) -> list[Route]:
    """Returns its routes, which only answer requests that read."""
    late: Any = _OpenedLate(shown)
    application = WSGIMiddleware(late, workers=THREADS)
    return [Route(path, application, methods=["GET"]) for path in PATHS]
