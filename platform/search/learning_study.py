"""Studies of learning parameters: Optuna's TPE proposes learners, and those that learn slowly stop early.

A round's candidates train in parallel up to the first rung, are evaluated on the same games, and the better third
trains up to the next rung (synchronous successive halving; Karnin, Koren and Somekh 2013). Proposals depend only on the
seed and on earlier rounds, so a study is the same with any number of workers and after any kill: its whole state is
checkpoints, matches and finished trials.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution
from optuna.trial import FrozenTrial, TrialState, create_trial

from ..agents.agent import Agent
from ..agents.ntuple.evaluator import NTuple
from ..agents.ntuple.td import Td, td_of
from ..agents.ntuple.training import Plan, train_and_keep
from ..agents.ntuple.weights import read_config
from ..agents.registry import AGENTS, EVALUATORS
from ..arena.match import derive_seed
from ..arena.schedules.round_robin import round_robin
from ..arena.workers.executor import Executor
from ..core import number_text
from ..core.errors import UserError, unknown
from ..core.parameters import parameters_of
from ..games.game import Game
from ..games.registry import GAMES
from ..results.frames.measures import MATCH_MEASURES, Estimate
from ..results.store.store import Store
from ..runs.bar import Bar
from ..runs.play import play_into
from . import EDITION, FIRST_EDITION
from .definition import later_form
from .storage.checked_studies import facts_of
from .storage.studies import StoredStudy, as_begun

REDUCTION = 3  # candidates at a rung for each that trains further
STARTUP = 8  # random trials before TPE proposes
START = (0, 0)  # round and index of the start, which always trains to the end


@dataclass(frozen=True)
class LearningParameter:
    """A searched parameter of learning: a range of numbers, or a list of values."""

    name: str
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    values: tuple[float | bool, ...] = ()

    def distribution(self) -> BaseDistribution:
        return (
            CategoricalDistribution(self.values)
            if self.values
            else FloatDistribution(self.low, self.high, log=self.log)
        )


@dataclass(frozen=True)
class LearningStudyDefinition:
    """The definition of a study of learning; a stored study is only continued with the same one."""

    name: str
    game: str
    evaluator: str  # the network
    learning: str  # where the search starts; it fixes what is not searched
    searched: tuple[LearningParameter, ...]
    candidates: int  # per round
    rungs: tuple[int, ...]  # training games after which candidates are compared, ascending
    games: int  # per evaluation
    against: str = ""  # agent in the other seats
    seed: int = 1
    edition: int = EDITION  # see turnier.search

    @property
    def stored(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if key != "edition"} | later_form(self.edition)

    def __post_init__(self) -> None:
        if self.candidates < 2:
            raise UserError(f"a round must have at least 2 candidates, got {self.candidates}.")
        if not self.rungs or min(self.rungs) < 1 or list(self.rungs) != sorted(set(self.rungs)):
            raise UserError(f"rungs must be ascending numbers of games, got {self.rungs}.")


@dataclass
class LearnerCandidate:
    """A learner: its parameters, and its value at each rung reached."""

    round: int
    index: int
    learning: Td
    values: dict[str, Any]
    estimates: dict[int, Estimate] = field(default_factory=dict)  # by training games

    @property
    def value(self) -> float:
        """Its value at the last rung reached."""
        return self.estimates[max(self.estimates)][0]


class LearningStudy(StoredStudy):
    """A study in a store, with its candidates' networks in a folder, ready to run or to be resumed."""

    def __init__(self, store: Store, definition: LearningStudyDefinition, folder: Path) -> None:
        self.definition, self.folder = (definition := as_begun(store, definition)), folder
        self.game: Game = GAMES.make(definition.game)
        evaluator, self.start = EVALUATORS.make(definition.evaluator), td_of(definition.learning)
        if not isinstance(evaluator, NTuple):
            raise UserError(f"a study of learning needs an n-tuple network, got {evaluator}; name one, such as ntuple.")
        self.evaluator = evaluator
        known = [parameter.name for parameter, _ in parameters_of(Td)]
        for searched in definition.searched:
            if searched.name not in known:
                raise unknown("parameter of td", searched.name, known)
        self.others: list[Agent] = [AGENTS.make(definition.against) for _ in range(self.game.num_seats - 1)]
        self.measure = "score" if self.game.num_seats == 1 else "win_rate"
        self.distributions = {searched.name: searched.distribution() for searched in definition.searched}
        super().__init__(store, definition.name, definition.stored)
        self.name_values(self.unit)

    @property
    def unit(self) -> str:
        return MATCH_MEASURES[self.measure].unit

    def run(self, rounds: int, executor: Executor, workers: int) -> None:
        """Runs until `rounds` are complete, training `workers` candidates at once; stored results are reused."""
        self.folder.mkdir(parents=True, exist_ok=True)
        games = [self._max_games(number) for number in range(rounds)]
        with self.driving(self.store.lock(self.run_id), sum(games)) as (lock, bar):
            for number in range(rounds):
                lock.heartbeat()  # raises if another driver has taken over
                played = 0
                if len(self._trials(number)) < self.definition.candidates:
                    played = self._run_round(number, executor, workers, bar)
                bar.skip(games[number] - played)

    def _max_games(self, number: int) -> int:
        """Returns the maximum number of training games of a round."""
        games, left, before = 0, self.definition.candidates, 0
        for rung in self.definition.rungs:
            games, before = games + left * (rung - before), rung
            left = _survivors(left) + int(number == START[0])
        return games

    def _trials(self, number: int | None = None) -> list[FrozenTrial]:
        """Returns the finished trials of a round, or of all, by round and index."""
        trials = self.optuna.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED))
        return sorted(
            (t for t in trials if number is None or facts_of(t)["round"] == number),
            key=lambda t: (facts_of(t)["round"], facts_of(t)["index"]),
        )

    def _run_round(self, number: int, executor: Executor, workers: int, bar: Bar) -> int:
        """Trains and compares a round's candidates and stores their trials; returns their training games."""
        candidates = self._ask(number)
        left = candidates
        for rung in self.definition.rungs:
            bar.note(f"round {number + 1}, {len(left)} candidates to {rung:,} games")
            with ThreadPoolExecutor(workers, "training") as pool:
                list(pool.map(lambda candidate, rung=rung: self._train(candidate, rung, bar), left))
            for candidate in left:
                agent, seed = self._agent(candidate, rung), derive_seed(self.definition.seed, "search", number, rung)
                candidate.estimates[rung] = self._evaluate(agent, self.definition.games, seed, executor)
            best = sorted(left, key=lambda c: -c.value)[: _survivors(len(left))]
            left = [c for c in left if c in best or (c.round, c.index) == START]
        stored = len(self._trials(number))
        # In order: trial numbers must not depend on which candidate finished first.
        self.add_trials([self._trial(candidate) for candidate in candidates[stored:]])
        top = max((c for c in candidates if self.definition.rungs[-1] in c.estimates), key=lambda c: c.value)
        chosen = " ".join(f"{name} {number_text.number(value)}" for name, value in top.values.items())
        bar.print(f"round {number + 1:>3}: best {number_text.number(top.value):>9}   {chosen}")
        self._tidy()
        return sum(max(candidate.estimates) for candidate in candidates)

    def _ask(self, number: int) -> list[LearnerCandidate]:
        """Returns a round's candidates: proposals of TPE from all earlier rounds."""
        seed = derive_seed(self.definition.seed, "ask", number) % 2**32
        sampler = optuna.samplers.TPESampler(n_startup_trials=STARTUP, multivariate=True, constant_liar=True, seed=seed)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        study.add_trials([trial for trial in self._trials() if facts_of(trial)["round"] < number])
        if number == START[0]:
            study.enqueue_trial({name: getattr(self.start, name) for name in self.distributions})
        asked = [study.ask(self.distributions).params for _ in range(self.definition.candidates)]
        return [LearnerCandidate(number, i, self.start.replace(**values), values) for i, values in enumerate(asked)]

    def _out(self, candidate: LearnerCandidate) -> Path:
        return self.folder / f"{self.definition.name}-{candidate.round}-{candidate.index}.npz"

    def _rung(self, candidate: LearnerCandidate, rung: int) -> Path:
        """Returns the file of the network after this many games."""
        out = self._out(candidate)
        return out.with_name(f"{out.stem}-{rung}.npz")

    def _train(self, candidate: LearnerCandidate, rung: int, bar: Bar) -> None:
        """Trains a candidate up to a rung, from its checkpoint."""
        kept = self._rung(candidate, rung)
        before = max([r for r in self.definition.rungs if r < rung], default=0)
        if kept.exists():
            bar.skip(rung - before)
            return
        seed = derive_seed(self.definition.seed, "train", candidate.round, candidate.index) % 2**31
        last = self.definition.rungs[-1]
        plan = Plan(self.game, self.evaluator, candidate.learning, seed, max(1, last // 100))

        def skip(games: int) -> None:
            bar.skip(max(0, games - before))

        train_and_keep(plan, self._out(candidate), last, {rung: kept}, bar.advance, skip)

    def _agent(self, candidate: LearnerCandidate, rung: int) -> Agent:
        path = self._rung(candidate, rung)
        return AGENTS.make(f"greedy(evaluator=ntuple(file={path},digest={read_config(path)['digest']}))")

    def _evaluate(self, agent: Agent, games: int, seed: int, executor: Executor) -> Estimate:
        """Plays games in all seat orders; returns their mean or share with its interval and the matches."""
        specs = round_robin(self.game, [agent, *self.others], games, seed)
        records = [record for batch in play_into(self.store, self.run_id, specs, executor) for record in batch]
        return MATCH_MEASURES[self.measure].estimate(records, agent.full_text())

    def _trial(self, candidate: LearnerCandidate) -> FrozenTrial:
        complete = self.definition.rungs[-1] in candidate.estimates
        value, low, high, matches = candidate.estimates[max(candidate.estimates)]
        return create_trial(
            state=TrialState.COMPLETE if complete else TrialState.PRUNED,
            value=value if complete else None,
            params=candidate.values,
            distributions=self.distributions,
            intermediate_values={rung: estimate[0] for rung, estimate in candidate.estimates.items()},
            user_attrs={
                "round": candidate.round,
                "index": candidate.index,
                "trained": max(candidate.estimates),
                "low": low,
                "high": high,
                "games": matches,
                "learning": candidate.learning.full_text(),
            },
        )

    def best(self) -> LearnerCandidate:
        """Returns the candidate with the largest value of those trained to the end."""
        complete = [trial for trial in self._trials() if trial.state == TrialState.COMPLETE]
        return self._candidate(max(complete, key=lambda trial: float(trial.value or 0.0)))

    def _candidate(self, trial: FrozenTrial) -> LearnerCandidate:
        facts = facts_of(trial)
        estimates = {
            rung: Estimate(value, facts["low"], facts["high"], facts["games"])
            for rung, value in trial.intermediate_values.items()
        }
        learning = self.start.replace(**trial.params)
        return LearnerCandidate(facts["round"], facts["index"], learning, dict(trial.params), estimates)

    def start_candidate(self) -> LearnerCandidate:
        return self._candidate(self._trials(START[0])[START[1]])

    def play_held_out(self, candidates: Sequence[LearnerCandidate], games: int, executor: Executor) -> list[Estimate]:
        """Plays held-out games with networks trained to the end."""
        own = [self.definition.name] if self.definition.edition > FIRST_EDITION else []
        seed, last = derive_seed(self.definition.seed, "held-out", *own), self.definition.rungs[-1]
        return [self._evaluate(self._agent(candidate, last), games, seed, executor) for candidate in candidates]

    def _tidy(self) -> None:
        """Removes the networks of all finished candidates except the start and the best."""
        last = self.definition.rungs[-1]
        kept = {self._rung(candidate, last) for candidate in (self.best(), self.start_candidate())}
        for trial in self._trials():
            out = self._out(self._candidate(trial))
            for path in (out, *out.parent.glob(f"{out.stem}-*.npz")):
                if path not in kept:
                    path.unlink(missing_ok=True)


def _survivors(candidates: int) -> int:
    return max(1, candidates // REDUCTION)
