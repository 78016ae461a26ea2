"""Training of an n-tuple network: threads that share one table, checkpoints, and resuming where it stopped.

Every game draws from its own stream, and between games the table is the only state; so a run with one thread that is
stopped and started again ends with the same weights, bit for bit. Several threads write to the table without locks: a
change may get lost, which learning does not mind, but two such runs differ.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from turnier.agents.ntuple.evaluator import NTuple
from turnier.agents.ntuple.layout import Floats32, new_table
from turnier.agents.ntuple.learn2048 import learn_2048
from turnier.agents.ntuple.learn_games import learn_games
from turnier.agents.ntuple.network import Network
from turnier.agents.ntuple.plans.starts import described_starts, mean_start
from turnier.agents.ntuple.td import Td
from turnier.agents.ntuple.weights import Room, Weights, load_weights, read_values, touched_entries
from turnier.core.errors import UserError
from turnier.core.kernel import compile_kernel
from turnier.core.rng import streams
from turnier.games.game import Game

BLOCK_SECONDS = 0.25  # of games that a thread plays between two looks at the clock
CHECKPOINT_SECONDS = 2.0  # at least, between two checkpoints
LOST_SECONDS = 4.5  # of games, by a kill, except for networks that would need more than CHECKPOINT_SHARE for that
CHECKPOINT_SHARE = 0.05  # of the time, at most, that checkpoints take from learning; large networks have fewer


def _cores() -> int:
    """Returns the number of cores that this process may use; macOS does not tell."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Written(NamedTuple):
    """What a checkpoint took."""

    seconds: float
    cpu_seconds: float

    @classmethod
    def by(cls, weights: Weights, out: Path) -> _Written:
        """Writes it."""
        began, used = time.perf_counter(), time.thread_time()
        weights.save(out)
        return cls(time.perf_counter() - began, time.thread_time() - used)


@dataclass(frozen=True)
class Plan:
    """What is learned and how; two runs with the same plan and one thread learn the same weights."""

    game: Game
    evaluator: NTuple
    learning: Td
    seed: int = 1
    every: int = 1000  # games of a point of the curve
    begins: tuple[Path, ...] = ()  # weights whose mean learning begins with

    def described(self) -> dict[str, Any]:
        return {
            "game": self.game.full_text(),
            "evaluator": self.evaluator.full_text(),
            "learning": self.learning.full_text(),
            "seed": self.seed,
            "every": self.every,
            **({"begins": described_starts(self.begins)} if self.begins else {}),
        }

    def check(self) -> None:
        """Raises UserError where this cannot be learned."""
        reason = self.evaluator.cannot_evaluate(self.game)
        if self.evaluator.file:
            reason = f"what is trained must be an empty network, got {self.evaluator}; name the file as --out."
        if self.game.kernels.has_observe:
            reason = f"training needs a game without hidden information, got {self.game}."
        if reason:
            raise UserError(reason)
        for file in self.begins:
            read_values(file)  # raises where it has a policy, whose entries are no values
        if self.learning.table and not (self.evaluator.network_for(self.game).packed and self.learning.is_fused):
            raise UserError(
                "td with a table must learn 4x4 boards of 2048 with a symmetric network, and with delayed=true where"
                f" trace is above 0, got {self.game}, {self.evaluator} and {self.learning}; leave the table out."
            )


@dataclass
class Points:
    """Scores of the games played so far, gathered in points of `every` games each, in whatever order they end."""

    every: int
    sums: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))  # [points, 3]: games, sum, squares

    def add(self, first: int, scores: Floats32) -> None:
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


_running: set[TrainingLoop] = set()
_ending = False


def end_all() -> bool:
    """Makes all trainings of this process end soon, with checkpoints, and none begin; returns whether there are any."""
    global _ending
    _ending = bool(_running)
    for loop in list(_running):
        loop.stop()
    return _ending


Report = Callable[["TrainingLoop", int], None]
Saved = Callable[["TrainingLoop", Weights], None]


