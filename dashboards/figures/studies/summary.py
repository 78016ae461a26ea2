"""A study's result as people read it first: the verdict or what the search says so far, and the held-out games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from turnier.core.number_text import number, plus_minus
from turnier.dashboards.figures.charts import COLOURS
from turnier.dashboards.figures.comparison import banner
from turnier.dashboards.figures.tables import rounded
from turnier.search import MIN_SHOWN
from turnier.search import verdict as verdicts
from turnier.search.front.points import Point, best_first, dominated
from turnier.search.front.second_objective import SecondObjective
from turnier.search.storage.definitions import agent_with, used_values
from turnier.search.verdict import START, StudyVerdict
from turnier.statistics.intervals import mean_interval

BETTER, KEPT, OPEN = COLOURS[2], COLOURS[0], COLOURS[1]  # the colours of verdicts, and of what has none yet
_COLOURS = {verdicts.BETTER: BETTER, verdicts.UNDECIDED: OPEN}


class Headline(NamedTuple):
    """What a page of a study shows first."""

    sentence: str
    meaning: str
    colour: str
    agent: str  # text to copy; empty where there is none

    @property
    def html(self) -> str:
        return banner(self.sentence, self.meaning, self.colour)


def headline(
    trials: pd.DataFrame,
    noted: pd.DataFrame,
    verdict: StudyVerdict | None,
    points: Sequence[Point],
    agent: str,
    unit: str,
    unit_games: int,
    live: bool,
) -> Headline:
    """Returns a study's verdict, or what its search says so far; never the luckiest candidate.

    Args:
        trials: see `trials_frame`; not empty.
        noted: see `generations_frame`.
        verdict: if there is one.
        points: of a front in held-out games; may be empty.
        agent: what the search recommends; may be empty.
        unit: of the values.
        unit_games: games per unit of a candidate.
        live: whether it is running.
    """
    if verdict:
        return _of_verdict(verdict, int(trials["games"].sum()) * unit_games)
    if trials["other"].notna().any():
        return _of_points(points, unit, unit_games) if points else _of_front(trials, unit)
    later = "held-out games at the end decide" if live else "repeat its command to play the held-out games that decide"
    meaning = f"Not yet verified: {later} whether it is better than the start."
    known = noted[noted["idle_games"] >= MIN_SHOWN]
    if len(known):
        last = known.iloc[-1]
        value, games = plus_minus(last["recommended"], last["half_width"]), int(last["idle_games"]) * unit_games
        meaning = f"{unit.capitalize()} {value} in {games:,} idle-time games of the previous recommendation. {meaning}"
    elif trials["group"].notna().any():
        latest = trials[trials["group"] == trials["group"].max()]
        value = plus_minus(*mean_interval(latest["value"].dropna().tolist()))
        games = int(latest["games"].sum()) * unit_games
        meaning = f"{unit.capitalize()} of the latest generation's candidates: {value}, {games:,} games. {meaning}"
    return Headline("What the search recommends now:" if agent else "No verdict yet.", meaning, OPEN, agent)


def _of_verdict(verdict: StudyVerdict, searched: int) -> Headline:
    meaning = (
        f"Decided in {verdict.games:,} held-out games after {verdict.searched:,} games of the search;"
        f" wrong in at most {100 * verdict.alpha:g} % of searches that find nothing better."
    )
    if searched > verdict.searched:
        meaning += f" The search has since been resumed, to {searched:,} games, and has no new verdict yet."
    return Headline(verdict.sentence, meaning, _COLOURS.get(verdict.outcome, KEPT), verdict.agent)


def _of_points(points: Sequence[Point], unit: str, unit_games: int) -> Headline:
    best = best_first([p for p, worse in zip(points, dominated(points), strict=True) if not worse])
    second = best[0].objective
    ends = [f"{plus_minus(p.strength, p.strength_half_width)} at {second.text(p.other)}" for p in (best[0], best[-1])]
    what = f"strength and {second.name}"
    sentence = f"{len(best)} of {len(points)} agents are beaten by none at both {what}: {unit} {ends[0]}"
    sentence += f" to {ends[1]}." if len(best) > 1 else "."
    meaning = f"Means of {points[0].sample(unit_games)} each."
    if START in {point.label for point in best}:
        meaning += " The start is one of them."
    return Headline(sentence, meaning, BETTER, "")


def points_table(points: Sequence[Point], unit: str) -> pd.DataFrame:
    """Returns the start and the front in held-out games, the best one at the second objective first."""
    points, second = best_first(points), points[0].objective
    frame = pd.DataFrame([point._asdict() for point in points])
    half, wide = frame["strength_half_width"], frame["other_half_width"]
    table = pd.DataFrame({"finalist": frame["label"], unit: rounded(frame["strength"], half)})
    table["± 95 %"] = rounded(half, half)
    table[second.title] = rounded(frame["other"], wide)
    table[f"± of {second.title}"] = rounded(wide, wide)
    table["beaten by"] = [_beaten_by(point, points) for point in points]
    return table.assign(agent=frame["agent"].map(str))


def _beaten_by(point: Point, points: Sequence[Point]) -> str:
    """Returns the labels of those that are at least as good at both."""
    return ", ".join(other.label for other in points if other is not point and dominated([point, other])[0])


def _of_front(trials: pd.DataFrame, unit: str) -> Headline:
    front, second = front_of(trials), trials.attrs["second"]
    ends = [f"{number(row['value'])} at {second.text(row['other'])}" for _, row in front.iloc[[0, -1]].iterrows()]
    sentence = (
        f"{len(front)} candidates that no other beats at both strength and {second.name}: {unit} {ends[0]}"
        f" to {ends[1]}."
    )
    meaning = "These are the search's own values, which favour the lucky: see the held-out games."
    return Headline(sentence, meaning, OPEN, "")


def front_of(trials: pd.DataFrame) -> pd.DataFrame:
    """Returns the agents that no other one beats at both objectives, the best one at the second objective first.

    An agent that was tried several times counts with the means of its trials, in the row of its first one.
    """
    second: SecondObjective = trials.attrs["second"]
    tried = trials.dropna(subset=["value", "other"])
    same = tried[trials.attrs["parameters"]].astype(str).agg("|".join, axis=1) if len(tried) else pd.Series(dtype=str)
    means = tried[["value", "other"]].groupby(same).transform("mean")
    often = same.duplicated(keep=False)
    data = tried.assign(**{name: means[name] for name in means})[~same.duplicated()]
    data.loc[often[data.index], ["low", "high"]] = np.nan  # of one trial
    data = data.sort_values(["other", "value"], ascending=[second.sign < 0, False])
    best = data["value"].cummax()
    return data[(data["value"] == best) & ~best.duplicated()]


def front_table(trials: pd.DataFrame, unit: str, definition: Mapping[str, Any]) -> pd.DataFrame:
    """Returns the candidates of the front, as `front_of` does, with their agents' texts."""
    front = front_of(trials)
    half = (front["high"] - front["low"]) / 2
    table = pd.DataFrame({"candidate": front["number"], trials.attrs["second"].title: rounded(front["other"])})
    table[unit] = rounded(front["value"], half)
    if half.notna().any():
        table["± 95 %"] = rounded(half, half)
    chosen = [used_values(row, trials.attrs["ranges"]) for row in front[trials.attrs["parameters"]].to_dict("records")]
    return table.assign(agent=[agent_with(definition, values) for values in chosen]).reset_index(drop=True)


