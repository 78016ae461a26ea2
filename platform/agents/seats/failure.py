"""Failures of seats: one rule for compiled agents, Python, programs and ensembles.

The seat that fails loses its match with the game's least return; the others win or share. Only matches broken by the
game or the machine are void. docs/validity.md has the whole rule.
"""

from __future__ import annotations

import enum

from ...core.errors import UserError


class Ending(enum.StrEnum):
    """The end of a match before its rules ended it, as named in records; the seat to move has lost."""

    CRASHED = "crashed"  # it raised an exception, its process ended, or its answer was malformed
    STALLED = "stalled"  # no answer, not even when told to stop
    TIMEOUT = "timeout"  # an answer after its time
    ILLEGAL_MOVE = "illegal_move"
    RESIGNED = "resigned"  # a result, not a failure


class SeatsEnded(UserError):
    """Raised if others' processes were ended from outside, by an unknown culprit, so that nobody has lost."""


class SeatFailure(Exception):
    """Raised if a seat gives no legal move in time; its text is a sentence.

    Args:
        ending: what happened.
        sentence: the failure, with the line of the user's file or a program's last lines on standard error.
        on_failure: lose | replay | stop, the agent's policy.
    """

    def __init__(self, ending: Ending, sentence: str, on_failure: str = "lose") -> None:
        super().__init__(sentence)
        self.ending, self.on_failure = ending, on_failure
