"""A figure that is a mean over trainings: its interval is over these, and any folder may hold their networks."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from turnier.agents.registry import AGENTS
from turnier.arena.play import play_match
from turnier.arena.workers.local import SerialExecutor
from turnier.results.store.store import Store
from turnier.runs.experiments.experiment import measure, measurements, row_matches
from turnier.runs.experiments.published import AGREES, LOWER, NO_DIFFERENCE, published_text, verdict
from turnier.runs.experiments.row import Measurement, Row
from turnier.runs.experiments.trained import LearnedRow, Learner, TrainingStudy
from turnier.statistics.intervals import PERCENT, Interval, mean_of_estimates
from turnier.studies.campaigns.campaign import Campaign
from turnier.studies.campaigns.document import section
from turnier.studies.campaigns.learned import stored_experiment, with_networks_in
from turnier.studies.campaigns.outlook import outlooks

FIRST, *FURTHER = (
    Learner("tictactoe", "ntuple(tuples=4,length=4)", "td(epsilon=0.3,epsilon_end=0)", 60, seed=seed)
    for seed in (1, 2, 3)
)
ROW = Row("three", "tictactoe", ("random",), 6, published=90.0, published_games=5)
STUDY = TrainingStudy("guide", "three-paper", "Three", "Text.", [LearnedRow(ROW, FIRST, 0, tuple(FURTHER))])


def test_the_interval_is_over_trainings(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store, SerialExecutor() as pool:
        (before,) = outlooks([STUDY], store)
        assert len(before[0].missing) == 3 * 6 and before[0].row.trainings
        Campaign(store, [STUDY], tmp_path / "nets").run(pool)
        known = stored_experiment(STUDY, store)
        assert known and not any(row.missing for rows in outlooks([STUDY], store) for row in rows)
        row, (figure,) = known.rows[0], measurements(known, store)
        assert len({*row.measured}) == 3 and figure.games == 3 * 6
        values: list[Interval] = []
        for agent in row.measured:
            alone = dataclasses.replace(row, agents=(agent, "random"), trainings=(), published=None)
            (one,) = measurements(dataclasses.replace(known, rows=(alone,)), store)
            values.append(Interval(one.value, one.low, one.high))
        moved = with_networks_in(known, "elsewhere")
        other = dataclasses.replace(STUDY, rows=[LearnedRow(ROW, FIRST, 0, tuple(FURTHER[::-1]))])
        assert stored_experiment(other, store) is None, "the order of the seeds is part of the definition"
    assert (figure.value, figure.low, figure.high) == pytest.approx(mean_of_estimates(values, PERCENT))
    assert all("file=elsewhere/" in agent for agent in moved.rows[0].measured)
    page = section(moved, [figure], "")
    assert f"`{moved.rows[0].measured[0]}` and 2 other trainings, each with a seed of its own, against `random`" in page


def test_more_games_leave_the_first_as_they_are() -> None:
    row = Row("r", "tictactoe", ("mc(iterations=1)", "random"), 4, trainings=("mc(iterations=2)",))
    few, many = (row_matches(dataclasses.replace(row, games=games), 5) for games in (4, 8))
    assert [spec.id for spec in many[: len(few)]] == [spec.id for spec in few] and len(many) == 2 * len(few) == 16


def test_trainings_that_play_the_same_games_are_no_more_certain() -> None:
    """As two that have diverged: both take the first legal move, and meet the same chance."""
    agent, other = (AGENTS.make(text).full_text() for text in ("random", "mc(iterations=1)"))
    row = Row("r", "2048(size=2)", (agent,), 20, "score")
    records = [play_match(spec) for spec in row_matches(row, 1)]
    copies = [dataclasses.replace(one, spec=dataclasses.replace(one.spec, agents=(other,))) for one in records]
    alone, both = measure(row, records), measure(dataclasses.replace(row, trainings=(other,)), [*records, *copies])
    assert dataclasses.astuple(both) == pytest.approx(dataclasses.astuple(alone)) and both.games == 20
    for i, games in enumerate((21, 22)):  # nearly the same
        copies[i] = dataclasses.replace(copies[i], scores=(copies[i].scores[0] + 4,))
        assert measure(dataclasses.replace(row, trainings=(other,)), [*records, *copies]).games == games


def test_published_trainings_vary_as_ours_do() -> None:
    row = dataclasses.replace(ROW, agents=("greedy", "random"), trainings=("random",) * 4)
    assert published_text(row) == "90 (5 trainings)" and "5 games" in published_text(ROW)
    assert published_text(dataclasses.replace(row, published_games=1)) == "90 (1 training)"
    assert verdict(row, Measurement(80.0, 70.0, 90.0, 250, 1.0)) == AGREES  # 10 ± 14.1
    assert verdict(row, Measurement(70.0, 60.0, 80.0, 250, 1.0)) == LOWER  # 20 ± 14.1
    assert verdict(row, Measurement(80.0, 60.0, 100.0, 250, 1.0)) == NO_DIFFERENCE, "more games would not help"
