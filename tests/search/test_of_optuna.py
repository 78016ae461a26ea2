"""Any sampler of Optuna searches: taken as text or object, it sees choices as choices and replays exactly."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import optuna
import pytest

import turnier
from turnier.arena.workers.where import Where
from turnier.core.errors import UserError
from turnier.search.samplers.of_optuna import OfOptuna, read_sampler
from turnier.search.samplers.registry import SAMPLERS
from turnier.search.samplers.tpe import Tpe
from turnier.search.space import Space

OF = optuna.samplers


def _object(name: str, **arguments: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(OF, name)(**arguments)


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        (_object("TPESampler", seed=4), "optuna"),
        (_object("TPESampler", n_startup_trials=5, multivariate=True), "(n_startup_trials=5, multivariate=True)"),
        (_object("NSGAIISampler", population_size=10), "NSGAIISampler(population_size=10)"),
        (_object("QMCSampler", qmc_type="halton"), "QMCSampler(qmc_type='halton')"),
        ("optuna.samplers.TPESampler(n_startup_trials=9, multivariate=true)", "n_startup_trials=9, multivariate=True"),
        ("optuna(sampler=optuna.samplers.RandomSampler)", "optuna(sampler=RandomSampler)"),
        (Tpe(population=4), "tpe(population=4)"),
        ("gp", "gp"),
    ],
    ids=str,
)  # fmt: skip
def test_a_sampler_is_taken_as_it_was_made(given: Any, taken: str) -> None:
    made = read_sampler(given)
    assert taken in str(made)
    assert SAMPLERS.make(made.full_text()) == made


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("optuna.samplers.TPESample", "did you mean TPESampler"),
        ("optuna.samplers.TPESampler(n_startup=3)", "did you mean n_startup_trials"),
        ("optuna.samplers.TPESampler(seed=3)", "no seed of its own"),
        ("optuna.samplers.TPESampler(3)", "named arguments"),
        ("optuna.samplers.PartialFixedSampler", "that Optuna can make, got: .*missing"),
        ("optuna.samplers.BruteForceSampler", "BruteForceSampler must be able to search these parameters"),
        ("optuna(sampler=nowhere.Sampler)", "a class for Optuna, MODULE.CLASS, got nowhere.Sampler"),
        (_object("TPESampler", gamma=lambda n: 3), "its gamma is not a number"),
        (5, "a sampler of turnier or Optuna, got 5"),
    ],
    ids=str,
)
def test_what_cannot_search_is_refused(given: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_sampler(given, Space.cube(2))


def test_it_sees_choices_as_choices_and_only_parameters_in_use() -> None:
    from turnier.agents.registry import AGENTS

    agent = AGENTS.make("mctse(iterations=20)")
    space = Space.of(agent, ["final", "iterations=10..90:log", "exploration=0.1..4:log"])
    search = OfOptuna("TPESampler(n_startup_trials=4)").begin(space.encode(agent), 1, space)
    for _ in range(3):
        vectors = search.ask()
        search.tell([float(sum(vector)) for vector in vectors])
    trials = search._study.get_trials()
    assert trials[0].params == space.decode(space.encode(agent)), "the start is the first candidate"
    assert isinstance(trials[0].distributions["final"], optuna.distributions.CategoricalDistribution)
    assert isinstance(trials[0].distributions["iterations"], optuna.distributions.IntDistribution)
    decoded = [space.decode(vector) for vector in vectors.tolist()]
    for values, trial in zip(decoded, trials[-8:], strict=True):
        assert values["final"] == trial.params["final"] and values["iterations"] == trial.params["iterations"]
        assert values["exploration"] == pytest.approx(trial.params["exploration"])


@pytest.mark.parametrize(("name", "package"), [("CmaEsSampler", "cmaes"), ("GPSampler", "torch")])
def test_samplers_that_need_a_package_search_and_say_nothing(
    name: str, package: str, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(package)
    from turnier.agents.registry import AGENTS

    agent = AGENTS.make("mctse(iterations=20)")
    space = Space.of(agent, ["final", "iterations=10..90"])
    search = OfOptuna(f"{name}(n_startup_trials=4)").begin(space.encode(agent), 1, space)
    for _ in range(3):
        vectors = search.ask()
        search.tell([float(-((vector[1] - 0.8) ** 2)) for vector in vectors])
    assert abs(search.recommended()[1] - 0.8) < 0.25
    assert capfd.readouterr() == ("", "")


def test_a_sampler_that_has_seen_everything_goes_on() -> None:
    from turnier.agents.registry import AGENTS

    agent = AGENTS.make("mctse(iterations=20)")
    space = Space.of(agent, ["iterations=20..22"])
    search = OfOptuna("BruteForceSampler", population=2).begin(space.encode(agent), 1, space)
    seen = set()
    for _ in range(4):
        vectors = search.ask().tolist()
        seen |= {space.decode(vector)["iterations"] for vector in vectors}
        search.tell([1.0] * len(vectors))
    assert seen == {20, 21, 22}


def test_a_study_with_an_object_is_that_with_its_text_and_reopens_without_playing(tmp_path: Path) -> None:
    words = "2048(size=2)", "mc(iterations=4)"
    rest: dict[str, Any] = {"budget": 80, "verify": 0.1}
    study = turnier.Study(*words, {"iterations": (1, 9)}, sampler=OF.TPESampler(n_startup_trials=4), **rest)
    text = turnier.Study(*words, "iterations=1..9", sampler="optuna.samplers.TPESampler(n_startup_trials=4)", **rest)
    assert study.run_id == text.run_id and study.definition == text.definition
    with turnier.Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        found = study.run(store, where=Where("serial"), progress=False)
        played = store.match_counts()
        study.run(store, where=Where("serial"), progress=False)
        assert store.match_counts() == played, "replayed from what is stored"
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
