"""Optuna's samplers are taken as ours of the same method, or refused in one sentence."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import optuna
import pytest

import turnier
from turnier.arena.workers.where import Where
from turnier.core.errors import UserError
from turnier.search.samplers.of_optuna import read_sampler
from turnier.search.samplers.tpe import Tpe

OF = optuna.samplers


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        (OF.TPESampler(seed=4), "tpe(startup=10)"),
        (OF.TPESampler(n_startup_trials=5, multivariate=False), "tpe(startup=5,multivariate=false)"),
        (OF.RandomSampler(), "random"),
        (OF.CmaEsSampler(sigma0=0.2, popsize=8), "cmaes(population=8,sigma=0.2)"),
        (Tpe(population=4), "tpe(population=4)"),
        ("gp", "gp"),
    ],
    ids=str,
)
def test_a_sampler_is_taken_as_ours(given: Any, taken: str) -> None:
    assert str(read_sampler(given)) == taken


def test_what_cannot_be_kept_is_refused() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = {
            "use objectives='strength,time'": OF.NSGAIISampler(),
            "use sampler='grid'": OF.GridSampler({"x": [1]}),
            "could not be resumed exactly": OF.QMCSampler(),
            "has no n_ei_candidates, got Optuna's TPESampler": OF.TPESampler(n_ei_candidates=5),
            "has no x0": OF.CmaEsSampler(x0={"x": 1.0}),
            "has no gamma": OF.TPESampler(gamma=lambda n: 3),
            "a sampler of turnier or Optuna, got 5": 5,
        }
    for message, given in wrong.items():
        with pytest.raises(UserError, match=message):
            read_sampler(given)  # type: ignore[arg-type]


def test_a_study_with_objects_is_that_with_texts_and_reopens_without_playing(tmp_path: Path) -> None:
    words = "2048(size=2)", "mc(iterations=4)"
    rest: dict[str, Any] = {"budget": 80, "verify": 0.1}
    study = turnier.Study(*words, {"iterations": (1, 9)}, sampler=OF.TPESampler(n_startup_trials=4), **rest)
    text = turnier.Study(*words, "iterations=1..9", sampler="tpe(startup=4)", **rest)
    assert study.run_id == text.run_id and study.definition == text.definition
    with turnier.Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        found = study.run(store, where=Where("serial"), progress=False)
        again = turnier.Study.of_run(store, store.run(found.id))
        assert again.definition == study.definition and again.settings == study.settings
    with turnier.Store.open(f"sqlite:///{tmp_path}/a.db", read_only=True) as store:
        results = turnier.Study.reopened(store, store.run(found.id))
        assert results.verdict == found.verdict and results.verdict is not None
        assert results.trials().equals(found.trials()) and len(results.held_out()) == len(results.verdict.figures)
        assert [len(own) for own in results.held_out_values().values()] == list(results.held_out()["units"])
        assert results.recommended.full_text() == found.recommended.full_text()
        assert repr(results.recommended) == str(results.recommended), "to be pasted"
        assert results.best.full_text() in results.tried() and results.hints() == found.hints()
