"""Optuna's storage when a PostgreSQL connection ends in a transaction, and while another driver adds trials."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import optuna
import pandas as pd
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState, create_trial

from tests.results.test_outage import breaking
from turnier.arena.workers.local import SerialExecutor
from turnier.results.store.store import Store
from turnier.search.definition import StudyDefinition
from turnier.search.storage import checked_studies
from turnier.search.storage.lasting_storage import LastingStorage
from turnier.search.storage.trials import trials_frame
from turnier.search.study_run import StudyRun

RANGE = FloatDistribution(0.0, 1.0)


def finished(value: float) -> FrozenTrial:
    return create_trial(value=value, params={"x": 0.5}, distributions={"x": RANGE})


def search(store: Store, committed: bool | None) -> list[tuple[Any, ...]]:
    """Adds finished trials, and asks for one and tells it; breaks the connection at each commit in turn."""
    storage = LastingStorage(store)
    study = optuna.create_study(storage=storage, study_name=f"s{committed}", sampler=optuna.samplers.RandomSampler(1))
    study.enqueue_trial({"x": 0.25})
    steps: list[Any] = [
        lambda: study.set_user_attr("definition", {"a": 1}),
        lambda: storage.add_finished(study._study_id, [finished(1.0), finished(1.5)]),
        lambda: study.ask({"x": RANGE}),
        lambda: study.tell(0, 2.0),
        lambda: study.ask({"x": RANGE}),
        lambda: study.tell(3, 3.0),
    ]
    for step in steps:
        if committed is None:
            step()
            continue
        with breaking(storage.engine, committed) as broken:
            step()
            assert broken
    assert study.user_attrs == {"definition": {"a": 1}}
    return [(t.number, t.state, t.value, t.params) for t in study.get_trials()]


def test_trials_are_there_once_whenever_the_connection_ends(postgres_url: str) -> None:
    with Store.open(postgres_url) as store:
        undisturbed = search(store, None)
        assert [trial[:3] for trial in undisturbed] == [
            (0, TrialState.COMPLETE, 2.0),
            (1, TrialState.COMPLETE, 1.0),
            (2, TrialState.COMPLETE, 1.5),
            (3, TrialState.COMPLETE, 3.0),
        ]
        assert search(store, False) == undisturbed
        assert search(store, True) == undisturbed


def test_a_trial_is_removed_whenever_the_connection_ends(postgres_url: str) -> None:
    with Store.open(postgres_url) as store:
        for committed in (False, True):
            storage = LastingStorage(store)
            study = optuna.create_study(storage=storage, study_name=f"s{committed}")
            study.add_trials([finished(1.0), finished(2.0)])
            with breaking(storage.engine, committed) as broken:
                storage.remove_trial(study.get_trials()[1]._trial_id)
                assert broken
            assert [trial.value for trial in storage.get_all_trials(study._study_id)] == [1.0]


def test_a_new_study_is_found_where_the_answer_was_lost(postgres_url: str) -> None:
    with Store.open(postgres_url) as store:
        storage = LastingStorage(store)
        with breaking(storage.engine, committed=True) as broken:
            optuna.create_study(storage=storage, study_name="s", load_if_exists=True)
            assert broken
        assert [study.study_name for study in optuna.get_all_study_summaries(storage)] == ["s"]


def test_finished_trials_are_stored_as_optuna_stores_them(tmp_path: Path) -> None:
    kinds = {"x": RANGE, "n": IntDistribution(1, 64, log=True), "word": CategoricalDistribution(("a", "b"))}
    trials = [
        create_trial(
            value=1 / 3,
            params={"x": 0.1, "n": 7, "word": "b"},
            distributions=kinds,
            user_attrs={"candidate": {"vector": [0.1, 2 / 3], "standard_error": None}},
        ),
        create_trial(value=math.inf, params={"n": 64}, distributions={"n": kinds["n"]}),
        create_trial(state=TrialState.PRUNED, intermediate_values={10: -0.0, 20: math.nan, 30: -math.inf}),
    ]
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        storage = LastingStorage(store)
        own, theirs = (optuna.create_study(storage=storage, study_name=name) for name in ("own", "theirs"))
        storage.add_finished(own._study_id, trials[:1])
        storage.add_finished(own._study_id, trials[1:])
        theirs.add_trials(trials)
        pairs = list(zip(own.get_trials(), theirs.get_trials(), strict=True))
        for mine, expected in pairs:
            assert mine.number == expected.number
            mine._trial_id = expected._trial_id
            assert repr(mine) == repr(expected)  # NaN differs from itself
        assert len(pairs) == len(trials)


def test_sqlite_is_as_before(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        assert len(search(store, None)) == 4


def test_a_study_is_whole_to_who_reads_it_while_another_driver_searches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trials are compared with what was noted before they were read, not with what another driver notes meanwhile."""
    agent = "mc(iterations=1,rollout_depth=2)"
    plan = StudyDefinition("read", "2048(size=2)", agent, ("rollout_depth=1..8",), "random(population=4)")
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store, Store.open(f"sqlite:///{tmp_path}/a.db") as other:
        StudyRun(store, plan, progress=False).run(1, SerialExecutor())
        read, begun = checked_studies._read, []

        def reads(*given: Any) -> pd.DataFrame:
            found = read(*given)
            if not begun:
                begun.append(True)
                StudyRun(other, plan, progress=False).run(2, SerialExecutor())
            return found

        monkeypatch.setattr(checked_studies, "_read", reads)
        assert [len(trials_frame(store, "read")) for _ in range(2)] == [4, 8]