def held_out_table(verdict: StudyVerdict, unit_games: int) -> pd.DataFrame:
    """Returns a row for each finalist: claimed, held-out, luck, and the differences with their 95 % intervals."""
    frame = pd.DataFrame([vars(row) for row in verdict.figures])
    half, start = frame["half_width"].astype(float), frame["label"].iloc[0]
    table = pd.DataFrame({"finalist": frame["label"], "held-out": rounded(frame["held_out"], half)})
    table["± 95 %"] = rounded(half, half)
    for column, other in {"difference": start, "gain": verdict.reference}.items():
        width = frame[f"{column}_half_width"].astype(float)
        table[f"minus {other}"] = rounded(frame[column].astype(float), width)
        table[f"± of minus {other}"] = rounded(width, width)
    table["games"] = frame["units"] * unit_games
    table["claimed"] = rounded(frame["claimed"].astype(float), half)
    table["luck"] = rounded(frame["shrinkage"].astype(float), half)
    return table.assign(agent=frame["agent"])


def held_out_note(unit: str) -> str:
    """Returns what the columns of the held-out games mean."""
    return (
        f"{unit.capitalize()} with 95 % intervals; differences are on common seeds, with the intervals of"
        " the test, which allow for an early end. Claimed: the search's own estimate; luck: by how much it overstates."
    )


def compared(studies: dict[str, tuple[StudyVerdict | None, str, int]]) -> pd.DataFrame:
    """Returns a row for each of several studies: what it ended with.

    Args:
        studies: the verdict, the agent recommended so far, and the games of candidates, by name.
    """
    rows = []
    for name, (verdict, agent, games) in studies.items():
        text = verdict.sentence if verdict else "no verdict yet"
        rows.append({"study": name, "verdict": text, "games": games, "agent": verdict.agent if verdict else agent})
    return pd.DataFrame(rows)
