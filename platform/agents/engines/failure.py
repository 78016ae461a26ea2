"""How an engine fails."""

from __future__ import annotations

import enum


class Ending(enum.StrEnum):
    """What an engine's failure is called in records of matches."""

    CRASHED = "crashed"  # its process has ended, or wrote what is no answer
    STALLED = "stalled"  # no answer, not even to being stopped
    TIMEOUT = "timeout"  # an answer after its time
    ILLEGAL_MOVE = "illegal_move"
    RESIGNED = "resigned"


class EngineFailure(Exception):
    """Raised where an engine does not give a legal move in time; its text is a sentence.

    Args:
        ending: what happened.
        sentence: it, with the last lines that the engine wrote to standard error.
        on_failure: lose | replay | stop, what the agent asks for then.
    """

    def __init__(self, ending: Ending, sentence: str, on_failure: str = "lose") -> None:
        super().__init__(sentence)
        self.ending, self.on_failure = ending, on_failure
