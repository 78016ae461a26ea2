"""Training of an n-tuple network by threads that share one table.

Every game draws from its own stream, and between games the table is the only state, so a run with one thread resumes
bit for bit. Several threads write to the table without locks: a change may get lost, which does not harm learning, but
two such runs differ.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...core.array_files import NotFinite
from ...core.errors import UserError
from ...core.kernel import compile_kernel
from ...core.outputs import only_writer
from ...core.rng import streams
from ...games.game import Game
from ..agent import Agent
from ..learning.loop import BLOCK_SECONDS, Report, Stretch, TrainingLoop, require_same
from ..learning.plan import LearningPlan
from ..registry import AGENTS
from .evaluator import NTuple
from .layout import Floats32, new_table
from .learn2048 import learn_2048
from .learn_games import learn_games
from .network import Network
from .plans.starts import described_starts, mean_start
from .td import Td
from .weights import Room, Weights, load_weights, read_config, read_values, touched_entries

LARGEST_WEIGHT = 1000.0  # in multiples of the largest return: larger weights have diverged; entries may cancel out


@dataclass(frozen=True)
class Plan(LearningPlan):
    """An n-tuple network that learns by temporal differences; with one thread the same plan gives the same weights."""

    name = "learning by td"
    key = "evaluator"
    foreign = ()

    game: Game
    evaluator: NTuple
    learning: Td
    seed: int = 1
    every: int = 1000
    begins: tuple[Path, ...] = ()  # weights; learning begins with their mean

    @property
    def learner(self) -> NTuple:
        return self.evaluator

    def described(self) -> dict[str, Any]:
        return super().described() | ({"begins": described_starts(self.begins)} if self.begins else {})

    def loop(self, out: Path, games: int, *, threads: int = 1, pool: Any = None) -> TdLoop:
        return TdLoop(self, out, games, threads)

    def stored(self, out: Path) -> Mapping[str, Any]:
        return dict(read_config(out)["training"])

    def agent(self, *files: Path) -> Agent:
        return AGENTS.make(f"greedy(evaluator=ntuple(file={files[0]}))")

    def check(self) -> None:
        reason = self.evaluator.cannot_evaluate(self.game)
        if self.evaluator.file:
            reason = f"training needs an empty network, got {self.evaluator}; name the file as --out."
        if self.learning.squeezed and self.game.num_seats == 1:
            reason = f"td with tanh must learn a game of two or more seats, got {self.game}; leave tanh out."
        elif self.learning.squeezed and abs(self.learning.optimism) >= self.game.max_return:
            reason = (
                f"td with tanh must have an optimism between -{self.game.max_return:g} and"
                f" {self.game.max_return:g}, got {self.learning.optimism:g}; choose another."
            )
        if self.game.kernels.has_observe:
            reason = f"training needs a game without hidden information, got {self.game}."
        if reason:
            raise UserError(reason)
        for file in self.begins:
            read_values(file)  # raises if it is a policy, whose entries are not values
        if self.learning.table and not (self.evaluator.network_for(self.game).packed and self.learning.is_fused):
            raise UserError(
                "td with a table must learn 4x4 boards of 2048 with a symmetric network, and with delayed=true if"
                f" trace is above 0, got {self.game}, {self.evaluator} and {self.learning}; leave the table out."
            )


class TdLoop(TrainingLoop[Weights]):
    """A training of an n-tuple network; see `TrainingLoop`."""

    detached = True
    plan: Plan

    def __init__(self, plan: Plan, out: Path, games: int, threads: int = 1) -> None:
        super().__init__(plan, out, games)
        self.threads = threads
        self.cure = f"with an alpha below {plan.learning.alpha:g}"
        self.network: Network = plan.evaluator.network_for(plan.game)
        self.initial = self._first_sum() / self.network.lookups
        self._kernel = learn_2048 if self.network.packed and plan.learning.is_fused else learn_games
        self._formations = plan.learning.formations()
        self._layout = self.network.layout(plan.learning.coherence, in_quarters=self._kernel is learn_2048)
        self._room: Room | None = None  # for all checkpoints in turn
        if out.exists():
            self._restore(load_weights(out))
        elif plan.begins:
            self.table, self.initial = mean_start(plan.begins, self.network, self._layout)
        else:
            self.table = new_table(self._layout.size)
            self._layout.columns(self.table)[0][:] = self.initial  # makes all pages before timing begins
        self.words = self.network.words(self._layout, plan.learning.squeezed)
        self.key = streams(plan.seed, 1)[0, 0]
        compile_kernel(self._kernel)

    def _first_sum(self) -> float:
        """Returns the sum of entries at which every board has the value `optimism`."""
        value, bound = self.plan.learning.optimism, self.plan.game.max_return
        return bound * math.atanh(value / bound) if self.plan.learning.squeezed else value

    def _restore(self, weights: Weights) -> None:
        stored, described = weights.training, self.plan.described()
        if stored.get("begins") != described.pop("begins", None):
            raise UserError(
                f"{self.out} began with other weights; repeat the command that began it, or train into another file."
            )
        require_same(self.out, stored, described)
        self.initial = weights.initial
        if weights.values_only and self.plan.learning.coherence:
            raise UserError(f"{self.out} has only values to play with; train into another file.")
        self.done, self.moves = stored["done"], stored["moves"]
        self.kept = self.done
        self.seconds_before = float(stored.get("seconds", 0.0))
        self.points.sums = np.array(stored["points"], np.float64).reshape(-1, 3)
        self.table = weights.table(self._layout)

    def play(self, first: int, count: int) -> tuple[Floats32, int]:
        """Learns from `count` games from number `first` on; returns their scores, [count, seats], and the moves."""
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

    def learn(self, stretch: Stretch) -> None:
        lock = threading.Lock()
        failures: list[BaseException] = []
        block = 1

        def work() -> None:
            nonlocal block
            while True:
                with lock:
                    first, count = self.done, min(block, stretch.games - self.done)
                    if failures or stretch.is_over(self):
                        return
                    self.done += count
                began = time.perf_counter()
                scores, moves = self.play(first, count)
                seconds = time.perf_counter() - began
                with lock:
                    self.moves += moves
                    self.points.add(first, scores[:, 0])
                    block = max(1, int(count * min(2.0, BLOCK_SECONDS / max(seconds, 1e-9))))
                    stretch.report(count)

        def guarded() -> None:
            try:
                work()
            except BaseException as failure:  # raised again by the waiting thread
                failures.append(failure)

        workers = [threading.Thread(target=guarded, daemon=True) for _ in range(self.threads)]
        for worker in workers:
            worker.start()
        try:
            for worker in workers:
                worker.join()
        except KeyboardInterrupt:  # in this thread, as in a notebook: the others end after their games
            self.stopping = True
            for worker in workers:
                worker.join()
        if failures:
            raise failures[0]

    @property
    def columns(self) -> tuple[Floats32, ...]:
        """The entries, [entries] each: values and, with temporal coherence, both sums; copies if in quarters."""
        columns = self._layout.columns(self.table)
        if not self._layout.quarters:
            return columns
        places = self._layout.places(np.arange(self._layout.entries))
        return tuple(column[places] for column in columns)

    def weights(self) -> Weights:
        self._room = self._room or Room.of(self._layout)
        places, entries = touched_entries(self._layout, self.table, self.initial, self._room)
        training = {
            **self.plan.described(),
            "games": self.games,
            "done": self.done,
            "moves": self.moves,
            "points": self.points.sums.tolist(),
            **({"seconds": self.seconds} if self._limit or self.seconds_before else {}),
        }
        return Weights(self.network, self.initial, places, entries, training, self.points.curve())

    def divergence(self, weights: Weights) -> str:
        if weights.largest <= LARGEST_WEIGHT * self.plan.game.max_return:
            return ""
        return f"learned values must stay within the returns of {self.plan.game}, got {weights.largest:.3g}"


def train_and_keep(
    plan: LearningPlan,
    out: Path,
    games: int,
    kept: Mapping[int, Path],
    report: Report,
    skip: Report,
    seconds: float = 0.0,
) -> None:
    """Trains with one thread and keeps networks to play with on the way; after a stop, the same call resumes.

    Diverged learning ends: weights of n-tuples are kept in place of the missing networks, which evaluation will find
    bad.

    Args:
        plan: what is learned.
        out: the file of checkpoints.
        games: in all; rates depend on this.
        kept: the networks' files by number of games, at most until the last of which it trains.
        report: called with the number of games just finished.
        skip: called with the number of games of earlier calls.
        seconds: stop after this many; 0 = never.
    """
    missing = sorted(place for place, file in kept.items() if not file.exists())
    if not missing:
        return
    with only_writer(out, f"has trained {plan.learner} on {plan.game}"):
        loop = plan.loop(out, games)
        if loop.done > missing[0]:  # a kept file is gone: only training from the start restores it
            out.unlink()
            loop = plan.loop(out, games)
        skip(loop.done)
        limit = loop.seconds + seconds if seconds else 0.0
        for place in missing:
            try:
                loop.run(report, checked=False, until=place, limit=limit)
            except NotFinite:
                if not isinstance(loop, TdLoop):
                    raise
                for other in missing[missing.index(place) :]:
                    loop.weights().to_play().bounded().save(kept[other])
                report(missing[-1] - loop.done)
                return
            if loop.done < place:  # the time is up
                return
            loop.weights().to_play().save(kept[place])
