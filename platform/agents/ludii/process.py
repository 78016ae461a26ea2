"""A program that answers a line with a line, with deadlines; whatever it has started ends with it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Sequence
from typing import BinaryIO

LAST_LINES = 3  # of its error output, which a failure tells
PATIENCE = 1.0  # seconds for a program that has been told to quit


class ProgramFailure(Exception):
    """A program that ended, kept silent or answered nonsense, as a sentence."""


class LineProgram:
    """A running program of which one asks a line at a time."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self.name = name
        self._errors: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # a group of its own, which is ended whole
        )
        self._buffer = b""
        self.close = weakref.finalize(self, _end, self._process, self._errors)

    @property
    def alive(self) -> bool:
        return bool(self.close.alive) and self._process.poll() is None

    def ask(self, line: str, seconds: float) -> str:
        """Returns the answer to a line; raises ProgramFailure, and ends the program, where none comes in time."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise self._failure("ended") from None
        return self._answer(time.monotonic() + seconds, seconds)

    def _answer(self, deadline: float, seconds: float) -> str:
        assert self._process.stdout is not None
        out = self._process.stdout.fileno()
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([out], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise self._failure(f"did not answer within {seconds:g} s")
            read = os.read(out, 1 << 16)
            if not read:
                raise self._failure("ended")
            self._buffer += read
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode(errors="replace").rstrip("\r")

    def _failure(self, what: str) -> ProgramFailure:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.2 if what == "ended" else 0)  # so that its last words and exit code are there
        said = _last_lines(self._errors)
        code = self._process.poll()
        _kill_group(self._process)
        self.close()
        ending = f" with exit code {code}" if code is not None else ""
        return ProgramFailure(f"{self.name} {what}{ending}" + (f"; its last lines: {said}" if said else ""))


def _last_lines(errors: BinaryIO) -> str:
    errors.seek(0)
    lines = [line.strip() for line in errors.read().decode(errors="replace").splitlines()]
    return " / ".join([line for line in lines if line][-LAST_LINES:])


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes], errors: BinaryIO) -> None:
    """Ends a program and everything in its process group."""
    assert process.stdin is not None and process.stdout is not None
    with contextlib.suppress(OSError):
        process.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(PATIENCE if process.poll() is None else 0)
    _kill_group(process)
    process.wait()
    process.stdout.close()
    errors.close()
