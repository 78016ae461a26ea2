"""Repeated trainings: the mean over them, how far they lie apart, and each of them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from turnier.core.number_text import estimate, number
from turnier.dashboards.agent_names import planned
from turnier.dashboards.kinds.learning import training
from turnier.dashboards.sections import Copy, Drawing, Head, Section, Text
from turnier.dashboards.tables import MAIN, Column, Table
from turnier.results.frames import json_rows
from turnier.runs.results import RunResults
from turnier.runs.stored.repeated_training import RepeatedTrainingResults
from turnier.runs.stored.training import Evaluation

BEGIN = "turnier train tictactoe ntuple --games 2000 --out t.npz --evaluate-every 500 --against random --repeats 3"
NOTE = "Of another training, expect a value like these; the intervals of single trainings hold their games only."
title = training.title


def read(results: RunResults) -> RepeatedTrainingResults:
    return (
        results if isinstance(results, RepeatedTrainingResults) else RepeatedTrainingResults(results.store, results.id)
    )


def head(results: RunResults) -> Head:
    """Returns the mean over the trainings at the end."""
    found = read(results)
    run, means, trainings = found.store.run(found.id), found.means(), len(found.trainings)
    if means.empty:
        return Head(f"{trainings} trainings, no two of them evaluated yet", agents=planned(run))
    last = means.iloc[-1]
    name, _, unit = found.unit.partition(", ")
    value = estimate(last["mean"], last["low"], last["high"], f" {unit}" if unit else "")
    said = f"After {int(last['games']):,} training games: {name} {value} over {int(last['trainings'])} trainings"
    return Head(f"{said}, {number(last['least'])} to {number(last['most'])}", agents=planned(run))


def sections(results: RepeatedTrainingResults) -> Iterator[Section]:
    means = results.means()
    if means.empty:
        yield Text("No two trainings have been evaluated after the same number of games yet.")
    else:
        yield means_table(results)
        mean = [Evaluation(row.games, row.mean, row.low, row.high, row.trainings) for row in means.itertuples()]
        over = f"mean of {means['trainings'].max()} trainings"
        yield Drawing("training.evaluation_curves", ({over: mean}, results.unit, (), None))
    yield from _files(results)
    if results.trainings:
        yield from training.sections(training.together(*map(training.read, results.trainings.values())))


def means_table(results: RepeatedTrainingResults) -> Table:
    columns = [
        Column("games", "games trained", importance=MAIN),
        Column("mean", f"mean, {results.unit}", low="low", high="high", importance=MAIN),
        Column("least"),
        Column("most"),
        Column("trainings"),
    ]
    return Table("Means over trainings", results.means(), columns, NOTE)


def _files(results: RepeatedTrainingResults) -> Iterator[Section]:
    for name, one in (("median", results.median), ("best", results.best)):
        if one and one.out.exists():
            command = ["turnier", "tournament", str(results.game), str(one.agent)]
            yield Copy(shlex.join(command), f"To play with the {name} one:")


def to_json(results: RepeatedTrainingResults) -> object:
    return {
        "unit": results.unit,
        "means": json_rows(results.means()),
        "evaluations": json_rows(results.evaluations()),
        "best": str(results.best.out) if results.best else None,
        "median": str(results.median.out) if results.median else None,
    }
