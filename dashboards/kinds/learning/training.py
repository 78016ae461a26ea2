"""Trainings: curves of the training games, and evaluations during training."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd

from turnier.agents.ntuple.td import LEARNING
from turnier.agents.registry import AGENTS, EVALUATORS
from turnier.core.number_text import duration, estimate, number, plus_minus
from turnier.core.parameters import Declared
from turnier.dashboards.agent_names import planned, short_game, shortened
from turnier.dashboards.kinds.games import REPLAY, by_game
from turnier.dashboards.links import games_address
from turnier.dashboards.sections import Choice, Copy, Drawing, Facts, Head, Section, Text
from turnier.dashboards.tables import MAIN, Column, Table
from turnier.games.game import Game
from turnier.games.registry import game_of
from turnier.results.frames.measures import score_bounds
from turnier.results.store.curves import CurvePoint
from turnier.results.store.store import Run
from turnier.runs.results import RunResults
from turnier.runs.self_play.ratings import ZERO, rated_checkpoints, seconds_of
from turnier.runs.stored.training import Evaluation, TrainingResults, evaluation_unit, stored_evaluations
from turnier.statistics.intervals import half_width_of_mean

BEGIN = "turnier train tictactoe ntuple --games 2000 --out t.npz --evaluate-every 500 --against random"
BLOCKS = 5  # of a training's games, of which the last two are compared
OVER = ("games", "time")


class Data(NamedTuple):
    """The data of trainings at one game, each by name."""

    game: str
    curves: Mapping[str, Sequence[CurvePoint]]
    evaluations: Mapping[str, Sequence[Evaluation]]
    opponents: tuple[str, ...]
    checkpoints: dict[str, pd.DataFrame]  # of self-play
    said: Sequence[Section] = ()  # results of the newest games, how to play with the result, and advice
    seconds: Mapping[str, Mapping[int, float]] = MappingProxyType({})  # of learning, by number of games
    facts: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    replays: Mapping[str, Mapping[int, str]] = MappingProxyType({})  # addresses of evaluation games, as `seconds`


def read(results: RunResults) -> dict[str, Data]:
    """Returns a training by its game."""
    store, run = results.store, results.store.run(results.id)
    name, game = run_name(run), str(run.definition["game"])
    rated = {name: rated_checkpoints(store, run.id)} if "agent" in run.definition else {}
    evaluations = {name: stored_evaluations(store, run.id, game_of(game))}
    against = str(run.definition.get("against", ""))
    said = list(_said(results)) if isinstance(results, TrainingResults) else []
    points, seconds = store.curves.points(run.id), seconds_of(store, run.id)
    if change := rising(game_of(game), points, evaluations[name]):
        said.insert(0, Text(change))
    played = {games: games_address(run.id, agent) for games, agent in store.curves.evaluated(run.id).items()}
    more = {name: seconds}, {name: _facts(run, seconds)}, {name: played}
    return {game: Data(game, {name: points}, evaluations, (against,), rated, said, *more)}


def _said(results: TrainingResults) -> Iterator[Section]:
    yield from map(Text, sentences(results))
    if results.plan.learned(results.out)[0].exists():
        yield Copy(shlex.join(["turnier", "tournament", str(results.game), str(results.agent)]), "To play with it:")
    else:
        yield Text(f"{results.out.name} is not here: play with it where it was trained.")


def _facts(run: Run, seconds: Mapping[int, float]) -> dict[str, str]:
    """Returns what learns, how, and how fast."""
    what, how = learner_of(run)
    facts = {
        "learner": what,
        "method": how,
        "seed": str(run.definition["seed"]),
        "file": Path(run.definition["out"]).name,
    }
    games, spent = max(seconds.items(), default=(0, 0.0))
    if games and spent:
        time = duration(spent) if spent < 60 else str(timedelta(seconds=round(spent)))
        facts |= {"time of learning": time, "speed": f"{number(games / spent)} games per second"}
    return facts


def rising(game: Game, points: Sequence[CurvePoint], evaluations: Sequence[Evaluation]) -> str:
    """Returns whether a training still rises; empty if too little is known.

    By the scores of its last fifth and of the fifth before; by the last two evaluations if the game has several seats,
    since scores of self-play then say nothing of strength.
    """
    if game.num_seats == 1:
        size = len(points) // BLOCKS
        if not size:
            return ""
        frame = pd.DataFrame(map(asdict, points))
        (mean, half, games), (before, its_half, others) = (
            _pooled(part) for part in (frame[-size:], frame[-2 * size : -size])
        )
        apart, unit = mean - before, ""
        low, high = apart - math.hypot(half, its_half), apart + math.hypot(half, its_half)
        where = f"from the mean of the {others:,} games before to that of the last {games:,}"
    elif len(evaluations) < 2:
        return ""
    else:  # an interval by R. G. Newcombe, Statistics in Medicine 17, 1998
        first, last = evaluations[-2:]
        apart, unit = last.value - first.value, " percentage points"
        low = apart - math.hypot(last.value - last.low, first.high - first.value)
        high = apart + math.hypot(last.high - last.value, first.value - first.low)
        where = f"from the evaluation after {first.games:,} games to that after {last.games:,}"
    change = "Still rising" if low > 0 else "Falling" if high < 0 else "Undecided whether it still rises"
    return f"{change}: {estimate(apart, low, high, unit, signed=True)} {where}."


def _pooled(points: pd.DataFrame) -> tuple[float, float, int]:
    """Returns the mean of all games of some points, half of its 95 % interval, and the number of games."""
    count = int(points["count"].sum())
    mean = float((points["count"] * points["mean"]).sum() / count)
    squares = (points["count"] - 1) * points["deviation"] ** 2 + points["count"] * (points["mean"] - mean) ** 2
    return mean, half_width_of_mean(count, math.sqrt(squares.sum() / max(count - 1, 1))), count


def sentences(results: TrainingResults) -> list[str]:
    """Returns the results of the newest games, and advice."""
    said: list[str] = []
    newest = results.newest(results.plan.every)
    if newest["count"].sum():
        mean, half, count = _pooled(newest)
        games = int(newest["games"].iloc[-1])
        said.append(f"{results.out.name}: {games:,} games; mean of the last {count:,} games {plus_minus(mean, half)}")
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
            {**known.seconds, **data.seconds},
            {**known.facts, **data.facts},
            {**known.replays, **data.replays},
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
        f"After {last.games:,} training games: {name} {value}, {last.matches:,} evaluation games", agents=agents
    )


def sections(found: dict[str, Data]) -> Iterator[Section]:
    yield from by_game(list(found), lambda game: _of_game(found[game]))


def _of_game(data: Data) -> Iterator[Section]:
    if any(data.evaluations.values()):
        yield evaluation_table(data)
    if not any(data.curves.values()):
        yield Text("No point of the curve is stored yet.")
    yield from data.said
    for name, facts in data.facts.items():
        yield Facts(facts, name if len(data.facts) > 1 else "")
    if any(data.seconds.values()):
        yield Choice("Over", "over", OVER, lambda over: list(_curves(data, data.seconds if over == OVER[1] else None)))
    else:
        yield from _curves(data, None)


def _curves(data: Data, seconds: Mapping[str, Mapping[int, float]] | None) -> Iterator[Section]:
    """Yields the curves, over the games, or over the time of learning if that is given."""
    game = game_of(data.game)
    yield Drawing("training.training_curves", (data.curves, seconds, score_bounds(game)), curve_table(data))
    unit = evaluation_unit(game)
    yield Drawing("training.evaluation_curves", (data.evaluations, unit, data.opponents, seconds, data.replays))
    by_zero: dict[str, dict[str, pd.DataFrame]] = {}
    for name, frame in data.checkpoints.items():
        if len(frame):
            by_zero.setdefault(frame.attrs.get(ZERO) or name, {})[name] = frame
    yield from (Drawing("training.rating_curve", (some, seconds)) for some in by_zero.values())


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
    frame["replay"] = [data.replays.get(row["run"], {}).get(row["games"], "") for row in rows]
    if rated := [known.assign(run=name) for name, known in data.checkpoints.items() if len(known)]:
        frame = frame.merge(pd.concat(rated), on=["run", "games"], how="left")
        columns += [
            Column("elo", "Elo", low="elo_low", high="elo_high", signed=True, importance=MAIN),
            Column("minutes", "minutes of learning"),
        ]
    columns.append(REPLAY)
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
    what, how = learner_of(run)
    return f"{what}, {how}, seed {run.definition['seed']} ({run.id.partition(':')[2][:6]})"


def learner_of(run: Run) -> tuple[str, str]:
    """Returns what learns, and the method."""
    plan = run.definition
    playing = plan.get("agent") or plan.get("network")  # from self-play with search, or of a deep network
    what: Declared = AGENTS.make(playing) if playing else EVALUATORS.make(plan["evaluator"])
    return shortened(str(what)), str(LEARNING.make(plan["learning"]))


def title(run: Run) -> str:
    """Returns what learns which game."""
    return f"{learner_of(run)[0]} learns {short_game(str(run.definition['game']))}"
