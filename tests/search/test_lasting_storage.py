"""Optuna's storage when a PostgreSQL connection ends in a transaction: the same trials as without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import FloatDistribution
from optuna.trial import TrialState, create_trial

from tests.results.test_outage import breaking
from turnier.results.store.store import Store
from turnier.search.storage.lasting_storage import LastingStorage

RANGE = FloatDistribution(0.0, 1.0)


def search(store: Store, committed: bool | None) -> list[tuple[Any, ...]]:
    """Adds finished trials, and asks for one and tells it; breaks the connection at each commit in turn."""
    storage = LastingStorage(store)
    study = optuna.create_study(storage=storage, study_name=f"s{committed}", sampler=optuna.samplers.RandomSampler(1))
    study.enqueue_trial({"x": 0.25})
    steps: list[Any] = [
        lambda: study.set_user_attr("definition", {"a": 1}),
        lambda: study.add_trial(create_trial(value=1.0, params={"x": 0.5}, distributions={"x": RANGE})),
        lambda: study.ask({"x": RANGE}),
        lambda: study.tell(0, 2.0),
        lambda: study.ask({"x": RANGE}),
        lambda: study.tell(2, 3.0),
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
            (2, TrialState.COMPLETE, 3.0),
        ]
        assert search(store, False) == undisturbed
        assert search(store, True) == undisturbed


def test_a_new_study_is_found_where_the_answer_was_lost(postgres_url: str) -> None:
    with Store.open(postgres_url) as store:
        storage = LastingStorage(store)
        with breaking(storage.engine, committed=True) as broken:
            optuna.create_study(storage=storage, study_name="s", load_if_exists=True)
            assert broken
        assert [study.study_name for study in optuna.get_all_study_summaries(storage)] == ["s"]


def test_sqlite_is_as_before(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        assert len(search(store, None)) == 3
