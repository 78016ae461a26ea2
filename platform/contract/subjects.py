"""Subjects of laws: games, agents, evaluators and samplers by name, engines by command, recorded games by file."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, Self

from ..arena.match_json import is_exported, verify_exported
from ..core.errors import MALFORMED, UserError, require_regular_file
from ..core.text_form import parse
from ..games.game import Game
from ..games.registry import make_game
from ..games.verify import verify_file
from ..server.spe_ed.log_check import is_official_log, verify_log
from .engines.checking import EngineChecking
from .process import BROKEN, KEPT, Checking, Finding
from .suites import REGISTRIES

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


LAW_SECONDS, ANSWER_SECONDS = 120.0, 10.0


class Subject(Protocol):
    """A subject of laws; use it as a context manager."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> Any: ...

    def begin(self) -> list[Finding]:
        """Returns the laws; raises UserError if the text names nothing."""

    def findings(self, laws: Sequence[Finding]) -> Iterator[Finding]:
        """Yields the finding for each law, in order."""

    def note(self) -> str:
        """Returns a further remark, or ""; call it after `findings`."""


def subject_of(
    text: str, games: Sequence[str] = (), limit: float | None = None, protocol: str = "", margin: float = 0.2
) -> Subject:
    """Returns the subject that a text names.

    Names of ours or of classes come first, then files of recorded games, then programs on this machine.

    Args:
        text: a name such as bot.py:Bot, a file, or a command.
        games: for agents, evaluators and engines, or the game of recorded games.
        limit: seconds that a law, or an answer of an engine, may take; None: LAW_SECONDS and ANSWER_SECONDS.
        protocol: of an engine; empty: UCI. With a protocol, a text is always a command.
        margin: seconds by which an engine's move may be late.
    """
    if not protocol and not _is_known(text):
        if _is_file(text):
            return RecordedGames(text, games)
        protocol = "uci" if _is_program(text) else ""
    if not protocol:
        return Checking(text, games, LAW_SECONDS if limit is None else limit)
    if len(games) > 1:
        raise UserError(f"an engine is checked in one game, got {', '.join(games)}; name one by --game.")
    return EngineChecking(text, protocol, games[0] if games else "", ANSWER_SECONDS if limit is None else limit, margin)


def _is_known(text: str) -> bool:
    """Whether a text is a name, such as mcts(iterations=50), or `go`, which may also be a program."""
    try:
        name = parse(text).name
    except UserError:
        return False
    return any(name in registry.names() or name in registry.installed() for registry in REGISTRIES)


def _is_file(text: str) -> bool:
    looks_so = text.endswith(SUFFIXES) or (os.path.exists(text) and not os.path.isdir(text))
    return looks_so and not text.endswith(".py") and not os.access(text, os.X_OK)


def _is_program(text: str) -> bool:
    try:
        return shutil.which(shlex.split(text)[0]) is not None
    except (ValueError, IndexError):
        return False
