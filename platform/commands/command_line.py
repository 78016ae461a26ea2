"""Shared by all command lines: a mistake becomes one sentence, and Ctrl-C or a termination signal stops at once.

Importing this module installs the signal handler, which then works during later imports too.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, cast

import typer

from ..core.compilation.garbage import collect_later
from ..core.errors import UserError
from ..core.terminal.visible import say, visible, without_passwords
from ..results.store import STORE_VARIABLE, default_url
from ..results.store.manifest import started_with
from ..runs.declared.kinds import KINDS

STORED = "finished games are stored"
# The parent of all option errors; typer does not export it.
_WRONG_USE = cast(type[typer.BadParameter], typer.BadParameter.__mro__[2])
PATIENCE = 1.0  # seconds in which the main thread may answer a signal
LAST_WORDS = 3.0  # seconds in which a store may take the reason why a run stops
SHOW_CURSOR = "\x1b[?25h"  # a progress bar may have hidden it


def run_app(app: typer.Typer) -> None:
    """Runs a command line; a user's mistake is one sentence on standard error and exit code 2."""
    collect_later()  # after the imports
    try:
        _require_text(sys.argv[1:])
        words = with_stored_versions(sys.argv[1:])
        started_with([sys.argv[0], *words])
        _warn_of_passwords(words)
        code = app(words, standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except UserError as error:
        say(f"Error: {error}", errors=True)
        sys.exit(2)
    except _WRONG_USE as error:
        told = io.StringIO()
        error.show(told)
        say(told.getvalue().rstrip("\n"), errors=True)
        sys.exit(error.exit_code)
    except typer.Abort:
        if _received is not None:  # it waited until games were stored
            _end(_received)
        say("Aborted.", errors=True)
        sys.exit(1)
    finally:
        gc.freeze()  # spares a last garbage collection, which takes seconds after a large search


def _require_text(words: Iterable[str]) -> None:
    """Raises UserError for arguments that are not UTF-8: no database could store them."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise UserError(f"arguments must be UTF-8, got {os.fsencode(word)!r}; use a name in UTF-8.") from None


def _warn_of_passwords(words: Iterable[str]) -> None:
    """Warns once of a password on the command line, which every user of the machine can read there."""
    if any(without_passwords(word) != word for word in words):
        say(
            "Warning: the password of a URL on the command line is visible to all users of this machine;"
            f" set {STORE_VARIABLE} or PGPASSWORD instead, or use ~/.pgpass.",
            errors=True,
        )


def in_this_environment(program: str) -> str:
    """Returns the path of a program beside the running Python, such as .venv/bin/optuna-dashboard."""
    path = Path(sys.executable).with_name(program)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


class _Saver(NamedTuple):
    stop: Callable[[], bool]
    stored: Callable[[], str]


@contextlib.contextmanager
def saving(stop: Callable[[], bool], stored: Callable[[], str] = lambda: STORED) -> Iterator[None]:
    """The first signal lets the block save its work; a second one ends the process.

    Args:
        stop: makes the block end soon with KeyboardInterrupt; returns False if there is nothing to save.
        stored: returns the part of the last sentence that says what is stored.
    """
    global _saver
    _saver = _Saver(stop, stored)
    try:
        yield
    except KeyboardInterrupt:
        _end(signal.SIGINT if _received is None else _received)
    finally:
        _saver = None


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Ends the process if the block takes longer, like a signal but with exit code 0."""
    timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), _stop, (0, None))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _stop(signal_number: int, frame: FrameType | None) -> None:
    """Ends the process, or on the first signal lets `saving` save its work.

    The store is as safe as after a kill: it holds whole batches. An exception would be swallowed in callbacks and would
    wait for compiled code.
    """
    if signal_number in _overtaken:  # by the thread that watches
        _overtaken.remove(signal_number)
        return
    _answered.set()
    _stop_now(signal_number)


def _stop_now(signal_number: int) -> None:
    global _received
    first, _received = _received is None, signal_number
    if progress := _progress():
        progress.end_by_signal(signal_number)
    if not (first and ((_saver and _saver.stop()) or _stops_soon())):
        _end(signal_number)


