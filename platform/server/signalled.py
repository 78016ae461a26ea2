"""A server that ends in an orderly way by every signal that ends commands."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn


class SignalledServer(uvicorn.Server):
    """uvicorn that a closed terminal ends like Ctrl-C: by `shutdown`, with time to store unfinished games."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handles SIGHUP like SIGINT and SIGTERM, which uvicorn catches; they are raised again at its end."""
        with super().capture_signals():
            is_main = threading.current_thread() is threading.main_thread()  # only it may handle signals
            if not is_main or signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # nohup ignores it
                yield
                return
            before = signal.signal(signal.SIGHUP, self.handle_exit)
            try:
                yield
            finally:
                signal.signal(signal.SIGHUP, before)
