"""Recorded games as a subject with a law: by the rules of their game, each line leads to the results it states."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..arena.match_json import is_exported, verify_exported
from ..core.errors import MALFORMED, UserError, require_regular_file
from ..games.game import Game
from ..games.registry import make_game
from ..games.verify import verify_file
from ..server.spe_ed.log_check import is_official_log, verify_log
from .process import BROKEN, KEPT, Finding

SUFFIXES = (".jsonl", ".json", ".gz")


class RecordedGames:
    """A file of games, exported, recorded or an official log, or of positions; use it as a context manager."""

    def __init__(self, text: str, games: Sequence[str]) -> None:
        """Takes a file and its game; without a game, exported games and official logs name theirs."""
        self.path = Path(text)
        require_regular_file(self.path, "a file of recorded games")
        if len(games) > 1:
            raise UserError(f"recorded games must be of one game, got {', '.join(games)}; name one by --game.")
        self.game = make_game(games[0] if games else self._own_game())

    def __enter__(self) -> RecordedGames:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def begin(self) -> list[Finding]:
        """Replays the games; raises UserError if a line is not a game."""
        lines, wrong = verified(self.game, self.path)
        must = "by the rules, every line leads to the results it states" if wrong else f"all {lines} lines agree"
        state, said = (BROKEN, f"{self.path}:{wrong}") if wrong else (KEPT, "")
        return [Finding(str(self.path), "recorded games", str(self.game), "agree with the rules", must, state, said)]

    def findings(self, laws: Sequence[Finding]) -> Iterator[Finding]:
        return iter(laws)

    def note(self) -> str:
        return ""

    def _own_game(self) -> str:
        if is_exported(self.path):
            try:
                with self.path.open("rb") as file:
                    return str(json.loads(file.readline())["spec"]["game"])
            except MALFORMED:
                pass  # its reader says what it is instead
        if is_official_log(self.path):
            return "spe_ed"
        raise UserError(f"recorded games must name their game, but {self.path} does not; name it by --game.")


def verified(game: Game, file: Path) -> tuple[int, str | None]:
    """Returns the lines of a file of any of the formats, and its first disagreement as `line: sentence`, if any."""
    if is_exported(file):
        return verify_exported(game, file)
    if is_official_log(file):
        return verify_log(game, file)
    return verify_file(game, file)
