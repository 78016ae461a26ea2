"""What a server of spe_ed is told: rules that the official server draws from, who plays, and limits on clients."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from turnier.core.errors import UserError
from turnier.games.spe_ed.board import MAX_PLAYERS, MAX_SIDE, MIN_SIDE


@dataclass(frozen=True)
class Range:
    """Values that are drawn uniformly: whole numbers where both ends are, else any between them."""

    low: float
    high: float

    @classmethod
    def read(cls, what: str, text: str, least: float, most: float) -> Range:
        """Reads `41..80` or `41`; raises UserError for anything else, and for what is not from `least` to `most`."""
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:\.\.\s*(\d+(?:\.\d+)?)\s*)?", text)
        low = float(found[1]) if found else -1.0
        high = float(found[2] or found[1]) if found else -1.0
        if not least <= low <= high <= most:
            raise UserError(
                f"{what} must be a number or a range from {least:g} to {most:g}, got {text!r}; write"
                f" {least:g}..{most:g}."
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
    """What may vary from game to game; the defaults are the official ones. Times are seconds."""

    width: Range = Range(41, 80)
    height: Range = Range(41, 80)
    players: Range = Range(2, 6)
    timeout: Range = Range(5, 15)  # of a round, drawn anew for each
    grace: float = 2.0  # after the deadline that clients are told
    lobby: float = 300.0  # from the first client's coming until bots fill the places that are left

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
    """How much a client may ask for; whoever wants more is cut off, games go on."""

    frame_bytes: int = 4096  # of a message; actions have 30
    messages_per_second: float = 20.0  # of one client, over a while
    message_burst: int = 60
    requests_per_second: float = 50.0  # of one address
    request_burst: int = 200
    idle_seconds: float = 10.0  # until a connection that asks for nothing is closed
    connections: int = 1000  # open at once
    send_seconds: float = 10.0  # until a client that reads nothing is given up
    games: int = 20  # played at once; and so many finished ones stay on the page


class Bucket:
    """A rate limit: so many at once, and then so many a second."""

    def __init__(self, per_second: float, burst: float, now: float) -> None:
        self.per_second, self.burst, self.left, self.at = per_second, burst, burst, now

    def take(self, now: float) -> bool:
        """Takes one, if there is one."""
        self.left = min(self.burst, self.left + (now - self.at) * self.per_second)
        self.at = now
        if self.left < 1:
            return False
        self.left -= 1
        return True
