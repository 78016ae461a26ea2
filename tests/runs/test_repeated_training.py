"""Repeated trainings: each is an ordinary one; means are over trainings, and a stop or more repeats resume them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from turnier.core.errors import UserError
from turnier.results.store.store import Store
from turnier.runs.repeated_training import RepeatedTraining
from turnier.runs.stored.repeated_training import RepeatedTrainingResults
from turnier.runs.training import Training
from turnier.statistics.intervals import PERCENT, Interval, mean_of_estimates


def plan(folder: Path, repeats: int = 3, **more: object) -> RepeatedTraining:
    options = {"games": 40, "every": 20, "evaluate_every": 20, "evaluation_games": 10, "against": "random", "seed": 5}
    network = "ntuple(tuples=2,length=3)"
    return RepeatedTraining("tictactoe", network, out=folder / "w.npz", repeats=repeats, **options | more)  # type: ignore[arg-type]


def test_the_mean_is_over_trainings_and_more_repeats_continue(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        results = plan(tmp_path).run(store, progress=False)
        evaluations, means = results.evaluations(), results.means()
        assert list(results.trainings) == [5, 6, 7] and means["games"].tolist() == [20, 40]
        values = evaluations[evaluations["games"] == 40]["value"]
        last = means.iloc[-1]
        assert last["mean"] == pytest.approx(np.mean(values)) and last["trainings"] == 3
        whole = [Interval(row.value, row.low, row.high) for row in evaluations.itertuples() if row.games == 40]
        assert (last["low"], last["high"]) == mean_of_estimates(whole, PERCENT)[1:]
        assert (last["least"], last["most"]) == (values.min(), values.max())
        best, median = results.best, results.median
        assert best and median
        ends = results.ends().set_index("file")["value"]
        assert ends[best.out.name] == values.max() and ends[median.out.name] == np.sort(values)[1]
        assert sorted(path.name for path in tmp_path.glob("w-*.npz")) == ["w-5.npz", "w-6.npz", "w-7.npz"]
        assert store.match_counts()[results.id] == 3 * 2 * 10, "the evaluation games are those of this run, too"

        again = RepeatedTraining.of_run(store, store.run(results.id), repeats=4)
        assert again.run_id == results.id
        continued = again.run(store, progress=False)
        assert len(continued.trainings) == 4 and store.match_counts()[results.id] == 4 * 2 * 10
        assert continued.evaluations()[:6].equals(evaluations)
        assert again.notices(store) == ["All trainings are finished; resume with more --games or --repeats."]


def test_each_is_the_training_that_its_seed_gives_alone(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        alone = Training(
            "tictactoe", "ntuple(tuples=2,length=3)", out=tmp_path / "w-6.npz", games=40, every=20, evaluate_every=20,
            evaluation_games=10, against="random", seed=6,
        )  # fmt: skip
        table = alone.run(store, progress=False).table()
        before = (tmp_path / "w-6.npz").stat().st_mtime_ns
        results = plan(tmp_path, repeats=2).run(store, progress=False)
        assert results.trainings[6].id == alone.run_id and results.trainings[6].table().equals(table)
        assert (tmp_path / "w-6.npz").stat().st_mtime_ns == before, "it is finished, so nothing is trained again"
        assert isinstance(RepeatedTrainingResults.find(store, results.id), RepeatedTrainingResults)


def test_what_cannot_be_repeated_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="repeats must be from 2 to 1,000, got 1"):
        plan(tmp_path, repeats=1)
    with pytest.raises(UserError, match="hours"):
        plan(tmp_path, hours=1.0)
