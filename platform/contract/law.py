"""Laws: functions of a subject, such as an agent and a game, that raise `LawBroken` with a sentence."""

from __future__ import annotations

import importlib.util
import linecache
import os
import re
import traceback
from collections.abc import Callable, Iterable
from typing import Any

from ..core.errors import UserError
from ..games.game import Game

Law = Callable[..., None]

_NUMBA = importlib.util.find_spec("numba")
OURS = (os.path.dirname(os.path.dirname(__file__)), os.path.dirname(str(_NUMBA and _NUMBA.origin)), "<")
COMPILER = "Failed in nopython mode pipeline (step: nopython frontend) "
LONGEST = 300  # characters of an exception's message


class LawBroken(AssertionError):
    """A sentence with the rule, the value that broke it, and the place."""


def name_of(law: Law) -> str:
    """Returns a law's name for people: `law_games_end` is "games end"."""
    return law.__name__.removeprefix("law_").replace("_", " ")


def check(law: Law, *subject: Any) -> None:
    """Checks one law; failures of games in Python that were kept inside compiled code are raised as well."""
    law(*subject)
    for each in subject:
        if isinstance(each, Game):
            each.raise_failure()


def check_laws(laws: Iterable[Law], *subject: Any) -> None:
    """Checks every law on the subject; raises LawBroken with one line per broken law."""
    failures: dict[str, Exception] = {}
    for law in laws:
        try:
            check(law, *subject)
        except Exception as error:
            failures[law.__name__] = error
    if failures:
        name = " in ".join(map(str, subject))
        lines = [f"{law} is broken by {name}: {sentence_of(error)}" for law, error in failures.items()]
        raise LawBroken("\n".join(lines)) from next(iter(failures.values()))


def sentence_of(error: BaseException) -> str:
    """Returns the sentence of a broken law; for an exception in somebody's code, its message and place."""
    if isinstance(error, LawBroken):
        return str(error)
    if isinstance(error, UserError):
        return str(error) + (f" ({_place(error.__cause__)})" if error.__cause__ else "")
    said = " ".join(str(error).partition('File "')[0].split()).removeprefix(COMPILER)
    said = f"{said[:LONGEST]}..." if len(said) > LONGEST else said
    return f"no exception may be raised, got {type(error).__name__}: {said} ({_place(error)})"


def _place(error: BaseException) -> str:
    """Returns the last line that is not ours: from a compiler's message if that names one, else from the traceback."""
    named = re.findall(r'File "([^"]+)", line (\d+)', str(error))
    raised = [(frame.filename, frame.lineno or 0) for frame in traceback.extract_tb(error.__traceback__)]
    places = [(file, int(line)) for file, line in named] + raised[::-1]
    theirs = [place for place in places if not place[0].startswith(OURS)]
    file, line = (theirs or places)[0]
    code = linecache.getline(file, line).strip()
    return f"{file}, line {line}: {code}" if code else f"{file}, line {line}"
