"""Serves optuna-dashboard on a store's studies next to our own pages; it reads and cannot change anything."""

from __future__ import annotations

import threading
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from turnier.results.store.store import Store
from turnier.search.storage.studies import read_only_storage

HOST = "127.0.0.1"
OFFSET = 100  # its port is that of the pages plus this, so that both can be forwarded


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


class _OpenedLate:
    """Opens the storage at the first request, so that pages that only link to it open at once."""

    def __init__(self, store: Store) -> None:
        self._store, self._lock = store, threading.Lock()
        self._application: Any = None

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        with self._lock:
            if self._application is None:
                from optuna_dashboard import wsgi

                self._application = wsgi(read_only_storage(self._store))
        return self._application(environ, start_response)


def serve_optuna_dashboard(store: Store, port: int) -> str:
    """Serves it from a thread of this process at a port of this machine; returns its address."""
    try:
        server = make_server(HOST, port, _OpenedLate(store), server_class=_Server, handler_class=_Quiet)
    except (OSError, OverflowError):  # taken, or no port: another one is better than none, if only on this machine
        server = make_server(HOST, 0, _OpenedLate(store), server_class=_Server, handler_class=_Quiet)
    threading.Thread(target=server.serve_forever, name="optuna-dashboard", daemon=True).start()
    return f"http://{HOST}:{server.server_port}/dashboard"
