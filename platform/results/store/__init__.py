"""The results database: runs, matches, repeated searches, curves of training, locks and progress."""

import os

from ...core.errors import UserError

Place = str | os.PathLike[str] | None  # of a store: its URL or file; None = the default of commands and scripts
STORE_VARIABLE = "TURNIER_STORE"  # environment: the URL of the default store
DEFAULT_URL = "sqlite:///turnier.db"  # if the variable is not set


def default_url() -> str:
    """Returns the URL of the default store."""
    return os.environ.get(STORE_VARIABLE) or DEFAULT_URL


def url_of(place: Place) -> str:
    """Returns the URL or file that a place names; raises UserError if it is something else."""
    if not isinstance(place, str | os.PathLike | None):
        raise UserError(f"a store is named by a file or a URL, got {place!r}; write one, such as turnier.db.")
    return default_url() if place is None else os.fspath(place)
