"""The loop of all learning: checkpoints on the way, a stop at any time, and the same bytes after a resume.

Between two steps of a loop, a checkpoint has everything that later steps depend on. So a training that is stopped or
killed and started again ends with the same weights, bit for bit.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from ...core.array_files import NotFinite
from ...core.errors import UserError

BLOCK_SECONDS = 0.25  # of learning between two looks at the clock
CHECKPOINT_SECONDS = 2.0  # at least, between two checkpoints
LOST_SECONDS = 4.5  # of games, by a kill, except for networks that would exceed CHECKPOINT_SHARE
CHECKPOINT_SHARE = 0.05  # of learning time that checkpoints may take; large networks have fewer checkpoints


Report = Callable[[int], object]  # called with a number of games


class Learned(Protocol):
    """The state of a training at a checkpoint."""

    def save(self, path: Path) -> None: ...


W = TypeVar("W", bound=Learned)


@dataclass(frozen=True)
class Stretch:
    """A stretch of learning: until `games` are done in all, the deadline, or a stop."""

    games: int
    deadline: float  # by `time.perf_counter`
    report: Report  # called with the games just finished

    def is_over(self, loop: TrainingLoop[Any]) -> bool:
        return loop.done >= self.games or loop.stopping or time.perf_counter() > self.deadline


class _Written(NamedTuple):
    """The cost of writing a checkpoint."""

    seconds: float
    cpu_seconds: float

    @classmethod
    def by(cls, weights: Learned, out: Path) -> _Written:
        """Writes it."""
        began, used = time.perf_counter(), time.thread_time()
        weights.save(out)
        return cls(time.perf_counter() - began, time.thread_time() - used)


_running: set[TrainingLoop[Any]] = set()
_ending = False


def end_all() -> bool:
    """Ends all trainings of this process soon, with checkpoints, and lets none begin; returns whether there are any."""
    global _ending
    _ending = bool(_running)
    for loop in list(_running):
        loop.stop()
    return _ending


class TrainingLoop(ABC, Generic[W]):
    """A training that can be stopped at any time; `out` has the last checkpoint.

    A way to learn defines a stretch of learning and the content of a checkpoint.
    """

    detached: ClassVar[bool] = False  # whether a checkpoint may be written while the next games are played
    threads = 1  # that learn at once
    plan: Any  # the LearningPlan
    cure: str  # the remedy for diverged learning, such as "with an alpha below 3"

    def __init__(self, plan: Any, out: Path, games: int) -> None:
        plan.check()
        self.plan, self.out, self.games = plan, out, games
        self.points = Points(plan.every)
        self.done = self.moves = 0  # the games that have ended, the plan's first ones, and their moves
        self.kept: int | None = None  # games of the checkpoint in `out`; None = there is none
        self.stopping = False  # since `stop` was called
        self.learning_seconds = 0.0  # of this process, without checkpoints
        self._moves_timed = 0  # of this process
        self._limit = 0.0  # seconds of learning in all, also by earlier processes; 0 = none
        self.seconds_before, self._began = 0.0, 0.0  # of earlier processes; the start of `run`

    @abstractmethod
    def learn(self, stretch: Stretch) -> None:
        """Plays and learns; afterwards it has learned from all games before `done`, and from none after."""

    @abstractmethod
    def weights(self) -> W:
        """Returns the training's state as a checkpoint; valid until more is learned."""

    @abstractmethod
    def divergence(self, weights: W) -> str:
        """Returns how learning has diverged, such as "..., got nan"; empty if it has not."""

    @property
    def done_before(self) -> int:
        """The games that had ended one step earlier."""
        return self.done - 1

    @property
    def finished(self) -> bool:
        return self.done >= self.games

    @property
    def seconds(self) -> float:
        """Seconds of learning with a limit, including those of earlier processes."""
        return self.seconds_before + (time.perf_counter() - self._began if self._limit else 0.0)

    @property
    def moves_per_second(self) -> float:
        """The speed of learning in this process; files of weights, to be reproducible, have no times."""
        return self._moves_timed / max(self.learning_seconds, 1e-9)

    def stop(self) -> bool:
        """Ends `run` soon by KeyboardInterrupt, with a checkpoint; returns whether it was running."""
        self.stopping = True
        return self in _running

    def run(
        self,
        report: Report = lambda games: None,
        saved: Callable[[W], object] | None = None,
        *,
        every: int = 0,
        checked: bool = True,
        until: int = 0,
        limit: float = 0.0,
    ) -> None:
        """Learns until `games` are done, with checkpoints on the way and one at the end.

        Ctrl-C and `stop` end it with KeyboardInterrupt, after a checkpoint of all games played. Raises NotFinite if
        learning has diverged; the file is then unchanged.

        Args:
            report: called with the games just finished, a few times per second.
            saved: called at every checkpoint with the training's state, which is valid during the call; also at the
                beginning for the checkpoint of an earlier run, since a kill may have prevented that call.
            every: further checkpoints at multiples of this number of games; 0 = none.
            checked: whether divergence ends it; otherwise it ends only if nothing can be saved.
            until: stop after this number of games; 0 = all.
            limit: stop after this many seconds of learning, including those of earlier runs with a limit; 0 = never.
        """
        self._limit, self._began = limit, time.perf_counter()
        end = min(until, self.games) if until else self.games
        _running.add(self)
        self.stopping |= _ending  # if `end_all` came too early to see this one
        try:
            if self.kept is not None and saved:
                saved(self._checked(self.weights(), checked))
            elif self.done >= end and self.kept is None:  # a mean of weights, to play with
                self.weights().save(self.out)
                self.kept = self.done
            self._learn_and_save(end, report, saved, every, checked)
        finally:
            _running.discard(self)
            self.seconds_before, self._limit = self.seconds, 0.0
        if self.stopping:
            raise KeyboardInterrupt

    def _learn_and_save(
        self,
        end: int,
        report: Report,
        saved: Callable[[W], object] | None,
        every: int,
        checked: bool,
    ) -> None:
        pause = CHECKPOINT_SECONDS
        written: Future[_Written] | None = None
        last = _Written(0.0, 0.0)
        with ThreadPoolExecutor(1, "checkpoint") as writer:  # writes while the next games are played
            while self.done < end and not self.stopping and self._seconds_left > 0:
                goal = min((self.done // every + 1) * every, end) if every else end
                self._learn_timed(Stretch(goal, time.perf_counter() + min(pause, self._seconds_left), report))
                ended = self.stopping or self._seconds_left <= 0
                if self.done < goal and not ended and written and not written.done():
                    pause = BLOCK_SECONDS  # a slow disk: play on
                    continue
                if written:
                    last = written.result()  # raises the writer's exception
                used = time.thread_time()
                weights = self._checked(self.weights(), checked)
                written = writer.submit(_Written.by, weights, self.out)
                if not self.detached:
                    last = written.result()
                self.kept = self.done
                pause = self._pause(time.thread_time() - used, last)
                if saved:
                    saved(weights)
        if written:
            written.result()

    def _learn_timed(self, stretch: Stretch) -> None:
        began, moves = time.perf_counter(), self.moves
        self.learn(stretch)
        self._moves_timed += self.moves - moves
        self.learning_seconds += time.perf_counter() - began

    def _pause(self, used: float, last: _Written) -> float:
        """Returns the seconds to the next checkpoint.

        Args:
            used: CPU seconds that learning waited for the last one.
            last: the cost of writing one.
        """
        if not self.detached:
            used += last.seconds
        elif self.threads >= cores():  # the writer takes a core from learning
            used += last.cpu_seconds
        pause = used / CHECKPOINT_SHARE
        if pause < LOST_SECONDS:  # a kill costs the games of a pause and of writing its checkpoint
            pause = min(pause, LOST_SECONDS - last.seconds)
        return max(CHECKPOINT_SECONDS, pause)

    def _checked(self, weights: W, checked: bool) -> W:
        """Returns the weights; raises NotFinite if learning has diverged, by steps so large that errors grow."""
        if checked and (reason := self.divergence(weights)):
            raise NotFinite(f"{reason} after {self.done:,} games; {self._what_is_kept()}")
        return weights

    def _what_is_kept(self) -> str:
        if self.kept is None:
            return f"there is no earlier checkpoint, so {self.out} was not written; train {self.cure}."
        if self.kept == self.done:
            return f"remove {self.out}, which has just that, and train {self.cure}."
        return f"{self.out} keeps the earlier checkpoint of {self.kept:,} games; train into another file {self.cure}."

    @property
    def _seconds_left(self) -> float:
        return self._limit - self.seconds if self._limit else float("inf")


def require_same(out: Path, stored: Mapping[str, Any], described: Mapping[str, Any]) -> None:
    """Raises UserError if a file of checkpoints was trained by another plan."""
    for name, value in described.items():
        if stored.get(name) != value:
            raise UserError(
                f"{out} was trained with {name} {stored.get(name)}, got {value}; train into another file, or with the"
                " same."
            )


def cores() -> int:
    """Returns the number of cores that this process may use; on macOS, of all."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass
class Points:
    """Scores of the games played so far, gathered in points of `every` games each, in whatever order they end."""

    every: int
    sums: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))  # [points, 3]: games, sum, squares

    def add(self, first: int, scores: npt.NDArray[np.float32]) -> None:
        """Adds the scores [games] of games from number `first` on."""
        point = (first + np.arange(len(scores))) // self.every
        missing = int(point[-1]) + 1 - len(self.sums)
        if missing > 0:
            self.sums = np.concatenate([self.sums, np.zeros((missing, 3))])
        exact = scores.astype(np.float64)
        for column, values in enumerate((np.ones(len(scores)), exact, exact**2)):
            np.add.at(self.sums[:, column], point, values)

    def curve(self) -> npt.NDArray[np.float64]:
        """Returns [points, 4]: the games before a point's end, its games, their mean score and standard deviation."""
        games = np.maximum(self.sums[:, 0], 1)
        mean = self.sums[:, 1] / games
        variance = np.maximum(self.sums[:, 2] / games - mean**2, 0.0) * games / np.maximum(games - 1, 1)
        ends = np.arange(1, len(games) + 1) * self.every
        return np.column_stack([ends, self.sums[:, 0], mean, np.sqrt(variance)])

    def newest(self, games: int) -> tuple[int, float, float]:
        """Returns the number, mean score and estimated variance of at least the newest games, in whole points."""
        counts = np.cumsum(self.sums[::-1, 0])
        points = int(np.searchsorted(counts, games)) + 1
        count, total, squares = self.sums[-points:].sum(axis=0)
        mean = total / max(count, 1.0)
        return int(count), float(mean), max(float(squares - count * mean**2), 0.0) / max(int(count) - 1, 1)
