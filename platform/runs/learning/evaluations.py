"""Evaluations during a training; their matches are ordinary ones of the run.

A network that learns without search plays from a snapshot in the folder `OUT.evaluating`, on extra threads while
learning continues; the snapshot is removed once its games are stored, and the next command finishes any left there.
Checkpoints of self-play are kept in `OUT.checkpoints` and play on the workers between two generations, also against the
best earlier one.
"""

from __future__ import annotations

import json
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ...agents.agent import Agent
from ...agents.learning.loop import TrainingLoop
from ...agents.learning.plan import LearningPlan
from ...agents.registry import AGENTS
from ...arena.match import derive_seed
from ...arena.schedules.duel import Duel
from ...arena.schedules.round_robin import plies_for_openings, round_robin
from ...arena.workers.local import ThreadExecutor
from ...core.errors import UserError
from ...games.game import Game
from ...results.store.curves import CurvePoint
from ...statistics.sprt import Verdict
from ..plan import Playing
from ..play import play_into, play_rounds
from ..self_play.ratings import BEST, SECONDS, best_checkpoint, seconds_of
from ..stored.training import evaluation_unit, stored_evaluation

KIND = "training"
FIRST_PAIRS = 8  # of games before the first test against the best checkpoint


@dataclass(frozen=True)
class Evaluating:
    """How a network is evaluated while it learns: every `every` games, by matches in all seat orders."""

    every: int
    games: int  # per evaluation
    against: str = ""  # the full text of the agent in all other seats; empty for games of one seat

    @classmethod
    def of(cls, game: Game, every: int, games: int, against: str) -> Evaluating:
        """Checks the settings; the default for the other seats is MCTS1 of Weitz 2022."""
        if game.num_seats == 1:
            if against:
                raise UserError(f"{game} has one seat, got the opponent {against}; leave it out.")
            return cls(every, games)
        other = AGENTS.make(against or "mcts(iterations=10000)")
        other.require(game)
        return cls(every, games, other.full_text())


