"""The one error that users see: a sentence with the rule, the value that broke it, and the remedy."""

from __future__ import annotations

import difflib
import importlib.util
import os
from collections.abc import Iterable
from pathlib import Path

# Errors of parsing data that do not have the expected form, such as a damaged line of JSON.
MALFORMED = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)
NEAR = 0.65  # from "rya" to "ray", not from "bayes" to "cmaes"
MAX_GAMES = 10**12  # in work that plans its games one after another
MAX_IN_MEMORY = 10**6  # games, searches or positions in work that has all of them in memory
MAX_WORKERS = 10_000


class UserError(Exception):
    """A mistake that the user can fix; its text is shown as it is, without a traceback, in notebooks too."""

    def _render_traceback_(self) -> list[str]:
        """Returns the lines that IPython shows."""
        return [f"{type(self).__name__}: {self}"]


class AgentsFailed(UserWarning):
    """The warning that games were lost because an agent failed, or are void; the terminal prints the same text."""


def require_extra(what: str, extra: str, *modules: str) -> None:
    """Raises UserError if a module of an optional extra is missing; imports nothing.

    Args:
        what: feature that needs the extra, in the singular, such as "turnier show --html".
        extra: name of the extra.
        modules: as they are imported.
    """
    missing = next((name for name in modules if importlib.util.find_spec(name) is None), "")
    if missing:
        raise UserError(f"{what} needs {missing}: pip install 'turnier[{extra}]'")


def unknown(kind: str, name: str, names: Iterable[str]) -> UserError:
    """Returns the error for a name that does not exist, with the closest one that does."""
    known = sorted(names)
    hint = nearest(name, known) or f"there are: {', '.join(known)}."
    return UserError(f"There is no {kind} named {name!r}; {hint}")


def other_digest(what: str, path: Path | str, wanted: str, got: str) -> UserError:
    """Returns the error for a file that has changed since an agent was named by its digest."""
    return UserError(
        f"{what} in {path} must have the digest {wanted}, got {got}; leave the digest out to play with the file as it"
        " is now."
    )


def nearest(name: str, names: Iterable[str]) -> str:
    """Returns a question with the closest of the names; empty if none is close."""
    by_lower = {each.lower(): each for each in sorted(names)}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=NEAR)
    return f"did you mean {by_lower[close[0]]}?" if close else ""


def require_at_most(maximum: int, number: int, what: str) -> None:
    """Raises UserError if a number is absurdly large; `what` is plural, such as "games of a tournament"."""
    if number > maximum:
        raise UserError(f"there must be at most {maximum:,} {what}, got {number:,}; choose fewer.")


def require_regular_file(path: Path, what: str, or_pipe: bool = False) -> None:
    """Raises UserError for devices and pipes, which may never end; missing files are left to the reader."""
    if os.path.exists(path) and not os.path.isfile(path) and not (or_pipe and path.is_fifo()):
        raise UserError(f"{what} must be a file, got {path}, which is not one; name a file.")
