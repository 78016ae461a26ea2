"""Whether the head of a Ray cluster still answers: Ray itself would end this process after a minute, without a word."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time

from turnier.core.errors import UserError

PROBE_SECONDS = 3.0
HEAD_SECONDS = 25.0  # of silence; Ray gives up after 60
GRACE_SECONDS = 10.0  # in which calls of Ray that wait for the head may keep the driver from saying so itself


class HeadMonitor:
    """Asks the head's port every few seconds, on a thread of its own."""

    def __init__(self, address: str, port: str) -> None:
        """`address` is what the user calls the cluster, `port` HOST:PORT of its control service."""
        self._address = address
        host, _, number = port.rpartition(":")
        self._port = host.strip("[]"), int(number)
        self._heard = time.monotonic()
        self._stopped = threading.Event()
        threading.Thread(target=self._watch, name="head of the cluster", daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()

    def is_gone(self) -> bool:
        return time.monotonic() - self._heard > HEAD_SECONDS

    def require(self) -> None:
        """Raises UserError where the head is silent."""
        if self.is_gone():
            raise UserError(self._sentence())

    def _sentence(self) -> str:
        return (
            f"the head of the Ray cluster at {self._address} must answer, but it has been silent for"
            f" {HEAD_SECONDS:.0f} s; start the cluster again and repeat the command, which goes on where it stopped."
        )

    def _watch(self) -> None:
        while not self._stopped.wait(PROBE_SECONDS):
            try:
                with socket.create_connection(self._port, timeout=PROBE_SECONDS):
                    self._heard = time.monotonic()
            except OSError:
                if time.monotonic() - self._heard > HEAD_SECONDS + GRACE_SECONDS:
                    print(f"\nError: {self._sentence()}", file=sys.stderr, flush=True)
                    os._exit(2)