class Evaluations:
    """Stores the curve of a training and makes its evaluations when they are due; a context manager."""

    def __init__(self, run: Playing, loop: TrainingLoop[Any], evaluating: Evaluating | None, workers: int = 1) -> None:
        self.store, self.id, self.pool, self.bar = run.store, run.id, run.pool, run.bar
        self.loop, self.evaluating = loop, evaluating
        self.plan: LearningPlan = loop.plan
        self.folder = self.plan.folder(loop.out)
        self.seconds = seconds_of(self.store, self.id)  # of learning, by checkpoint
        self._seconds_before = max(self.seconds.values(), default=0.0)
        self._own = ThreadExecutor(workers)
        self._queue = ThreadPoolExecutor(1, "evaluation")
        self._futures: list[Future[None]] = []
        if not loop.done:
            self._forget()
        for games in self.waiting_games():
            self._add(games)

    def __enter__(self) -> Evaluations:
        return self

    def __exit__(self, *_: object) -> None:
        self._queue.shutdown(wait=False, cancel_futures=True)
        self._own.close()
        self._queue.shutdown()

    def _forget(self) -> None:
        """Discards the results of an earlier training of this plan, which starts over."""
        self.store.curves.clear(self.id)
        self.seconds, self._seconds_before = {}, 0.0
        for name in (BEST, SECONDS) if self.plan.rated else (SECONDS,):
            self.store.annotations.set(self.id, name, "")
        for games in self.waiting_games():
            self._snapshot(games)[0].unlink()

    def waiting_games(self) -> list[int]:
        """Returns the games of checkpoints that wait for evaluation, including those of earlier commands."""
        files = () if self.plan.rated else self.folder.glob("*.npz")
        return sorted(int(path.stem) for path in files if path.stem.isdigit())

    def saved(self, weights: Any) -> None:
        """Takes a checkpoint: stores the curve, and starts an evaluation if one is due."""
        done = self.loop.done
        self.store.curves.replace_points(self.id, CurvePoint.of_curve(self.loop.points.curve(), done))
        self._note_seconds()
        if self._is_due() and not (self.plan.rated and self.loop.stopping):  # evaluated when the command is repeated
            self.folder.mkdir(exist_ok=True)
            self.plan.save(self.loop, weights, self._snapshot(done))
            self._add(done)
        for future in self._futures:
            if future.done():
                future.result()  # raises its error

    def _is_due(self) -> bool:
        done, before, chosen = self.loop.done, self.loop.done_before, self.evaluating
        if not chosen or done in self.store.curves.evaluated(self.id) or done in self.waiting_games():
            return False
        ends = (0, self.loop.games) if self.plan.rated else ()
        return done in ends or done // chosen.every > before // chosen.every

    def _note_seconds(self) -> None:
        """Stores the learning time up to now and up to the evaluated checkpoints."""
        kept = {*self.store.curves.evaluated(self.id), *self.waiting_games()}
        self.seconds = {games: seconds for games, seconds in self.seconds.items() if games in kept}
        self.seconds[self.loop.done] = self._seconds_before + self.loop.learning_seconds
        self.store.annotations.set(self.id, SECONDS, json.dumps(self.seconds))

    def finish(self) -> None:
        """Waits for all evaluations; raises their errors."""
        if waiting := sum(not future.done() for future in self._futures):
            self.bar.note(f"{waiting} evaluations to finish")
        for future in self._futures:
            future.result()
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _add(self, games: int) -> None:
        if self.plan.rated:
            self._evaluate(games)
        else:
            self._futures.append(self._queue.submit(self._evaluate, games))

    def _evaluate(self, games: int) -> None:
        files = self._snapshot(games)
        agent = self.plan.agent(*files)
        said = self._rate(games, agent) if self.plan.rated else ""
        if not (self.plan.rated or self._play(games, agent)):
            return
        self.store.curves.add_evaluation(self.id, games, agent.full_text())
        if not self.plan.rated:
            files[0].unlink()
        found = stored_evaluation(self.store, self.id, self.plan.game, games, agent.full_text())
        self.bar.print(f"after {games:,} games: {found} ({evaluation_unit(self.plan.game)}){said}")

    def _snapshot(self, games: int) -> Any:
        return self.plan.snapshot(self.loop.out, games)

    def _play(self, games: int, agent: Agent) -> bool:
        """Plays the missing matches of an evaluation; returns False if it was interrupted."""
        assert self.evaluating
        others = [AGENTS.make(self.evaluating.against) for _ in range(self.plan.game.num_seats - 1)]
        seed = derive_seed(KIND, self.plan.seed, games)
        specs = round_robin(self.plan.game, [agent, *others], self.evaluating.games, seed)
        for _ in play_into(self.store, self.id, specs, self._own):
            pass
        return len(self.store.played(spec.id for spec in specs)) == len({spec.id for spec in specs})

    def _rate(self, games: int, agent: Agent) -> str:
        """Plays the best checkpoint until it is clear which is stronger, then the opponent; returns a text about it."""
        assert self.evaluating
        said, best = "", best_checkpoint(self.store, self.id)
        if best is None or best == games:  # the latter after a kill before everything was noted
            self.store.annotations.set(self.id, BEST, str(games))
        else:
            duel = self._duel(games, agent, self.plan.agent(*self._snapshot(best)), FIRST_PAIRS)
            said = (
                f"; than the best before, of {best:,} games: {duel.test.verdict.value} after {duel.games} games of both"
            )
            if duel.test.verdict is Verdict.STRONGER:
                self.store.annotations.set(self.id, BEST, str(games))
        self._duel(games, agent, AGENTS.make(self.evaluating.against), self.evaluating.games)
        return said

    def _duel(self, games: int, agent: Agent, other: Agent, first_round: int) -> Duel:
        """Plays pairs from drawn openings: agents that draw no random numbers would repeat one game."""
        assert self.evaluating
        game, most = self.plan.game, self.evaluating.games
        seed = derive_seed(KIND, self.plan.seed, games, other.full_text())
        plies = plies_for_openings(game, most)
        duel = Duel(game, (agent, other), seed, games=most, first_round=min(first_round, most), opening_plies=plies)
        for _ in play_rounds(self.store, self.id, duel.rounds(), self.pool):
            if self.loop.stopping:  # finished when the command is repeated
                raise KeyboardInterrupt
        return duel
