"""Limits of every server: rates of requests, and digits of numbers."""

from __future__ import annotations

import time
from collections.abc import Hashable

MAX_DIGITS = 10
MAX_RATES = 10_000  # kept at once


def is_number(text: str) -> bool:
    """Whether a text is a whole number of a few digits: reading a long one would take long, or fail."""
    return len(text) <= MAX_DIGITS and text.isascii() and text.isdigit()


class TokenBucket:
    """A rate limit: `burst` at once, then `per_second`."""

    def __init__(self, per_second: float, burst: float, now: float) -> None:
        self.per_second, self.burst, self.left, self.at = per_second, burst, burst, now

    def take(self, now: float, tokens: float = 1) -> bool:
        """Takes tokens; returns False if fewer are left."""
        self.left = max(self.left, min(self.burst, self.left + (now - self.at) * self.per_second))
        self.at = now
        if self.left < tokens:
            return False
        self.left -= tokens
        return True

    def add(self, tokens: float) -> None:
        """Adds tokens, up to twice the burst."""
        self.left = min(2 * self.burst, self.left + tokens)


class Rates:
    """A rate limit for each client: `burst` requests at once, then `per_second`."""

    def __init__(self, per_second: float, burst: float) -> None:
        self.per_second, self.burst = per_second, burst
        self.buckets: dict[Hashable, TokenBucket] = {}

    def allow(self, who: Hashable) -> bool:
        """Counts a request; returns False if it is one too many."""
        now = time.monotonic()
        if len(self.buckets) > MAX_RATES:
            self.buckets.clear()
        return self.buckets.setdefault(who, TokenBucket(self.per_second, self.burst, now)).take(now)
