"""A small GTP controller: it knows no game, and asks the engine alone what is legal and when a game is over."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import Self


class GtpFailure(Exception):
    """What an engine answers that could not obey."""


class GtpEngine:
    """An engine in a process of its own."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def ask(self, command: str) -> str:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(f"{command}\n")
        self._process.stdin.flush()
        lines = [self._process.stdout.readline()]
        while lines[-1].strip():
            lines.append(self._process.stdout.readline())
        answer = "".join(lines).strip()
        if not answer.startswith("="):
            raise GtpFailure(answer)
        return answer[1:].strip()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        """Ends the engine, which must say nothing else."""
        rest, errors = self._process.communicate("quit\n", timeout=60)
        if failure is None:
            assert (rest, errors, self._process.returncode) == ("=\n\n", "", 0)


def play_game(black: GtpEngine, white: GtpEngine, longest: int = 1000) -> list[str]:
    """Returns the moves of a game, which is over where neither engine has an answer."""
    moves: list[str] = []
    for engine in (black, white):
        engine.ask("clear_board")
    while len(moves) < longest:
        colour, mover, other = ("b", black, white) if len(moves) % 2 == 0 else ("w", white, black)
        try:
            moves.append(mover.ask(f"genmove {colour}"))
        except GtpFailure as failure:
            if str(failure) != "? the game is over":
                raise
            break
        other.ask(f"play {colour} {moves[-1]}")
    return moves
