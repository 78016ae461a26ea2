"""What has laws: games, agents, evaluators and samplers by name, engines by command, and recorded games by file."""

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
        """Takes a file, and the game that it is of; without one, an exported game or an official log says it."""
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
        """Replays the games; raises UserError if a line is none."""
        lines, wrong = verified(self.game, self.path)
        must = "the rules lead from every line to what it says" if wrong else f"all {lines} lines agree"
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
                pass  # what it is instead, its reader says
        if is_official_log(self.path):
            return "spe_ed"
        raise UserError(f"recorded games must say which game they are of, got {self.path}; name it by --game.")


def verified(game: Game, file: Path) -> tuple[int, str | None]:
    """Returns the lines of a file of any of the formats, and its first disagreement as `line: sentence`, if any."""
    if is_exported(file):
        return verify_exported(game, file)
    if is_official_log(file):
        return verify_log(game, file)
    return verify_file(game, file)


LAW_SECONDS, ANSWER_SECONDS = 120.0, 10.0


class Subject(Protocol):
    """What is checked; use it as a context manager."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> Any: ...

    def begin(self) -> list[Finding]:
        """Returns the laws; raises UserError if the text names nothing."""

    def findings(self, laws: Sequence[Finding]) -> Iterator[Finding]:
        """Yields what is found of each law, in order."""

    def note(self) -> str:
        """Returns what else is to be said, if anything; to be asked after `findings`."""


def subject_of(
    text: str, games: Sequence[str] = (), limit: float | None = None, protocol: str = "", margin: float = 0.2
) -> Subject:
    """Returns what a text names.

    A name of ours or of a class comes first; then a file of recorded games; then a program on this machine.

    Args:
        text: a name such as bot.py:Bot, a file, or a command.
        games: in which agents, evaluators and engines are checked, or the one that recorded games are of.
        limit: seconds that a law, or an answer of an engine, may take; None: LAW_SECONDS and ANSWER_SECONDS.
        protocol: that an engine speaks; empty: UCI. With one, a text is always a command.
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
    """Whether a text is a name, such as `go`, which may be a program, too, or mcts(iterations=50)."""
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
