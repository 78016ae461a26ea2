"""Trainings: curves of the training games, and evaluations during training."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import NamedTuple

import pandas as pd

from turnier.agents.ntuple.td import LEARNING
from turnier.agents.registry import AGENTS, EVALUATORS
from turnier.core.number_text import estimate, plus_minus
from turnier.core.parameters import Declared
from turnier.dashboards.agent_names import planned, shortened
from turnier.dashboards.kinds.games import by_game
from turnier.dashboards.sections import Copy, Drawing, Head, Section, Text
from turnier.dashboards.tables import MAIN, Column, Table
from turnier.games.registry import game_of
from turnier.results.store.curves import CurvePoint
from turnier.results.store.store import Run
from turnier.runs.results import RunResults
from turnier.runs.self_play.ratings import ZERO, rated_checkpoints
from turnier.runs.stored.training import Evaluation, TrainingResults, evaluation_unit, stored_evaluations
from turnier.statistics.intervals import half_width_of_mean

BEGIN = "turnier train tictactoe ntuple --games 2000 --out t.npz --evaluate-every 500 --against random"
SCORES = True


class Data(NamedTuple):
    """The data of trainings at one game, each by name."""

    game: str
    curves: Mapping[str, Sequence[CurvePoint]]
    evaluations: Mapping[str, Sequence[Evaluation]]
    opponents: tuple[str, ...]
    checkpoints: dict[str, pd.DataFrame]  # of self-play
    said: Sequence[str] = ()  # results of the newest games, how to play with the result, and advice


def read(results: RunResults) -> dict[str, Data]:
    """Returns a training by its game."""
    store, run = results.store, results.store.run(results.id)
    name, game = run_name(run), str(run.definition["game"])
    rated = {name: rated_checkpoints(store, run.id)} if "agent" in run.definition else {}
    evaluations = {name: stored_evaluations(store, run.id, game_of(game))}
    against = str(run.definition.get("against", ""))
    said = sentences(results) if isinstance(results, TrainingResults) else []
    return {game: Data(game, {name: store.curves.points(run.id)}, evaluations, (against,), rated, said)}


def sentences(results: TrainingResults) -> list[str]:
    """Returns the results of the newest games, how to play with the result, and advice."""
    said: list[str] = []
    newest = results.newest(results.plan.every)
    if count := int(newest["count"].sum()):
        mean = float((newest["count"] * newest["mean"]).sum() / count)
        squares = (newest["count"] - 1) * newest["deviation"] ** 2 + newest["count"] * (newest["mean"] - mean) ** 2
        error = half_width_of_mean(count, math.sqrt(squares.sum() / max(count - 1, 1)))
        games = int(newest["games"].iloc[-1])
        said.append(f"{results.out}: {games:,} games; mean of the last {count:,} games {plus_minus(mean, error)}")
    if results.plan.learned(results.out)[0].exists():
        said.append(f'To play with it: turnier tournament {results.game} "{results.agent}"')
    if results.best is not None:
        said.append(f"The best checkpoint so far is that after {results.best:,} games.")
    return [*said, *results.hints()]


def together(*found: dict[str, Data]) -> dict[str, Data]:
    """Returns several trainings, those at the same game side by side."""
    games: dict[str, Data] = {}
    for game, data in (item for one in found for item in one.items()):
        known = games.get(game, Data(game, {}, {}, (), {}))
        games[game] = Data(
            game,
            {**known.curves, **data.curves},
            {**known.evaluations, **data.evaluations},
            (*known.opponents, *data.opponents),
            {**known.checkpoints, **data.checkpoints},
            (*known.said, *data.said),
        )
    return games


def head(results: RunResults) -> Head:
    """Returns the latest evaluation."""
    run = results.store.run(results.id)
    agents, game = planned(run), game_of(str(run.definition["game"]))
    found = stored_evaluations(results.store, run.id, game)
    if not found:
        points = results.store.curves.points(run.id)
        said = f"{points[-1].games:,} training games; mean score {points[-1].mean:,.4g} at the end" if points else ""
        return Head(said, agents=agents)
    last = found[-1]
    name, _, unit = evaluation_unit(game).partition(", ")
    value = estimate(last.value, last.low, last.high, f" {unit}" if unit else "")
    return Head(
        f"after {last.games:,} training games: {name} {value}, {last.matches:,} evaluation games", agents=agents
    )


def sections(found: dict[str, Data]) -> Iterator[Section]:
    yield from by_game(list(found), lambda game: _of_game(found[game]))


def _of_game(data: Data) -> Iterator[Section]:
    if any(data.evaluations.values()):
        yield evaluation_table(data)
    if not any(data.curves.values()):
        yield Text("No point of the curve is stored yet.")
    yield from map(Copy, data.said)
    yield Drawing("training.training_curves", (data.curves,), curve_table(data))
    unit = evaluation_unit(game_of(data.game))
    yield Drawing("training.evaluation_curves", (data.evaluations, unit, data.opponents))
    by_zero: dict[str, dict[str, pd.DataFrame]] = {}
    for name, frame in data.checkpoints.items():
        if len(frame):
            by_zero.setdefault(frame.attrs.get(ZERO) or name, {})[name] = frame
    yield from (Drawing("training.rating_curve", (some,)) for some in by_zero.values())


def to_json(found: dict[str, Data]) -> object:
    return [
        {"game": game, "run": name, "curve": list(map(asdict, points))}
        | {"evaluations": list(map(asdict, data.evaluations[name]))}
        for game, data in found.items()
        for name, points in data.curves.items()
    ]


def evaluation_table(data: Data) -> Table:
    rows = [asdict(evaluation) | {"run": name} for name, done in data.evaluations.items() for evaluation in done]
    columns = [
        *([Column("run", key=True)] if len(data.evaluations) > 1 else []),
        Column("games", "games trained", importance=MAIN),
        Column("value", evaluation_unit(game_of(data.game)), low="low", high="high", importance=MAIN),
        Column("matches", "games played"),
    ]
    frame = pd.DataFrame(rows)
    if rated := [known.assign(run=name) for name, known in data.checkpoints.items() if len(known)]:
        frame = frame.merge(pd.concat(rated), on=["run", "games"], how="left")
        columns += [
            Column("elo", "Elo", low="elo_low", high="elo_high", signed=True, importance=MAIN),
            Column("minutes", "minutes of learning"),
        ]
    against = ", ".join(sorted(filter(None, set(data.opponents))))
    return Table("Evaluations", frame, columns, f"Against {against}." if against else "")


def curve_table(data: Data) -> Table | None:
    """Returns the curve for terminals."""
    rows = [asdict(point) | {"run": name} for name, points in data.curves.items() for point in points]
    several = [Column("run", key=True)] if len(data.curves) > 1 else []
    columns = [
        *several,
        Column("games", "games trained", importance=MAIN),
        Column("mean", "mean score", importance=MAIN),
    ]
    return Table("Training games", pd.DataFrame(rows), columns) if rows else None


def run_name(run: Run) -> str:
    """Returns a name that distinguishes a training: learner, method and seed."""
    plan = run.definition
    playing = plan.get("agent") or plan.get("network")  # from self-play with search, or of a deep network
    what: Declared = AGENTS.make(playing) if playing else EVALUATORS.make(plan["evaluator"])
    how = LEARNING.make(plan["learning"])
    return f"{shortened(str(what))}, {how}, seed {plan['seed']} ({run.id.partition(':')[2][:6]})"
