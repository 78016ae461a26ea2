"""Names of stored versions on the command line: `bot.py:Bot@PREVIOUS` becomes the version that the store has."""

from __future__ import annotations

from collections.abc import Sequence

from ..results.store import default_url


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
