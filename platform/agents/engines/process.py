"""One engine's process: lines in and out, each with a deadline, and the end of its whole process group."""

from __future__ import annotations

import contextlib
import math
import os
import select
import shlex
import signal
import subprocess
import time
from collections import deque
from collections.abc import Sequence
from typing import IO, Any

from ...core.errors import UserError
from ...core.number_text import signal_name
from ..seats.failure import Ending, SeatFailure
from .guard import GUARD

MAX_LINE = 1 << 20  # bytes; an engine's longest line of analysis is far shorter
MAX_ERRORS = 3  # last lines of standard error that a failure quotes
MAX_ERROR = 300  # characters of each
_LOOK_SECONDS = 0.1  # between two checks that the process lives
_CHUNK = 1 << 16
_END_SECONDS = 0.3  # to end after being asked to
_STALE_CHUNKS = 64  # of unasked output that are read at once
# Makes Python write at once, for bots that do not flush; a setting of the user stays.
_UNBUFFERED = {"PYTHONUNBUFFERED": "1"}


class EngineProcess:
    """A running engine; every method raises SeatFailure if it has ended or exceeds its time.

    Output is read only while an answer is awaited, so an engine that floods us has to wait and does not fill our
    memory. Standard error is read along with it, and its last lines are kept. A resting engine is stopped with its
    whole process group until it is woken: it takes no time from the seat to move.
    """

    def __init__(self, command: str) -> None:
        """Starts an engine; raises UserError if there is no such program."""
        self.command = command
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        try:
            self._process = subprocess.Popen(
                shlex.split(command), start_new_session=True, bufsize=0, env=_UNBUFFERED | os.environ, **pipes
            )
        except (OSError, ValueError) as failure:
            reason = getattr(failure, "strerror", None) or failure
            raise UserError(f"the engine {command!r} does not start: {reason}; fix its command.") from None
        GUARD.add(self._process.pid)
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._in, self._out, self._errors = self._process.stdin, self._process.stdout, self._process.stderr
        for pipe in (self._in, self._out, self._errors):
            os.set_blocking(pipe.fileno(), False)
        self._waiting: deque[str] = deque()  # lines read but not taken
        self._part = b""
        self._error_lines: deque[str] = deque(maxlen=MAX_ERRORS)
        self._error_part = b""
        self._ended = self._rests = False
        self._overdue = 0.0  # the latest deadline after which something was read

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return not self._ended and self._process.poll() is None

    def write(self, line: str, deadline: float) -> None:
        """Sends a line before a time of `time.monotonic`."""
        data = line.encode() + b"\n"
        while data:
            if not _ready([self._in], select.POLLOUT, deadline - time.monotonic()):
                raise self.failure(Ending.STALLED, "does not read what is sent to it")
            try:
                data = data[os.write(self._in.fileno(), data) :]
            except BlockingIOError:
                continue
            except OSError:
                raise self._crash() from None

    def read(self, deadline: float) -> str | None:
        """Returns the next line without its end; None if none comes before a time of `time.monotonic`.

        Output written in time may be read a little later, but only once: otherwise a flood of lines would never end.
        """
        while not self._waiting:
            left = deadline - time.monotonic()
            if left <= 0:
                if self._overdue == deadline:
                    return None
                self._overdue = deadline
            pipes = [self._out] if self._errors.closed else [self._out, self._errors]
            ready = _ready(pipes, select.POLLIN, min(left, _LOOK_SECONDS))
            if self._errors in ready:
                self._read_errors()
            if self._out in ready:
                self._read_lines()
            elif not ready and self._process.poll() is not None:
                raise self._crash()  # its children may hold its output open
            elif not ready and left <= 0:
                return None
        return self._waiting.popleft()

    def take_unread(self) -> list[str]:
        """Returns the unread lines that have come, without waiting."""
        for _ in range(_STALE_CHUNKS):
            if not _ready([self._out], select.POLLIN, 0.0):
                break
            self._read_lines()
        lines = list(self._waiting)
        self._waiting.clear()
        return lines

    def rest(self) -> None:
        """Stops the whole process group until `wake`."""
        if not self._rests and self.alive:
            self._rests = True
            self._signal(signal.SIGSTOP)

    def wake(self) -> None:
        """Continues the process group; it reads nothing before."""
        if self._rests:
            self._rests = False
            if self.alive:
                self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def close_input(self) -> None:
        """Closes the engine's input."""
        self._in.close()

    def exit_code(self, seconds: float) -> int | None:
        """Returns the engine's exit code; None if it still runs after that many seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        return None

    def _read_lines(self) -> None:
        data = os.read(self._out.fileno(), _CHUNK)
        if not data:
            raise self._crash()
        *lines, self._part = (self._part + data).split(b"\n")
        self._waiting.extend(line.decode("utf-8", "replace").rstrip("\r") for line in lines)
        if len(self._part) > MAX_LINE:
            raise self.failure(Ending.CRASHED, f"writes a line of more than {MAX_LINE:,} bytes")

    def _read_errors(self) -> None:
        with contextlib.suppress(BlockingIOError):
            data = os.read(self._errors.fileno(), _CHUNK)
            if not data:
                self._errors.close()
            *lines, rest = (self._error_part + data).split(b"\n")
            self._error_part = rest[-MAX_ERROR:]
            self._error_lines.extend(line.decode("utf-8", "replace").strip() for line in lines if line.strip())

    def _crash(self) -> SeatFailure:
        """Returns the failure of an engine that has closed its output."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        if not self._errors.closed:
            self._read_errors()
        code = self._process.returncode
        how = "closed its output" if code is None else f"ended with the exit code {code}"
        if code is not None and code < 0:
            how = f"was ended by {signal_name(-code)}"
        return self.failure(Ending.CRASHED, how)

    def failure(self, ending: Ending, what: str) -> SeatFailure:
        """Returns a failure as a sentence, with the last lines of standard error."""
        last = [line[:MAX_ERROR] for line in (*self._error_lines, self._error_part.decode("utf-8", "replace")) if line]
        said = f"; it said: {' | '.join(last[-MAX_ERRORS:])}" if last else ""
        return SeatFailure(ending, f"the engine {self.command!r} {what}{said}")

    def end(self, farewell: str = "") -> None:
        """Ends the whole process group, stopped processes too; first sends the farewell, if any."""
        if self._ended:
            return
        self._ended = True
        if farewell and self._process.poll() is None:
            if self._rests:
                self._signal(signal.SIGCONT)
            with contextlib.suppress(OSError, SeatFailure):
                self.write(farewell, time.monotonic())
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_SECONDS)
        self._signal(signal.SIGKILL)  # the group may live on without its first process
        self._process.wait()
        GUARD.remove(self.pid)
        for pipe in (self._in, self._out, self._errors):
            with contextlib.suppress(OSError):
                pipe.close()


def _ready(pipes: Sequence[IO[bytes]], event: int, seconds: float) -> list[IO[bytes]]:
    """Returns the pipes that can be read or written within some seconds; `select` knows only 1,024 files."""
    poll, of_number = select.poll(), {pipe.fileno(): pipe for pipe in pipes}
    for number in of_number:
        poll.register(number, event)
    return [of_number[number] for number, _ in poll.poll(math.ceil(1000 * max(0.0, seconds)))]
