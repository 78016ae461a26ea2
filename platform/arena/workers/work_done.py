"""What workers have done: their time, and how far the batches in flight are."""

from __future__ import annotations

from typing import NamedTuple


class UnderWay(NamedTuple):
    """How far the matches that play in step are, of batches in flight."""

    decisions: int = 0
    over: int = 0  # matches: they are stored with their batch


class WorkTime(NamedTuple):
    """Seconds of workers: all, those in requested work, and those in idle work."""

    offered: float = 0.0
    useful: float = 0.0
    idle: float = 0.0

    def plus(self, offered: float = 0.0, useful: float = 0.0, idle: float = 0.0) -> WorkTime:
        return WorkTime(self.offered + offered, self.useful + useful, self.idle + idle)

    def since(self, earlier: WorkTime) -> WorkTime:
        return self.plus(-earlier.offered, -earlier.useful, -earlier.idle)

    @property
    def useful_share(self) -> float:
        """The share of the workers' time spent on requested work."""
        return self.useful / self.offered if self.offered else 0.0

    @property
    def busy_share(self) -> float:
        """The share of the workers' time spent on any work, including idle work."""
        return (self.useful + self.idle) / self.offered if self.offered else 0.0
