"""Profiles of games: seats, draws, moves and choices at every strength, and what doubling the thought is worth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pandas as pd

from turnier.core.number_text import around, ordinal
from turnier.dashboards.agent_names import planned, with_names
from turnier.dashboards.kinds.games import GAMES
from turnier.dashboards.links import games_address
from turnier.dashboards.sections import Drawing, Facts, Head, Section, Text
from turnier.dashboards.tables import MAIN, MINOR, WHOLE, Column, Table
from turnier.results.frames import json_rows
from turnier.runs.results import RunResults
from turnier.runs.stored.profile import UNDECIDED, ProfileResults
from turnier.statistics.intervals import Interval

BEGIN = "turnier profile tictactoe"

THOUGHT = {"ms": "milliseconds", "plies": "plies"}  # a unit of budgets -> its name in charts; others are their own
MEAN = "mean, all games"
ENDS = ("", "_low", "_high")  # of a value and its interval
RESULTS = {1: "the first seat wins", 0: "a draw", -1: "the second seat wins"}


class Data(NamedTuple):
    """The data of a profile."""

    run: str
    game: str
    seats: int
    thought: str  # the unit of thought, per move
    perfect: dict[str, Any]
    chance: bool
    strengths: pd.DataFrame
    doublings: pd.DataFrame
    gain: Interval  # per doubling
    common: Interval  # share of the variance that chance decides
    trend: Interval  # of the first seat's share per doubling

    @property
    def unit(self) -> str:
        return _unit(self.seats)

    @property
    def played(self) -> pd.DataFrame:
        """The strengths with valid games."""
        return self.strengths[self.strengths["different"] > 0]


def _results(results: RunResults) -> ProfileResults:
    return results if isinstance(results, ProfileResults) else ProfileResults.find(results.store, results.id)


def read(results: RunResults) -> Data:
    found = _results(results)
    plan = found.profile
    return Data(
        found.id,
        str(plan.game),
        found.num_seats,
        f"{THOUGHT.get(plan.unit_of_thought, plan.unit_of_thought)} per move",
        found.perfect,
        plan.has_chance,
        found.strengths(),
        found.doublings(),
        found.gain(),
        found.chance(),
        found.trend(),
    )


def head(results: RunResults) -> Head:
    """Returns what the game is like at the greatest strength."""
    found = _results(results)
    return _said(found, found.greatest, found.gain())


def head_of(results: RunResults, data: Data) -> Head:
    """Returns the same from data that have been read."""
    found = _results(results)
    return _said(found, found.greatest, data.gain)


def _said(found: ProfileResults, step: int | None, gain: Interval) -> Head:
    agents = planned(found.store.run(found.id))
    if step is None:
        return Head(agents=agents)
    last = found.strength(step)
    told = [f"{_text(last, 'moves')} moves", f"{_text(last, 'choices')} choices a move"]
    if found.num_seats == 1:
        told.insert(0, f"{_text(last, 'score')} points")
    else:
        verdict = f" ({UNDECIDED})" if last["ahead"] == UNDECIDED else ""
        told.insert(0, f"{_text(last, 'seat_1', 100, ' %')} of the points to the first seat{verdict}")
        told.insert(1, f"{_text(last, 'drawn', 100, ' %')} drawn")
    if not math.isnan(gain.value):
        told.append(f"{around(*gain, f' {_unit(found.num_seats)}', signed=True)} per doubling")
    return Head(f"{'; '.join(told)} ({last['label']}, {last['different']:,} games)", agents=agents)


def _unit(seats: int) -> str:
    return "points" if seats == 1 else "Elo"


def _text(row: Mapping[str, Any], name: str, scale: float = 1.0, unit: str = "") -> str:
    value, low, high = (scale * row[f"{name}{end}"] for end in ENDS)
    return around(value, low, high, unit)


def sections(data: Data) -> Iterator[Section]:
    if data.played.empty:
        yield Text("No game has been played yet.")
        return
    yield strengths_table(data)
    yield doublings_table(data)
    if known := facts(data):
        yield Facts(known, "The game")
    if data.seats == 1:
        yield Drawing("games.profile.scores", (data.strengths, data.thought))
    else:
        yield Drawing("games.profile.points_by_seat", (data.strengths, data.thought, data.seats))
    yield Drawing("games.profile.worth_of_doubling", (data.doublings, data.thought, data.unit))


def to_json(data: Data) -> Any:
    whole = {"gain": data.gain, "chance": data.common, "trend": data.trend}
    ends = {f"{name}{end}": value for name, each in whole.items() for end, value in zip(ENDS, each, strict=True)}
    [row] = json_rows(pd.DataFrame([ends]))
    return {
        "game": data.game,
        "has_chance": data.chance,
        "perfect": data.perfect,
        **row,
        "strengths": json_rows(data.strengths),
        "doublings": json_rows(data.doublings),
    }


def strengths_table(data: Data) -> Table:
    """Returns what the game is like at every strength."""
    [frame] = with_names(data.strengths)
    frame = frame.assign(replay=[games_address(data.run, agent) for agent in frame["agent"]])
    measured = [_column("score", "mean score", importance=MAIN)]
    if data.seats > 1:
        seats = [
            _column(f"seat_{seat}", f"{ordinal(seat)} seat", "%", 100, importance=MAIN if seat == 1 else MINOR)
            for seat in range(1, data.seats + 1 if data.seats > 2 else 2)
        ]
        measured = [seats[0], Column("ahead", importance=MAIN), *seats[1:], _column("drawn", unit="%", scale=100)]
    counted = [Column("different")] if (frame["different"] < frame["games"]).any() else []
    failed = [Column("failures", "failed")] if frame["failures"].any() else []
    columns = [
        Column("label", "agent", key=True),
        *measured,
        _column("moves"),
        _column("choices"),
        GAMES,
        *counted,
        *failed,
        Column("replay", link=True),
    ]
    about = "Each agent against itself. " if data.seats > 1 else ""
    said = "Seat: its points, of all. Moves are those of all seats. Choices: legal actions per move. 95 % intervals."
    return Table("At every strength", frame, columns, about + (said if data.seats > 1 else said.partition(". ")[2]))


def doublings_table(data: Data) -> Table:
    """Returns what every doubling of the thought is worth."""
    [frame] = with_names(data.doublings)
    whole = {"label": MEAN, WHOLE: MEAN, "games": int(frame["games"].sum())}
    for name, each in (("gain", data.gain), ("chance", data.common)):
        whole |= dict(zip((f"{name}{end}" for end in ENDS), each, strict=True))
    frame = pd.concat([frame, pd.DataFrame([whole])], ignore_index=True)
    columns = [
        Column("label", "agent", key=True),
        _column("gain", f"gain, {data.unit}", signed=True, importance=MAIN),
        *([_column("points", unit="%", scale=100)] if data.seats > 1 else []),
        *([_column("chance", "decided by chance", "%", 100)] if data.chance else []),
        GAMES,
    ]
    met = (
        "Each agent against the one"
        if data.seats > 1
        else "Each agent's scores less, on the same seeds, those of the one"
    )
    return Table("Doubling the thought", frame, columns, f"{met} with half its thought. 95 % intervals.")


def facts(data: Data) -> dict[str, str]:
    """Returns what is known of the game as a whole, apart from its tables."""
    found = {}
    if data.seats > 1 and not math.isnan(data.trend.value):
        slope = Interval(*(100 * end for end in data.trend))
        verdict = f" ({UNDECIDED})" if slope.low <= 0 <= slope.high else ""
        found["first seat, % of the points per doubling"] = f"{around(*slope, signed=True)}{verdict}"
    if not data.chance:
        found["decided by chance"] = "no chance"
    if data.perfect:
        found["with perfect play"] = f"{RESULTS[data.perfect['value']]} ({data.perfect['judge']})"
    return found


def _column(name: str, title: str = "", unit: str = "", scale: float = 1.0, **rest: Any) -> Column:
    return Column(name, title, unit, scale, low=f"{name}_low", high=f"{name}_high", short=True, **rest)
