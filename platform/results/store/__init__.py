"""The results database: runs, matches, repeated searches, curves of training, locks and progress."""

import os

STORE_VARIABLE = "TURNIER_STORE"  # environment: the URL of the store of commands and scripts that name none
DEFAULT_URL = "sqlite:///turnier.db"  # if that is not set


def default_url() -> str:
    """Returns the URL of the store of commands and scripts that name none."""
    return os.environ.get(STORE_VARIABLE) or DEFAULT_URL
