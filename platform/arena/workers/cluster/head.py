"""Checks that the head of a Ray cluster answers: without it, Ray ends this process silently after a minute."""

from __future__ import annotations

import os
import socket
import threading
import time

from ....core.errors import UserError
from ....core.terminal.visible import say

LOCAL = "local"  # the address of a Ray that a driver starts for itself
PROBE_SECONDS = 3.0
HEAD_SECONDS = 25.0  # of silence; Ray gives up after 60
GRACE_SECONDS = 10.0  # further silence before ending the process: its main thread may hang in a call of Ray


class HeadMonitor:
    """Asks the head's port every few seconds, on a thread of its own."""

    def __init__(self, address: str, port: str) -> None:
        """`address` is the cluster's name for the user, `port` the HOST:PORT of its control service."""
        self._address = address
        host, _, number = port.rpartition(":")
        self._port = host.strip("[]"), int(number)
        # Not since the last answer: this process may have been stopped meanwhile, by Ctrl-Z.
        self._silent_since: float | None = None
        self._stopped = threading.Event()
        threading.Thread(target=self._probe, name="head of the cluster", daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()

    def is_gone(self) -> bool:
        return self._silence() > HEAD_SECONDS

    def _silence(self) -> float:
        """Returns the seconds since the head last answered."""
        since = self._silent_since
        return 0.0 if since is None else time.monotonic() - since

    def require(self) -> None:
        """Raises UserError if the head is silent."""
        if self.is_gone():
            raise UserError(self._sentence())

    def _sentence(self) -> str:
        is_ours = self._address == LOCAL
        name = "Ray on this machine" if is_ours else f"the head of the Ray cluster at {self._address}"
        cure = "" if is_ours else "start the cluster again and "
        return (
            f"{name} must answer, but it has been silent for {HEAD_SECONDS:.0f} s; {cure}repeat the command to resume."
        )

    def _probe(self) -> None:
        while not self._stopped.wait(PROBE_SECONDS):
            try:
                with socket.create_connection(self._port, timeout=PROBE_SECONDS):
                    self._silent_since = None
            except OSError:
                self._silent_since = self._silent_since or time.monotonic()
                if self._silence() > HEAD_SECONDS + GRACE_SECONDS and not self._stopped.is_set():
                    say(f"\nError: {self._sentence()}", errors=True)
                    os._exit(2)
