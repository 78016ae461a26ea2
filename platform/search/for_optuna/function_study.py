"""A study of any noisy function: our samplers propose parameters, held-out evaluations decide about the proposal.

The storage is the only state, as for studies of agents: a study that is opened again has learned all values of complete
candidates, and asks for the rest of its generation.
"""

from __future__ import annotations

import math
import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, NamedTuple

from optuna.samplers import BaseSampler
from optuna.trial import TrialState, create_trial

from ...arena.match import derive_seed
from ...core.errors import UserError
from ...results.store.store import Store
from ...statistics.superiority import MIN_UNITS
from .. import EDITION, VERIFY
from ..dimensions.tree import Value
from ..dimensions.typed import Searched
from ..noise import NOISES
from ..samplers.of_optuna import read_sampler
from ..samplers.registry import SAMPLERS
from ..samplers.sampler import KnownFirst, Sampler, Search, SteppingSearch, asked, began, calling, recommended
from ..storage.checked_studies import SUMMARIES, TRIALS_SO_FAR, facts_of, is_foreign, set_note, study_notes
from ..storage.definitions import EVALUATIONS
from ..storage.results import StudyResults
from ..storage.studies import StoredStudy, optuna_errors, run_id_of, stored_verdict
from ..storage.trials import count_trials
from ..verdict import START, StudyVerdict
from .function_space import space_of, start_of, stored_parameters, text_of
from .function_verdict import PROPOSED, HeldOutEvaluations

Function = Callable[..., float]  # of the parameters, a dict, and of a seed


class Evaluation(NamedTuple):
    """What to evaluate next: call the function with the parameters and the seed, and tell its value."""

    parameters: Mapping[str, Value]
    seed: int
    held_out: bool  # for the verdict: the search does not see its value
    place: tuple[int | str, int, int]  # generation and index, or label and 0; number


@dataclass
class _Candidate:
    vector: list[float]
    parameters: dict[str, Value]
    wanted: int  # evaluations
    values: dict[int, float] = field(default_factory=dict)  # by number
    stored: bool = False