def _stops_soon() -> bool:
    """Whether threads store games first that are over, but wait for others of their batch."""
    threads = sys.modules.get("turnier.arena.workers.local")
    return threads is not None and threads.stop_soon()


def _watch(pipe: int) -> None:
    """Answers signals for the main thread while that is in compiled code, perhaps in a decision that takes hours.

    Python calls handlers only between its own instructions, but writes the numbers of signals to a pipe at once.
    """
    while received := os.read(pipe, 1):
        number = received[0]
        if signal.getsignal(number) is _stop and not _answered.wait(PATIENCE):
            _overtaken.append(number)
            _stop_now(number)
        _answered.clear()


def _end(signal_number: int) -> None:
    """Ends the process, and says how to resume its run if it has one."""
    is_script = _words[0].endswith(".py")
    sentence = "Stopped."
    resumable = {"spe_ed", *(declared.command for declared in KINDS.values())}
    if is_script or (_words[1:2] and _words[1] in resumable and _words[2:3] != ["join"]):
        program = [in_this_environment("python"), _words[0]] if is_script else ["turnier"]
        command = shlex.join([*program, *map(without_passwords, _words[1:])])
        stored = _saver.stored() if _saver else STORED
        sentence = f"Stopped; {stored}. To resume, type: {command}"
    cursor = SHOW_CURSOR if sys.stderr.isatty() else ""
    os.write(2, f"{cursor}\n{visible(sentence)}\n".encode())
    try:
        _end_stores()
    finally:
        os._exit(128 + signal_number if signal_number else 0)


def _end_stores() -> None:
    """Merges each written store into one file, and stores why its runs stop; another signal does not wait for that."""
    logs, progress = sys.modules.get("turnier.results.databases.logs"), _progress()
    if logs is not None and not _ending:
        _ending.append(True)
        logs.end_all_at_once()
        if progress is not None:  # on another thread: this one may have stopped in the middle of anything
            last_words = threading.Thread(target=progress.end_all_at_once, daemon=True)
            last_words.start()
            last_words.join(LAST_WORDS)


def _progress() -> Any:
    """Returns the module that knows which runs this process drives; None if it has not been needed."""
    return sys.modules.get("turnier.results.store.progress")


_saver: _Saver | None = None
_ending: list[bool] = []  # whether the stores are being closed
_received: int | None = None  # the last signal; 0 if the time was over
_answered = threading.Event()  # by the main thread
_overtaken: list[int] = []  # signals that the main thread will see later, but that have been answered
_words = list(sys.argv)  # a copy: libraries change sys.argv
for _number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if _number == signal.SIGINT or signal.getsignal(_number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
        signal.signal(_number, _stop)
_seen, _written = os.pipe()
os.set_blocking(_written, False)
signal.set_wakeup_fd(_written, warn_on_full_buffer=False)
os.register_at_fork(after_in_child=lambda: signal.set_wakeup_fd(-1))
threading.Thread(target=_watch, args=(_seen,), daemon=True).start()


def with_stored_versions(words: Sequence[str]) -> list[str]:
    """Returns the words of a command line, with versions of others' code looked up in the command's store."""
    named = [word for word in words if ":" in word.partition("@")[0] and "@" in word and "://" not in word]
    if not named:
        return list(words)
    from ..results.store.database import NoResults
    from ..results.store.store import Store
    from ..results.versions import PREVIOUS, recall

    try:
        with Store.open(_store_of(words), read_only=True) as store:
            return [recall(store, word) if word in named else word for word in words]
    except NoResults:
        if any(f"@{PREVIOUS}" in word for word in named):
            raise
        return list(words)  # a git revision, or a version that this machine knows


def _store_of(words: Sequence[str]) -> str:
    """Returns the URL of the store that a command line names."""
    for word, following in zip(words, (*words[1:], ""), strict=True):
        if word == "--store":
            return following
        if word.startswith("--store="):
            return word.removeprefix("--store=")
    return default_url()
