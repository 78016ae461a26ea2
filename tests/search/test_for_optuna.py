"""What users of plain Optuna find in a stored study, and what they may add to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import FloatDistribution, IntDistribution
from sqlalchemy import insert, select

import turnier
from turnier.arena.workers.where import Where
from turnier.core.errors import UserError
from turnier.results.store.store import Store
from turnier.search.for_optuna.finalists import store_finalists
from turnier.search.storage.checked_studies import OURS, STUDIES, STUDY_NOTES, SYSTEM_NOTES, study_notes
from turnier.search.storage.results import StudyResults
from turnier.search.storage.studies import open_storage
from turnier.search.storage.study_repair import inspect_studies
from turnier.search.storage.trials import count_trials, study_names, trials_frame

WORDS = "2048(size=2)", "mc(iterations=4)", "rollout_depth=0..50,iterations=1..9"


def tuned(store: Store, budget: int = 40) -> StudyResults:
    study = turnier.Study(*WORDS, budget=budget, name="small", sampler="cmaes(population=8)", verify=0.1)
    return study.run(store, where=Where("serial"), progress=False)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    found = f"sqlite:///{tmp_path_factory.mktemp('optuna')}/a.db"
    with Store.open(found) as store:
        tuned(store)
    return found


@pytest.fixture
def store(url: str, tmp_path: Path) -> Iterator[Store]:
    path = tmp_path / "a.db"
    path.write_bytes(Path(url.removeprefix("sqlite:///")).read_bytes())
    with Store.open(f"sqlite:///{path}") as opened:
        yield opened


def test_the_best_trial_of_the_finalists_is_the_recommendation(store: Store) -> None:
    results = StudyResults(store, "study:small")
    finalists = optuna.load_study(study_name="small, held-out", storage=store.url)
    assert results.verdict is not None
    assert finalists.best_params == results.space.of_agent(results.recommended)
    assert finalists.best_trial.user_attrs["finalist"] == results.verdict.label
    assert finalists.metric_names == ["mean score"]
    means = {t.user_attrs["finalist"]: t.value or next(iter(t.intermediate_values.values())) for t in finalists.trials}
    assert means == pytest.approx(results.held_out().set_index("label")["held_out"].to_dict())
    assert study_names(store) == ["small"], "no study of its own"


def test_drivers_that_end_together_store_the_finalists_once(store: Store) -> None:
    results = StudyResults(store, "study:small")
    verdict = results.verdict
    assert verdict is not None

    def of_finalists() -> list[dict[str, Any]]:
        return [t.user_attrs for t in optuna.load_study(study_name="small, held-out", storage=store.url).trials]

    def again(_: int) -> None:
        with Store.open(store.url) as mine:
            store_finalists(mine, open_storage(mine), "small", "mean score", results.space, verdict)

    before = of_finalists()
    with ThreadPoolExecutor(4) as drivers:
        list(drivers.map(again, range(12)))
    assert of_finalists() == before != []


def test_plots_of_optuna_show_the_candidates_and_the_finalists(store: Store) -> None:
    pytest.importorskip("plotly")
    study = optuna.load_study(study_name="small", storage=store.url)
    drawn = optuna.visualization
    for plot in (drawn.plot_optimization_history, drawn.plot_slice, drawn.plot_contour, drawn.plot_param_importances):
        assert plot(study).data, plot
    finalists = optuna.load_study(study_name="small, held-out", storage=store.url)
    assert drawn.plot_slice(finalists).data


def test_what_optuna_prints_of_a_study_fits_a_terminal(store: Store) -> None:
    study = optuna.load_study(study_name="small", storage=store.url)
    assert study.user_attrs == {"recommended": str(StudyResults(store, "study:small").recommended)}
    assert all(len(json.dumps(trial.user_attrs)) < 160 for trial in study.trials)
    assert "vector" not in study.trials[0].user_attrs["candidate"]


def test_trials_of_other_code_are_left_out(store: Store, capfd: pytest.CaptureFixture[str]) -> None:
    before, frame = count_trials(store, "small"), trials_frame(store, "small")
    study = optuna.load_study(study_name="small", storage=store.url)
    study.enqueue_trial({"rollout_depth": 10, "iterations": 3})
    study.optimize(lambda t: t.suggest_int("rollout_depth", 0, 50), n_trials=3)
    study.enqueue_trial({"rollout_depth": 11, "iterations": 3})
    assert len(study.trials) == before + 4
    assert count_trials(store, "small") == before and trials_frame(store, "small").equals(frame)
    assert inspect_studies(store) == []
    played = tuned(store, 80)
    assert len(played.trials()) > before and played.games <= 80
    assert list(played.trials()["number"])[:before] == list(range(before))


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_a_study_of_plain_optuna_is_a_warm_start(store: Store, direction: str) -> None:
    other = optuna.create_study(study_name="other", storage=store.url, direction=direction)
    sign = 1 if direction == "maximize" else -1
    for depth in (10, 40, 90, 20, 30):
        trial = optuna.trial.create_trial(
            params={"rollout_depth": depth, "else": 0.5},
            distributions={"rollout_depth": IntDistribution(0, 99), "else": FloatDistribution(0, 1)},
            value=float(sign * depth),
        )
        other.add_trial(trial)
    study = turnier.Study(*WORDS, budget=40, name="warm", from_study="other", verify=0.1)
    results = study.run(store, where=Where("serial"), progress=False)
    assert set(results.trials().head(4)["rollout_depth"]) == {20, 50, 40, 30}, "the start, and what fits of the best"


def test_a_front_refuses_trials_of_other_code(store: Store) -> None:
    def search() -> None:
        front = turnier.Study(*WORDS, budget=16, name="front", objectives="strength,time", population=4)
        front.run(store, where=Where("serial"), progress=False)

    search()
    study = optuna.load_study(study_name="front", storage=store.url)
    study.optimize(lambda t: (t.suggest_int("rollout_depth", 0, 50), 1.0), n_trials=1)
    with pytest.raises(UserError, match=r"candidates of its own, .* got 1 of other code; start another study"):
        search()


def test_notes_of_earlier_versions_are_read_and_continued(store: Store) -> None:
    """They were user attributes of Optuna."""
    with store.database.writing() as connection:
        number = connection.scalar(select(STUDIES.c.study_id).where(STUDIES.c.study_name == "small"))
        mine = SYSTEM_NOTES.c.study_id == number
        for row in connection.execute(select(SYSTEM_NOTES).where(mine)).all():
            if row.key.startswith(OURS) and row.key != OURS + "asked":
                key = row.key.removeprefix(OURS)
                connection.execute(insert(STUDY_NOTES).values(study_id=number, key=key, value_json=row.value_json))
                connection.execute(SYSTEM_NOTES.delete().where(mine & (SYSTEM_NOTES.c.key == row.key)))  # type: ignore[attr-defined]
    before = StudyResults(store, "study:small").verdict
    assert before is not None and {"definition", "verdict"} <= study_notes(store, "small", "%").keys()
    after = tuned(store, 80)
    assert len(after.generations()) > 1 and after.verdict != before


def test_a_renamed_and_a_deleted_study_take_their_finalists_along(store: Store) -> None:
    turnier.Study.rename(store, store.run("study:small"), "other")
    names = optuna.get_all_study_names(store.url)
    assert names == ["other", "other, held-out"] and study_names(store) == ["other"]
    turnier.Study.delete(store, store.run("study:other"))
    assert optuna.get_all_study_names(store.url) == []