class FunctionStudy(StoredStudy):
    """A search for the parameters that maximise a noisy function, stored and resumable; see `create_study`."""

    def __init__(self, store: Store, definition: Mapping[str, Any], evaluations: int, verify: float) -> None:
        self.definition, self.evaluations, self.verify = definition, evaluations, verify
        self.space = space_of(definition["searched"])
        self.sampler = SAMPLERS.make(definition["sampler"])
        self.noise = NOISES.make(definition["noise"])
        self.name = definition["name"]
        self._first_name = definition.get("begun_as", self.name)  # seeds stay when a study is renamed
        start, *known = (self._encoded(values) for values in (definition["start"], *definition.get("known", ())))
        self.search = KnownFirst(start, definition["seed"], known, self._begun) if known else self._begun(start)
        if self.search.duels:
            raise UserError(f"duels are for games of two or more seats, got a function with {self.sampler}; use cmaes.")
        if not self.noise.one_stage:
            raise UserError(f"candidates of a function must play equally often, got {self.noise}; use fixed(games=N).")
        first = sum(self.noise.more(0, [[] for _ in asked(self.sampler, self.search, self.space.size)]))
        if evaluations < first:
            raise UserError(f"a study must last for a generation of {first:,} evaluations, got {evaluations:,}.")
        super().__init__(store, self.name, definition)
        self.name_values("value")
        self.searched = 0  # evaluations of complete generations
        self._trials = 0  # stored ones
        self._candidates: list[_Candidate] = []
        self._handed: set[tuple[int | str, int, int]] = set()
        self._final: HeldOutEvaluations | None = None
        self._replay()

    def _encoded(self, values: Mapping[str, Value]) -> list[float]:
        return [dimension.encode(values[dimension.path]) for dimension in self.space.dimensions]

    def _begun(self, start: Sequence[float]) -> Search:
        search = began(self.sampler, start, self.definition["seed"], self.space)
        if isinstance(search, SteppingSearch):
            search.alive = self.space.dimensions
        return search

    def _replay(self) -> None:
        """Learns what is stored."""
        known: dict[tuple[int, int], tuple[float, dict[str, Any]]] = {}
        for trial in self.optuna.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
            if not is_foreign(trial):
                facts = facts_of(trial)
                known[facts["generation"], facts["index"]] = float(trial.value or 0.0), facts
        noted = study_notes(self.store, self.name, f"{SUMMARIES}%")
        self._trials = len(known)
        while self._begin():
            for index, candidate in enumerate(self._candidates):
                if (place := (self.search.generation, index)) in known:
                    value, facts = known[place]
                    candidate.stored, candidate.vector = True, facts["vector"]
                    candidate.values = dict.fromkeys(range(candidate.wanted), value)
            if not self._end(f"{SUMMARIES}{self.search.generation}" not in noted):
                return

    def _begin(self) -> bool:
        """Asks for a generation; whether it fits the evaluations."""
        vectors = asked(self.sampler, self.search, self.space.size).tolist()
        wanted = self.noise.more(self.search.generation, [[] for _ in vectors])
        self._candidates = [_Candidate(v, self.space.decode(v), n) for v, n in zip(vectors, wanted, strict=True)]
        if self.searched + sum(wanted) > self.evaluations:
            self._candidates = []
            self._final = HeldOutEvaluations(self)
        return bool(self._candidates)

    def _end(self, new: bool) -> bool:
        """Tells the search the values of a complete generation; whether it is complete."""
        if not all(candidate.stored for candidate in self._candidates):
            return False
        values = [statistics.fmean(candidate.values.values()) for candidate in self._candidates]
        number, self.searched = self.search.generation, self.searched + sum(c.wanted for c in self._candidates)
        with calling(self.sampler, "tell"):
            self.search.tell(values)
        if new:
            summary: dict[str, Any] = {"mean": statistics.fmean(values), "best": max(values), **self.search.facts()}
            summary |= {"games": self.searched, "recommendation": self.proposed, TRIALS_SO_FAR: self._trials}
            with optuna_errors(self.store.shown_url):
                set_note(self.optuna, f"{SUMMARIES}{number}", summary)
        return True

    @property
    def start(self) -> dict[str, Value]:
        """The parameters at which the search began."""
        return dict(self.definition["start"])

    @property
    def proposed(self) -> dict[str, Value]:
        """The parameters that the search proposes now: never the luckiest candidate."""
        return self.space.decode(recommended(self.sampler, self.search, self.space.size))

    @property
    def finalists(self) -> dict[str, dict[str, Value]]:
        """The parameters that the held-out evaluations compare, by label: the start, those proposed, known ones."""
        known = {f"known {place}": dict(one) for place, one in enumerate(self.definition.get("known", ()), 1)}
        return {START: self.start, PROPOSED: self.proposed} | known

    @property
    def verdict(self) -> StudyVerdict | None:
        """Whether what is proposed is better than the start, and by how much; None before the held-out evaluations."""
        return stored_verdict(self.store, self.name)

    @property
    def best_params(self) -> dict[str, Value]:
        """The parameters to use: those that are shown to be better than the start, otherwise the start."""
        verdict = self.verdict
        return self.finalists[verdict.label] if verdict is not None else self.start

    @property
    def results(self) -> StudyResults:
        """The stored results: `.trials()`, `.generations()`, `.held_out()`; a notebook shows them as a page."""
        return StudyResults(self.store, self.run_id)

    def ask(self) -> Evaluation | None:
        """Returns what to evaluate next, None after the verdict.

        Several may be asked for before the first is told. Raises UserError if the next generation, or round of held-out
        evaluations, must wait for values that have not been told.
        """
        if self._final:
            return self._handed_out(self._final.places())
        number = self.search.generation
        places = [
            (number, index, n)
            for index, candidate in enumerate(self._candidates)
            for n in range(candidate.wanted)
            if n not in candidate.values
        ]
        return self._handed_out(places)

    def _handed_out(self, places: Sequence[tuple[int | str, int, int]]) -> Evaluation | None:
        place = next((one for one in places if one not in self._handed), None)
        if place is None:
            if places:
                raise UserError(f"what follows depends on {len(places)} values that were asked for; tell them first.")
            return None
        self._handed.add(place)
        generation, index, number = place
        if isinstance(generation, str):
            assert self._final
            seed = derive_seed(self.definition["seed"], "held-out", self._first_name, number)
            return Evaluation(dict(self._final.agents[generation]), seed % 2**31, True, place)
        seed = derive_seed(self.definition["seed"], "search", generation, index, number)
        return Evaluation(dict(self._candidates[index].parameters), seed % 2**31, False, place)

    def tell(self, evaluation: Evaluation, value: float) -> None:
        """Takes the value of the function, the larger the better, and stores it with those of its candidate."""
        number = float(value) if isinstance(value, Real) else math.nan
        if not math.isfinite(number):
            raise UserError(f"the value of {text_of(evaluation.parameters)} must be a finite number, got {value!r}.")
        if evaluation.place not in self._handed:
            raise UserError("a value is told once, for what this study has asked for; ask again.")
        self._handed.discard(evaluation.place)
        generation, index, place = evaluation.place
        if self._final:
            self._final.take(str(generation), place, number)
            return
        self._candidates[index].values[place] = number
        self._store()
        while self._candidates and self._end(True) and self._begin():
            pass

    def _store(self) -> None:
        """Stores candidates that are complete, in order."""
        new = []
        for index, candidate in enumerate(self._candidates):
            if len(candidate.values) < candidate.wanted:
                break
            if not candidate.stored:
                new.append((index, candidate))
        if not new:
            return
        if count_trials(self.store, self.name) != self._trials:
            raise UserError(f"study {self.name} has been continued elsewhere; open it again.")
        self.add_trials([self._trial(index, candidate) for index, candidate in new])
        self._trials += len(new)
        for _, candidate in new:
            candidate.stored = True

    def _trial(self, index: int, candidate: _Candidate) -> Any:
        values, count = list(candidate.values.values()), len(candidate.values)
        facts = {
            "generation": self.search.generation,
            "index": index,
            **({"standard_error": statistics.stdev(values) / math.sqrt(count)} if count > 1 else {}),
            "games": count,
            "vector": candidate.vector,
        }
        searched = self.space.distributions(candidate.parameters)
        mean = statistics.fmean(values)
        return create_trial(value=mean, params=candidate.parameters, distributions=searched, user_attrs=facts)

    def optimize(self, function: Function, progress: bool = True) -> StudyVerdict | None:
        """Evaluates the function until the verdict, which it returns; what is stored is not evaluated again.

        Args:
            function: called with the parameters, a dict, and a seed, a whole number below 2**31.
            progress: whether to show a bar.
        """
        from ...runs.bar import QUIET

        self.console = None if progress else QUIET
        later = self.final_evaluations
        self._later = later
        with self.driving(self.store.lock(self.run_id), self.evaluations) as (lock, bar):
            bar.expect(0, EVALUATIONS)
            bar.skip(self.searched)
            while evaluation := self.ask():
                lock.heartbeat()
                bar.note("held-out" if evaluation.held_out else f"generation {self.search.generation + 1}")
                self.tell(evaluation, function(dict(evaluation.parameters), evaluation.seed))
                bar.advance(1)
        return self.verdict

    @property
    def final_evaluations(self) -> int:
        """The maximum number of held-out evaluations, of all finalists."""
        return max(round(self.verify * self.evaluations), len(self.finalists) * MIN_UNITS)


