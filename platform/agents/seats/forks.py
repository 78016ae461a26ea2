"""The referee's end of the process from which seats are forked, one for each process that plays."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from typing import Any

from ...core.errors import UserError
from ..engines.guard import GUARD
from .failure import SeatsEnded

START_SECONDS = 120.0  # to load the modules shared by seats, on a busy machine
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Forks:
    """Starts and ends seats' processes; threads share it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket
        self._pids: set[int] = set()  # of the processes that it has started
        self._owner = 0  # the process that started it; forks of that one have another number

    def fork(self, game: str) -> tuple[int, socket.socket]:
        """Returns a new process, with the rules of a game of ours loaded ("" = none), and its connection."""
        ours, theirs = socket.socketpair()
        with theirs:
            answer = self._asked({"fork": game}, theirs.fileno())
        if "failed" in answer:
            ours.close()
            raise SeatsEnded(f"a process for an agent of others must start here, got {answer['failed']}; free some.")
        pid = int(answer["pid"])
        GUARD.add(pid)
        self._pids.add(pid)
        return pid, ours

    def why(self, pid: int) -> str:
        """Returns how a process ended, as the end of a sentence; raises UserError if all have ended together."""
        if pid not in self._pids or not self._runs():
            raise _ended("they have ended together")
        return str(self._asked({"why": pid})["why"])

    def end(self, pid: int) -> None:
        """Ends a process and its descendants."""
        if pid in self._pids and self._runs():
            with contextlib.suppress(UserError):  # it has then ended with all others
                self._asked({"end": pid})
        self._pids.discard(pid)
        GUARD.remove(pid)

    def close(self) -> None:
        """Ends the process and all seats' processes with it; the next seat starts another."""
        with self._lock:
            if self._process is not None and self._owner == os.getpid():
                self._control.close()
                self._process.wait()
            self._process = None

    def _asked(self, request: dict[str, Any], *ends: int) -> dict[str, Any]:
        with self._lock:
            try:
                self._start()
                socket.send_fds(self._control, [json.dumps(request).encode() + b"\n"], ends)
                answer: dict[str, Any] = json.loads(self._line())
                return answer
            except OSError as failure:
                self._drop()
                raise _ended(str(failure)) from None
            except BaseException:  # nothing would wait for a late answer
                self._drop()
                raise

    def _drop(self) -> None:
        """Ends the process at once, which ends its children."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._control.close()
        self._process = None

    def _runs(self) -> bool:
        return self._process is not None and self._process.poll() is None and self._owner == os.getpid()

    def _start(self) -> None:
        if self._runs():
            return
        self._pids.clear()
        self._control, theirs = socket.socketpair()
        self._control.settimeout(START_SECONDS)
        with theirs:
            command = [sys.executable, "-m", "turnier.agents.seats.server", str(theirs.fileno())]
            self._process = subprocess.Popen(
                command,
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=2,  # results of ours go to standard output
                start_new_session=True,
                env={**os.environ, **_ONE_THREAD, "PYTHONUNBUFFERED": "1"},
            )
        self._owner = os.getpid()
        self._line()  # it is ready

    def _line(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            data = self._control.recv(1 << 16)
            if not data:
                raise ConnectionResetError("its end")
            line += data
        return line


def _ended(why: str) -> SeatsEnded:
    return SeatsEnded(
        f"the process from which seats of others' agents are forked is gone ({why}): an agent may have ended it;"
        " repeat the command."
    )


FORKS = Forks()
