"""Replays recorded games and positions, which the rules must reproduce exactly."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path

from ..core.errors import MALFORMED, UserError
from .game import Game


def verify_file(game: Game, path: Path) -> tuple[int, str | None]:
    """Returns the number of lines and the first disagreement as `line: sentence`, or None if all agree.

    A file whose name ends in .gz is unpacked. Raises UserError if the file cannot be read, or if a line is not a record
    in the game's format.
    """
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as failure:
        raise UserError(f"a file of recorded games must be readable, got {path}: {failure}; check its name.") from None
    count = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        count += 1
        try:
            record = json.loads(line)
            disagreement = game.verify_record(record)
        except (UserError, *MALFORMED) as failure:
            kind = "" if isinstance(failure, UserError) else f"{type(failure).__name__} "
            raise UserError(
                f"every line must be a recorded game or position of {game.name}, got {path}:{number}:"
                f" {kind}{str(failure).rstrip('.')}; remove or fix it."
            ) from None
        if disagreement:
            return count, f"{number}: {disagreement}"
    if count == 0:
        raise UserError(f"a file of recorded games must have at least one line, got {path}; check its name.")
    return count, None
