"""Subjects of laws: games, agents, evaluators and samplers by name, engines by command, recorded games by file."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Protocol, Self

from ..core.errors import UserError
from ..core.text_form import parse
from .engines.checking import EngineChecking
from .process import Checking, Finding
from .recorded import SUFFIXES, RecordedGames
from .suites import REGISTRIES

LAW_SECONDS, ANSWER_SECONDS = 120.0, 10.0


class Subject(Protocol):
    """A subject of laws; use it as a context manager."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> Any: ...

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
