"""Experiments: measured values with intervals, beside published ones."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import NamedTuple

import pandas as pd

from turnier.agents.registry import make_agent
from turnier.core.errors import UserError
from turnier.core.number_text import estimate
from turnier.dashboards.kinds import games as scores
from turnier.dashboards.links import games_address
from turnier.dashboards.sections import Drawing, Head, Section, Text
from turnier.dashboards.tables import MAIN, MINOR, Column, Table
from turnier.games.registry import make_game
from turnier.results.frames import json_rows
from turnier.runs.experiments.experiment import Experiment, counted, measurements
from turnier.runs.experiments.published import VERDICTS, verdict
from turnier.runs.experiments.row import Measurement, Row, unit
from turnier.runs.results import RunResults


class Data(NamedTuple):
    """The data of an experiment."""

    experiment: Experiment
    measured: Sequence[Measurement]


def read(results: RunResults) -> Data | None:
    """Returns an experiment and the measurements of its rows; None if its definition has no rows."""
    run = results.store.run(results.id)
    if "rows" not in run.definition:
        return None
    experiment = Experiment.from_run(run)
    return Data(experiment, measurements(experiment, results.store))


def head(results: RunResults) -> Head:
    """Returns the number of published figures by verdict; if none is published, the first and the last figure."""
    data = read(results)
    if data is None:
        return scores.head(results)
    frame = experiment_frame(*data)
    counts = frame["is"].replace("", None).value_counts()
    if len(counts):
        return Head(f"{len(frame)} figures: {', '.join(f'{count} {text}' for text, count in counts.items())}")
    known = frame[frame["games"] > 0]
    ends = known.iloc[[0, -1]].drop_duplicates("label").to_dict("records") if len(known) else []
    told = [f"{estimate(row['value'], row['low'], row['high'])} for {row['label']}" for row in ends]
    said = f"{unit(data.experiment.rows[0])}: {', '.join(told)}" if told else ""
    return Head(f"{said}; {len(known)} figures in all" if len(known) > 2 else said)


def sections(data: Data | None) -> Iterator[Section]:
    if data is None:
        return
    yield experiment_table(data)
    yield Text(data.experiment.text.replace("*", ""))
    yield Drawing("experiment.experiment_figure", (data.experiment, experiment_frame(*data)))


def to_json(data: Data | None) -> object:
    return [] if data is None else json_rows(experiment_frame(*data))


def experiment_frame(experiment: Experiment, measured: Sequence[Measurement]) -> pd.DataFrame:
    """Returns one row per row of the experiment: label, series, x, published, value, low, high, games, seconds, is."""
    rows = [
        {"label": row.label, "series": row.series or "ours", "x": row.x, "published": row.published}
        | asdict(measurement)
        | {"is": verdict(row, measurement)}
        for row, measurement in zip(experiment.rows, measured, strict=True)
    ]
    return pd.DataFrame(rows).astype({"published": float, "x": float})


def experiment_table(data: Data) -> Table:
    """Returns ours with its interval, the published figure, and the number of games or searches."""
    experiment, frame = data.experiment, experiment_frame(*data)
    what, each = counted(experiment)
    known = bool(frame["published"].notna().any())
    published = [Column("published", digits=4, importance=MAIN), Column("is", "ours is", importance=MAIN)]
    value = f"{'ours, ' * known}{unit(experiment.rows[0])}"
    columns = [
        Column("label", "figure", key=True),
        Column("value", value, low="low", high="high", importance=MAIN),
        *(published if known else []),
        Column("games", what),
        Column("seconds", "wall clock", each, importance=MINOR),
        scores.REPLAY,
    ]
    frame = frame.assign(replay=[_games_of(experiment.run_id, row) for row in experiment.rows])
    note = VERDICTS.replace("*", "") if known else ""
    return Table(experiment.title, frame, columns, f"{note} Seed {experiment.seed}.".strip())


def _games_of(run: str, row: Row) -> str:
    """Returns the address of the games of a row; empty if it only has searches, or this version lacks its game."""
    with contextlib.suppress(UserError):
        agents = [make_agent(agent).full_text() for agent in dict.fromkeys(row.agents)]
        return "" if row.states else games_address(run, *agents[:2], game=make_game(row.game).full_text())
    return ""
