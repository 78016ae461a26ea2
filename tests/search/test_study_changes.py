"""Studies renamed and deleted: in the store's tables and in Optuna's, on both databases; a renamed one resumes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import optuna
import pytest

from turnier.arena.workers.local import SerialExecutor
from turnier.core.errors import UserError
from turnier.results.store.run_changes import owned_games
from turnier.results.store.store import Store
from turnier.search.definition import StudyDefinition
from turnier.search.storage.study_changes import delete_study, rename_study
from turnier.search.storage.trials import count_trials, study_names
from turnier.search.study_run import StudyRun


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store with the studies `one` and `other`."""
    url = f"sqlite:///{tmp_path}/a.db"
    with Store.open(url if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))) as opened:
        for name, seed in (("one", 1), ("other", 2)):
            StudyRun(opened, planned(name, seed), progress=False).run(1, SerialExecutor())
        yield opened


def planned(name: str, seed: int) -> StudyDefinition:
    agent = "mc(iterations=2,rollout_depth=2)"
    return StudyDefinition(name, "2048(size=3)", agent, ("rollout_depth=1..8",), "random(population=4)", seed=seed)


def test_a_renamed_study_is_the_same_study_and_resumes(store: Store) -> None:
    before = optuna.load_study(study_name="one", storage=store.url).trials
    games = owned_games(store, store.run("study:one"))
    rename_study(store, store.run("study:one"), "a new name")
    assert study_names(store) == ["a new name", "other"]
    assert {run.id: run.name for run in store.runs()} == {"study:a new name": "a new name", "study:other": "other"}
    assert owned_games(store, store.run("study:a new name")) == games
    assert optuna.load_study(study_name="a new name", storage=store.url).trials == before
    resumed = StudyRun(store, planned("a new name", 1), progress=False)
    resumed.run(2, SerialExecutor())
    assert count_trials(store, "a new name") == 2 * count_trials(store, "other") == 8


@pytest.mark.parametrize("name", ["other", "one"])
def test_a_name_that_a_study_has_is_refused(store: Store, name: str) -> None:
    with pytest.raises(UserError, match="a study needs a name that no other has, got"):
        rename_study(store, store.run("study:one"), name)
    assert study_names(store) == ["one", "other"]


def test_a_deleted_study_leaves_nothing_and_others_as_they_were(store: Store) -> None:
    before = optuna.load_study(study_name="other", storage=store.url).trials
    delete_study(store, store.run("study:one"))
    assert study_names(store) == ["other"] and [run.id for run in store.runs()] == ["study:other"]
    assert optuna.load_study(study_name="other", storage=store.url).trials == before
    again = StudyRun(store, planned("one", 1), progress=False)
    again.run(1, SerialExecutor())
    assert count_trials(store, "one") == 4 and owned_games(store, store.run("study:one")).own > 0


def test_a_deletion_that_was_interrupted_is_repeated(store: Store) -> None:
    optuna.delete_study(study_name="one", storage=store.url)
    delete_study(store, store.run("study:one"))
    assert [run.id for run in store.runs()] == ["study:other"]