def create_study(
    parameters: Mapping[str, Searched],
    *,
    name: str,
    evaluations: int = 1000,
    store: Store | str | os.PathLike[str] | None = None,
    sampler: str | Sampler | BaseSampler = "cmaes",
    noise: str = "",
    start: Mapping[str, Value] | None = None,
    known: Sequence[Mapping[str, Value]] = (),
    seed: int = 1,
    verify: float = VERIFY,
) -> FunctionStudy:
    """Returns a stored study of a noisy function of yours, which is maximised; the same call opens it again.

    Args:
        parameters: by name: (low, high), whole numbers if both ends are, (low, high, "log"), (low, high, STEP), a list
            of values, or a distribution of Optuna.
        name: of the study.
        evaluations: of the search; more of them continue a stored study.
        store: as for `Store.open`.
        sampler: one of ours, such as "cmaes_lr", or one of Optuna, such as "optuna.samplers.TPESampler".
        noise: evaluations per candidate, such as "fixed(games=5)"; default: what suits the sampler.
        start: where the search begins, and what it has to beat; parameters without a value begin in the middle.
        known: parameters that are known to be good, those of the start where they lack some; they are tried first, the
            search begins at the best of them and the start, and they are in the held-out evaluations.
        seed: of the search; it decides the seeds that the function gets.
        verify: held-out evaluations, as a share of those of the search.
    """
    opened = store if isinstance(store, Store) else Store.open(store)
    searched = stored_parameters(parameters)
    space = space_of(searched)
    typed = read_sampler(sampler, space)
    settled = NOISES.make(noise or typed.usual_noise)
    begun = {run.id: run.definition for run in opened.runs()}.get(run_id_of(name), {})
    closed = typed.within(evaluations // settled.max_games(0, 1))
    if "searched" in begun and (first := SAMPLERS.make(begun["sampler"])).is_closed(typed):
        closed = first  # of a stored study, which keeps what suited its first number of evaluations
    definition = {
        "name": name,
        "searched": searched,
        "start": start_of(space, start or {}),
        "sampler": closed.full_text(),
        "noise": settled.full_text(),
        "seed": seed,
        "edition": EDITION,
    }
    if known:
        definition["known"] = [start_of(space, {**(start or {}), **one}, "a known") for one in known]
    if "begun_as" in begun:
        definition["begun_as"] = begun["begun_as"]
    return FunctionStudy(opened, definition, evaluations, verify)
