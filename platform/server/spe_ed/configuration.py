"""Configuration of a spe_ed server: ranges for drawing each game, and limits on clients."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ...core.errors import UserError
from ...games.spe_ed.board import MAX_PLAYERS, MAX_SIDE, MIN_SIDE


@dataclass(frozen=True)
class Range:
    """Values to draw uniformly: whole numbers if both ends are whole, otherwise any number in between."""

    low: float
    high: float

    @classmethod
    def read(cls, what: str, text: str, minimum: float, maximum: float) -> Range:
        """Reads `41..80` or `41`; raises UserError for anything else or outside `minimum` to `maximum`."""
        ends = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:\.\.\s*(\d+(?:\.\d+)?)\s*)?", text)
        low = float(ends[1]) if ends else -1.0
        high = float(ends[2] or ends[1]) if ends else -1.0
        if not minimum <= low <= high <= maximum:
            raise UserError(
                f"{what} must be a number or a range from {minimum:g} to {maximum:g}, got {text!r}; write"
                f" {minimum:g}..{maximum:g}."
            )
        return cls(low, high)

    def draw(self, rng: np.random.Generator) -> float:
        if self.low == int(self.low) and self.high == int(self.high):
            return float(rng.integers(int(self.low), int(self.high) + 1))
        return float(rng.uniform(self.low, self.high))

    def __str__(self) -> str:
        return f"{self.low:g}" if self.low == self.high else f"{self.low:g}..{self.high:g}"


@dataclass(frozen=True)
class Rules:
    """Settings that vary from game to game; the defaults are the official ones. Times are in seconds."""

    width: Range = Range(41, 80)
    height: Range = Range(41, 80)
    players: Range = Range(2, 6)
    timeout: Range = Range(5, 15)  # per round, drawn anew for each
    grace: float = 2.0  # after the deadline that clients see
    lobby: float = 300.0  # from the first client until bots take the remaining places

    @classmethod
    def read(cls, width: str, height: str, players: str, timeout: str, grace: float, lobby: float) -> Rules:
        return cls(
            Range.read("the width", width, MIN_SIDE, MAX_SIDE),
            Range.read("the height", height, MIN_SIDE, MAX_SIDE),
            Range.read("the number of players", players, 2, MAX_PLAYERS),
            Range.read("the timeout", timeout, 0.1, 3600),
            grace,
            lobby,
        )


@dataclass(frozen=True)
class Limits:
    """The limits of a client; one that exceeds them is disconnected, and games continue."""

    frame_bytes: int = 4096  # per message; an action takes 30
    messages_per_second: float = 20.0  # per client, on average, beyond one for each state that it must answer
    message_burst: int = 60
    bytes_per_second: float = 4096.0  # per client, of all frames, beyond those of answers
    byte_burst: int = 16_384
    answer_bytes: int = 512  # added for each state that it must answer
    unread_bytes: int = 100_000  # waiting for a client that does not read
    requests_per_second: float = 50.0  # per address, counted separately for players and viewers
    request_burst: int = 400
    viewers: int = 500  # pages watching at once
    idle_seconds: float = 10.0  # before closing a connection without requests
    connections: int = 1000  # open at once
    send_seconds: float = 10.0  # before dropping a client that reads nothing
    games: int = 20  # played at once, and finished ones that stay on the page
