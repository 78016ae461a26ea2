"""The progress of a study, read from the store: its driver may run anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import optuna
from optuna.trial import TrialState

from turnier.results.store.progress import progress_of_runs
from turnier.results.store.store import Store
from turnier.search.storage.checked_studies import read_trials, study_notes
from turnier.search.storage.studies import optuna_errors, run_id_of


@dataclass(frozen=True)
class StudyState:
    """The state of a study; None for what is not yet known."""

    study: str
    state: str  # running | finished | stopped | unknown
    games: int | None  # of candidates and, at its end, of finalists
    planned: int | None
    seconds_left: float | None
    generations: int  # complete
    candidates: int  # evaluated
    best: float | None  # the largest value of a candidate, which was lucky
    best_parameters: dict[str, Any] | None
    recommendation: dict[str, Any] | None
    recommended_mean: float | None  # of games of the recommendation before, by workers that would have idled
    recommended_half_width: float | None
    recommended_units: int | None  # of those games
    sigma: float | None


def study_state(store: Store, name: str) -> StudyState:
    """Returns the state of the named study; raises UserError where the store has none."""
    run = store.run(run_id_of(name))
    progress = next(one for one in progress_of_runs(store) if one.run == run.id)
    with store.database.reading() as connection:
        read_trials(store, connection, name)  # which raises where they are damaged
    with optuna_errors(store.shown_url):
        study = optuna.load_study(study_name=name, storage=optuna.storages.RDBStorage(store.url))
        trials = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    attributes = study_notes(store, name, "generation %")
    numbers = sorted(int(key.split()[1]) for key in attributes)
    latest: dict[str, Any] = attributes[f"generation {numbers[-1]}"] if numbers else {}
    known: dict[str, Any] = next(
        (s for n in reversed(numbers) if (s := attributes[f"generation {n}"].get("recommended before"))), {}
    )
    best = max(trials, key=lambda trial: float(trial.value or 0.0), default=None)
    return StudyState(
        study=name,
        state=progress.state,
        games=progress.done,
        planned=progress.planned,
        seconds_left=progress.seconds_left,
        generations=len(numbers),
        candidates=len(trials),
        best=None if best is None else best.value,
        best_parameters=None if best is None else dict(best.params),
        recommendation=latest.get("recommendation"),
        recommended_mean=known.get("mean"),
        recommended_half_width=known.get("half_width"),
        recommended_units=known.get("games"),
        sigma=latest.get("sigma"),
    )
