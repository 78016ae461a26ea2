"""Serves optuna-dashboard on a store's studies next to our own pages; it reads and cannot change anything."""

from __future__ import annotations

import re
import threading
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from turnier.results.store.store import Store
from turnier.search.storage.studies import read_only_storage
from turnier.server.board.serving import hosts_of

HOST = "127.0.0.1"
OFFSET = 100  # from the port of the pages to its own, so both can be forwarded
CONNECTIONS = 50  # at a time, each on a thread
SILENT_SECONDS = 10.0  # until a silent connection is closed


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def __init__(self, *words: Any) -> None:
        super().__init__(*words)
        self._free = threading.BoundedSemaphore(CONNECTIONS)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._free.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Prints nothing: a connection was silent or lost; the application reports its own failures."""


class _Quiet(WSGIRequestHandler):
    timeout = SILENT_SECONDS

    def log_message(self, format: str, *args: Any) -> None:
        pass


class _OpenedLate:
    """Opens the storage at the first request, so pages that only link to it open at once.

    Only reading requests for names of this machine reach it: other names belong to foreign pages that made them point
    here.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._lock = store, threading.Lock()
        self._application: Any = None

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        host = re.sub(r":\d*$", "", environ.get("HTTP_HOST", ""))  # a forwarded port is another one
        if host.lower() not in hosts_of(HOST):
            return _refused(start_response, "400 Bad Request", f"this server must be asked for as {HOST}")
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return _refused(start_response, "405 Method Not Allowed", "the studies are read-only here")
        with self._lock:
            if self._application is None:
                from optuna_dashboard import wsgi

                self._application = wsgi(read_only_storage(self._store))
        return self._application(environ, start_response)


def _refused(start_response: Any, status: str, sentence: str) -> list[bytes]:
    allowed = [("Allow", "GET, HEAD")] if status.startswith("405") else []
    start_response(status, [("Content-Type", "text/plain; charset=utf-8"), *allowed])
    return [f"{sentence}.\n".encode()]


def serve_optuna_dashboard(store: Store, port: int) -> str:
    """Serves it from a thread of this process at a port of this machine; returns its address."""
    try:
        server = make_server(HOST, port, _OpenedLate(store), server_class=_Server, handler_class=_Quiet)
    except (OSError, OverflowError):  # taken, or no port: any other is better than none, at least on this machine
        server = make_server(HOST, 0, _OpenedLate(store), server_class=_Server, handler_class=_Quiet)
    threading.Thread(target=server.serve_forever, name="optuna-dashboard", daemon=True).start()
    return f"http://{HOST}:{server.server_port}/dashboard"
