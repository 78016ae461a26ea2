"""optuna-dashboard on a store's studies, served beside our own pages; it may look but not change anything."""

from __future__ import annotations

import threading
from socketserver import ThreadingMixIn
from typing import Any
from urllib.parse import quote
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from optuna.storages import RDBStorage
from sqlalchemy import make_url

from turnier.results.store.store import Store
from turnier.search.storage.studies import optuna_errors

HOST = "127.0.0.1"


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Lazily:
    """Opens the storage for the first request, which takes a second that pages with a link to it need not wait."""

    def __init__(self, store: Store) -> None:
        self._store, self._lock = store, threading.Lock()
        self._application: Any = None

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        with self._lock:
            if self._application is None:
                from optuna_dashboard import wsgi

                with optuna_errors(self._store.shown_url):
                    self._application = wsgi(RDBStorage(read_only_url(self._store)))
        return self._application(environ, start_response)


def serve_optuna_dashboard(store: Store) -> str:
    """Serves it from a thread of this process at a free port of this machine; returns its address."""
    server = make_server(HOST, 0, _Lazily(store), server_class=_Server, handler_class=_Quiet)
    threading.Thread(target=server.serve_forever, name="optuna-dashboard", daemon=True).start()
    return f"http://{HOST}:{server.server_port}/dashboard"


def read_only_url(store: Store) -> str:
    """Returns the store's URL such that the database itself refuses to write."""
    url = make_url(store.url)
    if store.database.is_sqlite:
        return f"sqlite:///file:{quote(str(url.database))}?mode=ro&uri=true"
    options = url.update_query_dict({"options": "-c default_transaction_read_only=on"})
    return options.render_as_string(hide_password=False)
