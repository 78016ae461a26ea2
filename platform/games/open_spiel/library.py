"""OpenSpiel's library `pyspiel`; its errors become sentences, and its crashes happen in a trial process."""

from __future__ import annotations

import contextlib
import functools
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from ...core.errors import UserError, require_extra, unknown
from . import trial

TRIAL_SECONDS = 30.0  # for a random game in a process of its own


def pyspiel() -> Any:
    """Returns the module; raises UserError if it is not installed."""
    require_extra("a game or bot of OpenSpiel", "openspiel", "pyspiel")
    import pyspiel

    return pyspiel


@contextlib.contextmanager
def spiel_errors(what: str) -> Iterator[None]:
    """Turns pyspiel's errors into a UserError that begins with `what`."""
    try:
        yield
    except pyspiel().SpielError as error:
        raise _misfit(what, str(error)) from None


def _misfit(what: str, message: str) -> UserError:
    return UserError(f"{what} must fit OpenSpiel, got its error: {' '.join(message.split()).rstrip('.')}.")


@functools.lru_cache(maxsize=16)  # some take a hundred megabytes
def load_game(text: str) -> Any:
    """Returns pyspiel's game for a text such as connect_four(rows=4), converted so that seats move in turn."""
    library, what = pyspiel(), f"openspiel: game={text}"
    name, brackets, _ = text.partition("(")
    types = {each.short_name: each for each in library.registered_games()}
    if name not in types:
        raise unknown("game of OpenSpiel", name, types)
    if brackets:
        _try(text, what)
    with spiel_errors(what):
        game = library.load_game(text)
        if game.get_type().dynamics == library.GameType.Dynamics.SIMULTANEOUS:
            game = library.convert_to_turn_based(game)
    return game


def _try(text: str, what: str) -> None:
    """Plays a random game in another process: wrong sizes can crash the library, or make it run for ever."""
    try:
        done = subprocess.run(
            [sys.executable, trial.__file__, text], capture_output=True, text=True, timeout=TRIAL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise UserError(
            f"{what} must end within {TRIAL_SECONDS:g} s of random play, got no end; change its parameters."
        ) from None
    if done.returncode == trial.REFUSED:
        raise _misfit(what, done.stdout)
    if done.returncode:
        raise UserError(f"{what} must be playable, got a crash of OpenSpiel in a trial; change its parameters.")
