"""The results database: runs, matches, repeated searches, curves of training, locks and progress."""

import os

from ...core.errors import UserError

Place = str | os.PathLike[str] | None  # of a store: its URL or file; None is the one of commands and scripts
STORE_VARIABLE = "TURNIER_STORE"  # environment: the URL of the store of commands and scripts that name none
DEFAULT_URL = "sqlite:///turnier.db"  # if that is not set


def default_url() -> str:
    """Returns the URL of the store of commands and scripts that name none."""
    return os.environ.get(STORE_VARIABLE) or DEFAULT_URL


def url_of(place: Place) -> str:
    """Returns the URL or file that a place names; raises UserError if it is something else."""
    if not isinstance(place, str | os.PathLike | None):
        raise UserError(f"a store is named by a file or a URL, got {place!r}; write one, such as turnier.db.")
    return default_url() if place is None else os.fspath(place)
