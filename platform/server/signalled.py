"""A server that ends in order by every signal that ends commands."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn


class SignalledServer(uvicorn.Server):
    """uvicorn that a closed terminal ends as Ctrl-C does: by `shutdown`, which has time to store what is played."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ends the server by SIGHUP as by SIGINT and SIGTERM, which uvicorn takes; they are raised again at its end."""
        with super().capture_signals():
            is_main = threading.current_thread() is threading.main_thread()  # which alone may take signals
            if not is_main or signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # nohup has it ignored
                yield
                return
            before = signal.signal(signal.SIGHUP, self.handle_exit)
            try:
                yield
            finally:
                signal.signal(signal.SIGHUP, before)
