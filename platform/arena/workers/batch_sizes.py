"""Sizes of an executor's batches: workers should wait neither for each other nor for the driver."""

from __future__ import annotations

from ..step_kernel import ENOUGH

TARGET_SECONDS = 1.0  # of work in a batch
BATCHES_A_SECOND = 100  # from all workers together: more of them would have to wait for the driver
LEAST_SECONDS = 0.05  # of work in a batch, if each worker still gets one: less costs more to send than to do
WHOLE_SECONDS = 0.005  # of work that is one batch: storing a batch takes that long
IDLE_SECONDS = 0.1  # of work in a batch for an idle worker
MAX_BATCH = 10_000  # specs; more would take memory and save no time
GROWTH = 8  # maximum ratio of a batch to the largest one before


class BatchSizer:
    """Chooses numbers of specs for about one second of work, by the times of earlier batches."""

    def __init__(self, workers: int, more_may_join: bool = True) -> None:
        self.workers, self.more_may_join = workers, more_may_join
        self.seconds_each = 0.0
        self.largest = 0
        self._share, self._shared_among, self._after = 0, 0, 0  # of work in step: see `share`

    @property
    def seconds(self) -> float:
        """The time that a batch should take."""
        return max(TARGET_SECONDS, self.workers / BATCHES_A_SECOND)

    def size(self, remaining: int, in_step: int = 1) -> int:
        """Returns the next batch's size: small at first, and small again at the end: no worker should idle long.

        Work that a worker can do side by side, `in_step` at a time, is first divided among all workers, and done side
        by side only beyond that.
        """
        size = self._size(remaining)
        share = self.share(remaining, in_step) if size < in_step else 0
        if self.seconds_each == 0.0 and self.more_may_join:  # in a moment
            share = min(share, ENOUGH)
        return max(size, share) if share >= ENOUGH else size

    def _size(self, remaining: int) -> int:
        if self.seconds_each == 0.0:
            return 1
        target = int(self.seconds / self.seconds_each)
        fair, half = -(-remaining // self.workers), -(-remaining // (2 * self.workers))
        least = min(max(fair, int(WHOLE_SECONDS / self.seconds_each)), int(LEAST_SECONDS / self.seconds_each))
        return max(1, min(target, max(half, least), self.largest * GROWTH, MAX_BATCH, remaining))

    def share(self, remaining: int, in_step: int) -> int:
        """Returns a worker's part of work in step: the same for all until there is more work or more workers.

        Ever smaller parts, as of other work, would take hardly less time each.
        """
        if remaining > self._after or self._shared_among != self.workers:
            rounds = -(-remaining // (self.workers * in_step))
            self._share, self._shared_among = -(-remaining // (self.workers * rounds)), self.workers
        self._after = remaining - self._share
        return self._share

    def is_long(self, size: int) -> bool:
        """Whether a batch may take too long to wait for a busy worker: another one may be free earlier."""
        return self.seconds_each == 0.0 or size * self.seconds_each > self.seconds

    def idle_size(self) -> int:
        """Returns the number of specs that keep an idle worker busy for a moment."""
        return max(1, int(IDLE_SECONDS / self.seconds_each)) if self.seconds_each else 1

    def observe(self, done: int, seconds: float) -> None:
        if not done:
            return
        latest = max(seconds, 1e-6) / done
        # Agents differ, so recent batches count most; slow ones count fully, or batches would grow too long.
        self.seconds_each = max(latest, 0.5 * (self.seconds_each + latest))
        self.largest = max(self.largest, done)
