"""The process from which seats are forked: it has loaded their modules, so a start takes milliseconds.

`turnier.agents.seats.server FD` serves one referee over a socket, a line of JSON for each request. It has one
thread, keeps its children's output out of the referee's, and ends them and their descendants when they are no longer
needed or the referee is gone.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import select
import signal
import socket
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from ...core.number_text import signal_name
from ...games.registry import game_of
from .host import serve

SHOWN = 4_000  # bytes printed by a seat's process that people see
FLOOD = 4_000_000  # bytes; a process that prints more is ended
MAX_LINES, MAX_LINE = 3, 300  # of its last output
_CHUNK = 1 << 16
_WAIT = 2.0  # seconds for the end of a process that has closed its connection
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


@dataclass
class Child:
    """A seat's process."""

    output: int  # the reading end of its output
    code: int | None = None  # its exit code as `waitpid` tells it, negative for a signal
    printed: int = 0
    said: deque[str] = field(default_factory=lambda: deque(maxlen=MAX_LINES))
    rest: bytes = b""
    flooded: bool = False


class Server:
    """Forks, watches and ends seats' processes."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._children: dict[int, Child] = {}
        self._requests = b""
        self._ends: list[int] = []  # descriptors that came with requests

    def run(self) -> None:
        """Serves until the referee is gone."""
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        self._control.sendall(b"ready\n")
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        watched: set[int] = set()
        while True:
            outputs = {child.output: child for child in self._children.values() if child.output >= 0}
            for gone in watched - outputs.keys():
                with contextlib.suppress(KeyError, OSError):
                    poll.unregister(gone)
            for new in outputs.keys() - watched:
                poll.register(new, select.POLLIN)
            watched = set(outputs)
            for descriptor, _ in poll.poll(1000):
                if descriptor in outputs:
                    if outputs[descriptor].output == descriptor:  # a request of this round may have ended it
                        self._read_output(outputs[descriptor])
                elif not self._serve_requests():
                    self._end_all()
                    return
            self._reap()

    def _serve_requests(self) -> bool:
        """Answers the referee's requests; returns whether it is still there."""
        try:
            data, ends, _, _ = socket.recv_fds(self._control, _CHUNK, 8)
        except OSError:
            return False
        self._ends += ends
        if not data:
            return False
        *lines, self._requests = (self._requests + data).split(b"\n")
        for line in lines:
            answer = self._answer(json.loads(line))
            try:
                self._control.sendall(json.dumps(answer).encode() + b"\n")
            except OSError:
                return False
        return True

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if "fork" in request:
            with contextlib.suppress(Exception):  # the child then reports the error
                if request["fork"]:
                    _ = game_of(request["fork"]).kernels
            end = self._ends.pop(0)
            try:
                return {"pid": self._fork(end)}
            except OSError as failure:
                os.close(end)
                return {"failed": str(failure)}
        if "why" in request:
            return {"why": self._why(int(request["why"]))}
        self._end(int(request["end"]))
        return {}

    def _fork(self, end: int) -> int:
        reading, writing = os.pipe()
        gc.collect()
        gc.freeze()  # so that children do not touch shared memory
        try:
            pid = os.fork()
        except OSError:
            os.close(reading)
            os.close(writing)
            raise
        if pid == 0:
            try:
                self._become_seat(end, writing)
            finally:
                os._exit(0)
        os.close(end)
        os.close(writing)
        os.set_blocking(reading, False)
        self._children[pid] = Child(reading)
        return pid

    def _become_seat(self, end: int, writing: int) -> None:
        """Continues as a seat's process, with nothing of the others'."""
        os.setsid()
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((nothing, 0), (writing, 1), (writing, 2)):
            os.dup2(source, target)
        for descriptor in {int(name) for name in os.listdir("/dev/fd")} - {0, 1, 2, end}:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        serve(socket.socket(fileno=end))

    def _read_output(self, child: Child) -> None:
        try:
            data = os.read(child.output, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            os.close(child.output)
            child.output = -1
            return
        if child.printed < SHOWN:
            with contextlib.suppress(OSError):
                os.write(2, data[: SHOWN - child.printed])
        child.printed += len(data)
        *lines, rest = (child.rest + data).split(b"\n")
        child.rest = rest[-MAX_LINE:]
        child.said.extend(line.decode("utf-8", "replace").strip()[:MAX_LINE] for line in lines if line.strip())
        if child.printed > FLOOD and not child.flooded:
            child.flooded = True
            _kill(next(pid for pid, known in self._children.items() if known is child))

    def _reap(self) -> None:
        """Takes the exit codes of children, and ends the processes that they leave."""
        for pid, child in self._children.items():
            if child.code is None:
                with contextlib.suppress(ChildProcessError):
                    ended, status = os.waitpid(pid, os.WNOHANG)
                    if ended:
                        child.code = os.waitstatus_to_exitcode(status)
                        _kill(pid)
        for orphan in _children_of_this() - {pid for pid, child in self._children.items() if child.code is None}:
            with contextlib.suppress(OSError):
                os.kill(orphan, signal.SIGKILL)
                os.waitpid(orphan, 0)

    def _why(self, pid: int) -> str:
        """Returns how a process ended that has closed its connection, with its last output."""
        child = self._children.get(pid)
        if child is None:
            return "has ended"
        until = time.monotonic() + _WAIT
        while child.code is None and time.monotonic() < until:
            self._reap()
            time.sleep(0.002)
        while child.output >= 0 and select.select([child.output], [], [], 0)[0]:
            self._read_output(child)
        said = [*child.said, *([child.rest.decode("utf-8", "replace")] if child.rest else [])][-MAX_LINES:]
        return f"{_how(child)}; it said: {' | '.join(said)}" if said and not child.flooded else _how(child)

    def _end(self, pid: int) -> None:
        child = self._children.get(pid)
        if child is None:
            return
        if child.code is None:
            _kill(pid)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
        if child.output >= 0:
            os.close(child.output)
        del self._children[pid]
        self._reap()

    def _end_all(self) -> None:
        for pid in list(self._children):
            self._end(pid)


def _how(child: Child) -> str:
    if child.flooded:
        return f"printed more than {FLOOD:,} bytes"
    if child.code is None:
        return "closed its connection"
    if child.code < 0:
        return f"was ended by {signal_name(-child.code)}"
    return f"ended with the exit code {child.code}"


def _kill(group: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(group, signal.SIGKILL)


def _children_of_this() -> set[int]:
    """Returns the children of this process: its forks, and orphans of those; Linux only."""
    with contextlib.suppress(OSError), open(f"/proc/self/task/{os.getpid()}/children") as file:
        return set(map(int, file.read().split()))
    return set()


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Server(socket.socket(fileno=int(sys.argv[1]))).run()
