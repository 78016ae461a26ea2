"""The keys that admit clients: from a file, from the environment, or created for this run."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path

from ...core.errors import UserError, require_regular_file

VARIABLE = "TURNIER_SPE_ED_KEYS"
CREATED = 6


def read_keys(file: Path | None, environment: Mapping[str, str] = os.environ) -> tuple[dict[str, str], bool]:
    """Returns the clients' names by key, and whether the keys were created here because none were given.

    A file has a line `KEY NAME` per client; the environment variable TURNIER_SPE_ED_KEYS has the same, with commas.
    """
    if file is not None:
        require_regular_file(file, "keys", or_pipe=True)  # such as <(pass show keys)
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as failure:
            raise UserError(f"keys must be in a file with a line KEY NAME per client, got {failure}.") from None
    elif environment.get(VARIABLE):
        lines = environment[VARIABLE].split(",")
    else:
        return {secrets.token_urlsafe(12): f"client{number}" for number in range(1, 1 + CREATED)}, True
    keys: dict[str, str] = {}
    for line in lines:
        words = line.split("#")[0].split()
        if not words:
            continue
        key, name = words[0], words[1] if len(words) == 2 else f"client{1 + len(keys)}"
        if len(words) > 2 or key in keys or not re.fullmatch(r"[\w-]{1,32}", name):
            raise UserError(
                "every key must be unique and followed by a name of at most 32 letters, digits, - and _, got"
                f" something else in entry {1 + len(keys)}; write KEY NAME."
            )
        keys[key] = name
    if not keys:
        raise UserError("the server needs at least one key; write KEY NAME.")
    return keys, False
