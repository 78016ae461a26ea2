"""The one error that users see: a sentence that says what must hold, what was got and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# What taking data apart raises that are not of the expected form, such as a damaged line of JSON.
MALFORMED = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)
NEAR = 0.65  # from "rya" to "ray", not from "bayes" to "cmaes"


class UserError(Exception):
    """A mistake that the user can fix; its text is shown as it is, without a traceback."""


def unknown(kind: str, name: str, names: Iterable[str]) -> UserError:
    """Returns the error for a name that does not exist, with the closest that does."""
    known = sorted(names)
    by_lower = {each.lower(): each for each in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=NEAR)
    hint = f"did you mean {by_lower[close[0]]}?" if close else f"there are: {', '.join(known)}."
    return UserError(f"There is no {kind} named {name!r}; {hint}")
