"""How a seat fails, whoever plays it: one rule for compiled agents, Python, programs and ensembles.

The seat that fails loses its match with the least return that the game has; the others win or share. Only what the game
or the machine breaks is void. docs/validity.md has the whole rule.
"""

from __future__ import annotations

import enum

from ...core.errors import UserError


class Ending(enum.StrEnum):
    """What ended a match before its rules did, as records of matches call it; the seat to move has lost."""

    CRASHED = "crashed"  # it raised an exception, its process has ended, or it answered what is no answer
    STALLED = "stalled"  # no answer, not even to being stopped
    TIMEOUT = "timeout"  # an answer after its time
    ILLEGAL_MOVE = "illegal_move"
    RESIGNED = "resigned"  # a result, not a failure


class SeatsEnded(UserError):
    """Raised if others' processes were ended from outside: who did it cannot be told, so nobody has lost."""


class SeatFailure(Exception):
    """Raised if a seat gives no legal move in time; its text is a sentence.

    Args:
        ending: what happened.
        sentence: it, with the line of the user's file or the last lines that a program wrote to standard error.
        on_failure: lose | replay | stop, what the agent asks for then.
    """

    def __init__(self, ending: Ending, sentence: str, on_failure: str = "lose") -> None:
        super().__init__(sentence)
        self.ending, self.on_failure = ending, on_failure
