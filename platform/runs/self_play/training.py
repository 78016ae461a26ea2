"""Training by self-play in a store: its curve, and the strength of its checkpoints, which are rated on one scale."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import pandas as pd

from turnier.agents.agent import Agent
from turnier.agents.ntuple.td import LEARNING
from turnier.agents.puct.agent import Puct
from turnier.agents.puct.self_play import SelfPlay
from turnier.agents.registry import AGENTS
from turnier.arena.match import derive_seed
from turnier.arena.schedules.duel import Duel
from turnier.arena.schedules.round_robin import plies_for_openings
from turnier.arena.workers.executor import Executor
from turnier.arena.workers.where import Where
from turnier.core.errors import MAX_GAMES, MAX_IN_MEMORY, UserError, require_at_most
from turnier.core.outputs import only_writer, require_file
from turnier.games.game import Game
from turnier.games.registry import GAMES
from turnier.results.store.curves import CurvePoint
from turnier.results.store.locks import Lock
from turnier.results.store.store import Store
from turnier.runs.bar import Bar
from turnier.runs.play import play_rounds, playing
from turnier.runs.results import RunResults
from turnier.runs.self_play.checkpoint import games_of
from turnier.runs.self_play.loop import SelfPlayLoop
from turnier.runs.self_play.plan import Plan
from turnier.runs.self_play.ratings import BEST, SECONDS, best_checkpoint, rated_checkpoints, seconds_of
from turnier.runs.training_run import (
    KIND,
    Evaluating,
    Evaluation,
    evaluation_unit,
    run_id_of,
    stored_evaluation,
    stored_evaluations,
)
from turnier.statistics.sprt import Verdict

FIRST_PAIRS = 8  # before the first test whether a checkpoint is stronger than the best


class SelfPlayTraining:
    """Networks that learn values and a policy of a game from games of a search with them."""

    def __init__(
        self,
        game: str | Game,
        agent: str | Agent,
        *,
        out: Path | str,
        games: int = 10_000,
        learning: str = "self_play",
        seed: int = 1,
        every: int = 1000,
        evaluate_every: int = 0,
        evaluation_games: int = 100,
        against: str | Agent = "",
    ) -> None:
        """Plans a training; raises UserError where it cannot be done.

        Args:
            game: such as "yavalath".
            agent: the search, such as "puct(iterations=100,selection=gumbel,evaluator=ntuple(tuples=20,length=4))".
            out: the file of checkpoints; an existing one is trained further. The networks to play with go beside it.
            games: in all, including those of earlier runs.
            learning: the method, such as "self_play(generation=500)".
            seed: the same seed gives the same weights, whatever the number of workers.
            every: games per point of the curve.
            evaluate_every: games between two checkpoints that are kept and evaluated; 0 = none.
            evaluation_games: of a checkpoint against each of the best one so far and the opponent, at most.
            against: the opponent; empty = MCTS.
        """
        if games < 1:
            raise UserError(f"games of a training must be at least 1, got {games}.")
        require_at_most(MAX_GAMES, max(games, every, evaluate_every), "games of a training")
        require_at_most(MAX_IN_MEMORY, evaluation_games, "games of an evaluation")
        made, puct, method = GAMES.make(game), AGENTS.make(agent), LEARNING.make(learning or "self_play")
        if not isinstance(puct, Puct):
            raise UserError(
                f'self-play with search needs puct, got {puct}; write "puct(selection=gumbel,evaluator=ntuple)".'
            )
        if not isinstance(method, SelfPlay):
            raise UserError(f"self-play with search needs the method self_play, got {method}; leave it out.")
        if against and not evaluate_every:
            raise UserError(
                f"the opponent {against} needs evaluations to play in; name their interval with --evaluate-every."
            )
        self.plan = Plan(made, puct, method, seed, every)
        self.plan.check()
        self.out, self.games = Path(out), games
        require_file(self.out, "the file of checkpoints")
        self._loop: SelfPlayLoop | None = None  # while it runs
        self.evaluating: Evaluating | None = None
        if evaluate_every:
            self.evaluating = Evaluating.of(made, evaluate_every, evaluation_games, str(against))

    @property
    def definition(self) -> dict[str, Any]:
        """What is stored of the run."""
        evaluating = asdict(self.evaluating) if self.evaluating else {}
        return self.plan.described() | {"out": str(self.out)} | evaluating

    @property
    def run_id(self) -> str:
        return run_id_of(self.definition)

    @property
    def done(self) -> int:
        """The games that the last checkpoint has learned from."""
        return games_of(self.out) if self.out.exists() else 0

    @property
    def finished(self) -> bool:
        return self.done >= self.games

    def agent(self, *files: Path) -> Agent:
        """Returns the search with networks of those files."""
        return self.plan.model.agent(self.plan.agent, self.plan.learning, files)

    @property
    def learned(self) -> tuple[Path, ...]:
        """The files of the newest networks: values and policy, or one network of both."""
        return tuple(self.out.with_suffix(f".{name}.npz") for name in self.plan.model.files)

    def run(
        self,
        store: Store,
        *,
        where: Where | Executor = Where(),
        progress: bool = True,
    ) -> SelfPlayResults:
        """Learns until all games are played; after a stop or a kill, the same call resumes it. See `playing`.

        Raises UserError where another process trains this file, or in this store.
        """
        with only_writer(self.out, f"has trained {self.plan.agent} on {self.plan.game}"):
            loop = self._loop = SelfPlayLoop(self.plan, self.out, self.games)
            with store.lock(self.run_id) as lock:

                def begin() -> None:
                    store.begin_run(self.run_id, KIND, str(self.plan.game), self.definition)
                    if loop.done == 0:
                        store.curves.clear(self.run_id)
                        for name in (BEST, SECONDS):
                            store.annotations.set(self.run_id, name, "")

                with playing(store, self.run_id, str(self.plan.game), self.games, where, progress, begin) as (
                    pool,
                    bar,
                ):
                    if loop.done:
                        bar.skip(loop.done)
                        bar.print(f"Resuming after {loop.done:,} games of earlier runs.")
                    EvaluatedLearning(self, store, loop, pool, bar).learn(lock)
            return SelfPlayResults(store, self.run_id, self)

    def stop(self) -> bool:
        """Has `run` end soon by KeyboardInterrupt, with a checkpoint; returns whether it runs."""
        if self._loop:
            self._loop.stop()
        return self._loop is not None

    def save(self, loop: SelfPlayLoop, *files: Path) -> None:
        """Writes what was learned as files to play with."""
        for weights, path in zip(loop.networks(), files, strict=True):
            if weights:
                weights.save(path)


class EvaluatedLearning:
    """Has a loop learn, and evaluates checkpoints on the way with the same workers."""

    def __init__(
        self, training: SelfPlayTraining, store: Store, loop: SelfPlayLoop, executor: Executor, bar: Bar
    ) -> None:
        self.training, self.store, self.loop, self.executor, self.bar = training, store, loop, executor, bar
        self.id, self.plan, self.evaluating = training.run_id, training.plan, training.evaluating
        self.seconds = seconds_of(store, self.id)
        self._learned = max(self.seconds.values(), default=0.0)  # seconds, without evaluations
        self._since = time.monotonic()

    def learn(self, lock: Lock) -> None:
        def after_generation(loop: SelfPlayLoop) -> None:
            lock.heartbeat()  # raises where another driver has taken over
            self._note_time()
            self._save_points()
            if not loop.stopping:  # otherwise the same command evaluates it
                self._evaluate_if_due()
            self._since = time.monotonic()

        self._evaluate_if_due()  # a kill may have come between the checkpoint and what follows it
        self._since = time.monotonic()
        self.loop.run(self.executor, self.bar.advance, after_generation)
        self.training.save(self.loop, *self.training.learned)

    def _note_time(self) -> None:
        """Stores how long learning has taken up to now, and to the checkpoints that were evaluated."""
        self._learned += time.monotonic() - self._since
        evaluated = self.store.curves.evaluated(self.id)
        self.seconds = {games: seconds for games, seconds in self.seconds.items() if games in evaluated}
        self._store_seconds()

    def _store_seconds(self) -> None:
        self.seconds[self.loop.done] = self._learned
        self.store.annotations.set(self.id, SECONDS, json.dumps(self.seconds))

    def _save_points(self) -> None:
        self.store.curves.replace_points(self.id, CurvePoint.of_curve(self.loop.points.curve(), self.loop.done))

    def _evaluate_if_due(self) -> None:
        done, size = self.loop.done, self.plan.learning.generation
        if not self.evaluating or done in self.store.curves.evaluated(self.id):
            return
        passed = done // self.evaluating.every > max(done - size, 0) // self.evaluating.every
        if not (passed or done in (0, self.loop.games)):
            return
        files = self._files(done)
        files[0].parent.mkdir(exist_ok=True)
        self.training.save(self.loop, *files)
        agent = self.training.agent(*files)
        self._store_seconds()
        verdict = self._compare_with_best(done, agent)
        self._play_against(done, agent)
        self.store.curves.add_evaluation(self.id, done, agent.full_text())
        found = stored_evaluation(self.store, self.id, self.plan.game, done, agent.full_text())
        self.bar.print(f"after {done:,} games: {found} ({evaluation_unit(self.plan.game)}){verdict}")

    def _files(self, games: int) -> tuple[Path, ...]:
        folder = self.training.out.with_suffix(".checkpoints")
        return tuple(folder / f"{games}.{name}.npz" for name in self.plan.model.files)

    def _compare_with_best(self, games: int, agent: Agent) -> str:
        """Plays pairs of games with the best checkpoint so far until it is clear which is stronger; says so."""
        best = best_checkpoint(self.store, self.id)
        if best is None or best == games:  # the latter where a kill came before all was noted
            self.store.annotations.set(self.id, BEST, str(games))
            return ""
        duel = self._duel(agent, self.training.agent(*self._files(best)), games, FIRST_PAIRS)
        verdict = duel.test.verdict
        if verdict is Verdict.STRONGER:
            self.store.annotations.set(self.id, BEST, str(games))
        return f"; than the best before, of {best:,} games: {verdict.value} after {duel.games} games of both"

    def _play_against(self, games: int, agent: Agent) -> None:
        assert self.evaluating
        self._duel(agent, AGENTS.make(self.evaluating.against), games, self.evaluating.games)

    def _duel(self, agent: Agent, other: Agent, games: int, first_round: int) -> Duel:
        """Plays pairs from drawn openings: agents that draw nothing would play one game again and again."""
        assert self.evaluating
        plan, most = self.plan, self.evaluating.games
        seed = derive_seed(KIND, plan.seed, games, other.full_text())
        plies = plies_for_openings(plan.game, most)
        duel = Duel(
            plan.game, (agent, other), seed, games=most, first_round=min(first_round, most), opening_plies=plies
        )
        for _ in play_rounds(self.store, self.id, duel.rounds(), self.executor):
            if self.loop.stopping:  # the same command finishes it
                raise KeyboardInterrupt
        return duel


@dataclass(frozen=True, repr=False)
class SelfPlayResults(RunResults):
    """The results of a training by self-play."""

    training: SelfPlayTraining

    @property
    def agent(self) -> Agent:
        """The search with the networks."""
        return self.training.agent(*self.training.learned)

    @property
    def best(self) -> int | None:
        """The games after which the best checkpoint was made, None where none was evaluated."""
        return best_checkpoint(self.store, self.id)

    def table(self) -> pd.DataFrame:
        """Returns one row per evaluated checkpoint, see `rated_checkpoints`, and its value against the opponent.

        That is the share of games won, %, with its 95 % interval and the number of games.
        """
        found = stored_evaluations(self.store, self.id, self.training.plan.game)
        values = pd.DataFrame([asdict(each) for each in found], columns=[field.name for field in fields(Evaluation)])
        return rated_checkpoints(self.store, self.id).merge(values, on="games")