class TrainingLoop:
    """A run of training that can be stopped at any time; `out` has what the last checkpoint knew."""

    def __init__(self, plan: Plan, out: Path, games: int) -> None:
        plan.check()
        self.plan, self.out, self.games = plan, out, games
        self.network: Network = plan.evaluator.network_for(plan.game)
        self.done = 0  # games played, the first ones of the plan
        self.kept: int | None = None  # games of the checkpoint in `out`; None = there is none
        self.moves = 0
        self._seconds, self._moves_timed = 0.0, 0  # of this process
        self._limit = 0.0  # seconds of learning in all, also by earlier processes; 0 = none
        self._seconds_before, self._began = 0.0, 0.0  # of those; and when `run` began
        self._stopping = False
        self.points = Points(plan.every)
        self.initial = plan.learning.optimism / self.network.lookups
        self._kernel = learn_2048 if self.network.packed and plan.learning.is_fused else learn_games
        self._formations = plan.learning.formations()
        self._layout = self.network.layout(plan.learning.coherence, in_quarters=self._kernel is learn_2048)
        if out.exists():
            self._go_on(load_weights(out))
        elif plan.begins:
            self.table, self.initial = mean_start(plan.begins, self.network, self._layout)
        else:
            self.table = new_table(self._layout.size)
            self._layout.columns(self.table)[0][:] = self.initial  # has all pages made before time is taken
        self.words = self.network.words(self._layout)
        self.key = streams(plan.seed, 1)[0, 0]
        compile_kernel(self._kernel)

    def _go_on(self, weights: Weights) -> None:
        stored, described = weights.training, self.plan.described()
        if stored.get("begins") != described.pop("begins", None):
            raise UserError(
                f"{self.out} must be trained further from the weights that it began with; repeat the command that began"
                " it, or train into another file."
            )
        for name, value in described.items():
            if stored[name] != value:
                raise UserError(
                    f"{self.out} was trained with {name} {stored[name]}, got {value}; train into another file, or with"
                    " the same."
                )
        self.initial = weights.initial
        if weights.values_only and self.plan.learning.coherence:
            raise UserError(f"{self.out} has values to play with only; train into another file.")
        self.done, self.moves = stored["done"], stored["moves"]
        self.kept = self.done
        self._seconds_before = float(stored.get("seconds", 0.0))
        self.points.sums = np.array(stored["points"], np.float64).reshape(-1, 3)
        self.table = weights.table(self._layout)

    def play(self, first: int, count: int) -> tuple[Floats32, int]:
        """Plays and learns from games number `first` on; returns their scores [count, seats] and the moves."""
        learning, game = self.plan.learning, self.plan.game
        scores = np.zeros((count, game.num_seats), np.float32)
        rates, epsilons = (schedule(first, count, self.games) for schedule in (learning.rates, learning.epsilons))
        plain = min(max(learning.plain_games(self.games) - first, 0), count)  # of these games
        moves = 0
        for part in (slice(0, plain), slice(plain, count)):
            if part.start == part.stop:
                continue
            settings = learning.settings(plain=part.start < plain)
            tail = (
                self.words, self.table, settings, self.key, first + part.start,
                rates[part], epsilons[part], scores[part],
            )  # fmt: skip
            if self._kernel is learn_2048:
                moves += int(learn_2048(*tail, self._formations))
            else:
                moves += int(learn_games(game.kernels, game.new_state(), *tail))
        return scores, moves

    def run(
        self,
        threads: int = 1,
        report: Report | None = None,
        stop_every: int = 0,
        saved: Saved | None = None,
        check: Saved | None = None,
        until: int = 0,
        limit: float = 0.0,
    ) -> None:
        """Plays until `games` are done, with checkpoints on the way and one at the end.

        Ctrl-C and `stop` end it with KeyboardInterrupt, after a checkpoint of all games that were played.

        Args:
            threads: how many threads learn at once.
            report: called with the training and the games just finished, a few times per second.
            stop_every: further checkpoints, exactly after multiples of this number of games; 0 = none.
            saved: called with the training and what it knows, which is valid until it returns, at every checkpoint.
            check: called likewise before a checkpoint is written; where it raises, the file stays as it was.
            until: stop after this number of games; 0 = all.
            limit: stop when learning has taken this many seconds, including those of earlier runs with a limit; 0 =
                never.
        """
        self._limit, self._began = limit, time.perf_counter()
        end = min(until, self.games) if until else self.games
        if self.done == end and not self.out.exists():  # the mean of others, to play with
            self.weights().save(self.out)
            self.kept = self.done
        self._stopping = False
        _running.add(self)
        self._stopping |= _ending  # where `end_all` came too early to see this one
        try:
            self._run_with_checkpoints(threads, end, report, stop_every, saved, check)
        finally:
            _running.discard(self)
        if self._stopping:
            raise KeyboardInterrupt

    def _run_with_checkpoints(
        self,
        threads: int,
        end: int,
        report: Report | None,
        stop_every: int,
        saved: Saved | None,
        check: Saved | None,
    ) -> None:
        pause, room = CHECKPOINT_SECONDS, Room.of(self._layout)
        written: Future[_Written] | None = None
        last = _Written(0.0, 0.0)
        crowded = threads >= _cores()  # so that checkpoints are written on a core that learns
        with ThreadPoolExecutor(1, "checkpoint") as writer:  # writes while the next games are played
            while self.done < end and not self._stopping and self._seconds_left > 0:
                stop = (self.done // stop_every + 1) * stop_every if stop_every else end
                began, moves = time.perf_counter(), self.moves
                self._run_until(threads, began + min(pause, self._seconds_left), min(stop, end), report)
                self._moves_timed += self.moves - moves
                self._seconds += time.perf_counter() - began
                ended = self._stopping or self._seconds_left <= 0
                if self.done < min(stop, end) and not ended and written and not written.done():
                    pause = BLOCK_SECONDS  # a slow disk: play on
                    continue
                if written:
                    last = written.result()  # raises what went wrong
                used = time.thread_time()
                weights = self.weights(room)
                if check:
                    check(self, weights)
                written = writer.submit(_Written.by, weights, self.out)
                self.kept = self.done
                if saved:
                    saved(self, weights)
                used = time.thread_time() - used + crowded * last.cpu_seconds
                pause = used / CHECKPOINT_SHARE
                if pause < LOST_SECONDS:  # a kill costs the games of a pause, and those while its checkpoint is written
                    pause = min(pause, LOST_SECONDS - last.seconds)
                pause = max(CHECKPOINT_SECONDS, pause)
        if written:
            written.result()

    def stop(self) -> None:
        """Makes `run` end soon, with a checkpoint."""
        self._stopping = True

    def _run_until(self, threads: int, deadline: float, games: int, report: Report | None) -> None:
        """Plays until the deadline, or `games` are done; all games before `done` are then played, and none after."""
        lock = threading.Lock()
        failures: list[BaseException] = []
        block = 1

        def work() -> None:
            nonlocal block
            while True:
                with lock:
                    first, count = self.done, min(block, games - self.done)
                    if count == 0 or failures or self._stopping or time.perf_counter() > deadline:
                        return
                    self.done += count
                began = time.perf_counter()
                scores, moves = self.play(first, count)
                seconds = time.perf_counter() - began
                with lock:
                    self.moves += moves
                    self.points.add(first, scores[:, 0])
                    block = max(1, int(count * min(2.0, BLOCK_SECONDS / max(seconds, 1e-9))))
                    if report:
                        report(self, count)

        def guarded() -> None:
            try:
                work()
            except BaseException as failure:  # raised again where it is seen
                failures.append(failure)

        workers = [threading.Thread(target=guarded, daemon=True) for _ in range(threads)]
        for worker in workers:
            worker.start()
        try:
            for worker in workers:
                worker.join()
        except KeyboardInterrupt:  # of this thread, as in a notebook: the others end after their games
            self._stopping = True
            for worker in workers:
                worker.join()
        if failures:
            raise failures[0]

    @property
    def seconds(self) -> float:
        """How long learning with a limit has taken, by earlier processes too."""
        return self._seconds_before + (time.perf_counter() - self._began if self._limit else 0.0)

    @property
    def _seconds_left(self) -> float:
        return self._limit - self.seconds if self._limit else float("inf")

    @property
    def moves_per_second(self) -> float:
        """The speed of playing in this process; a file of weights says nothing about time, to be reproducible."""
        return self._moves_timed / max(self._seconds, 1e-9)

    @property
    def columns(self) -> tuple[Floats32, ...]:
        """The entries, [entries] each: values and, with temporal coherence, both sums; copies where in quarters."""
        columns = self._layout.columns(self.table)
        if not self._layout.quarters:
            return columns
        places = self._layout.places(np.arange(self._layout.entries))
        return tuple(column[places] for column in columns)

    def weights(self, room: Room | None = None) -> Weights:
        """Returns what the run knows now, in `room` if there is one."""
        places, entries = touched_entries(self._layout, self.table, self.initial, room or Room.of(self._layout))
        training = {
            **self.plan.described(),
            "games": self.games,
            "done": self.done,
            "moves": self.moves,
            "points": self.points.sums.tolist(),
            **({"seconds": self.seconds} if self._limit or self._seconds_before else {}),
        }
        return Weights(self.network, self.initial, places, entries, training, self.points.curve())
