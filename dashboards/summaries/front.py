"""The front of a search for strength and a second objective: the agents that no other beats at both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from turnier.core.number_text import plus_minus
from turnier.dashboards.colours import COLOURS
from turnier.dashboards.links import games_of
from turnier.dashboards.sections import Head
from turnier.dashboards.summaries.study_values import measured
from turnier.dashboards.tables import MAIN, MINOR, Column, Table
from turnier.search.front.points import Point, best_first, dominated
from turnier.search.front.second_objective import SecondObjective
from turnier.search.verdict import START

FOUND = COLOURS[2]  # of heads, as for studies that found a better agent


def front_of(trials: pd.DataFrame) -> pd.DataFrame:
    """Returns the agents that no other beats at both objectives, the best at the second objective first.

    An agent tried several times counts with the means of its trials, in the row of the first one.
    """
    second: SecondObjective = trials.attrs["second"]
    tried = trials.dropna(subset=["value", "other"])
    same = tried[trials.attrs["parameters"]].astype(str).agg("|".join, axis=1) if len(tried) else pd.Series(dtype=str)
    means = tried[["value", "other"]].groupby(same).transform("mean")
    often = same.duplicated(keep=False)
    data = tried.assign(**{name: means[name] for name in means})[~same.duplicated()]
    data.loc[often[data.index], ["low", "high"]] = np.nan  # these are of one trial
    data = data.sort_values(["other", "value"], ascending=[second.sign < 0, False])
    best = data["value"].cummax()
    return data[(data["value"] == best) & ~best.duplicated()]


def front_head(points: Sequence[Point], unit: str, unit_games: int, agents: tuple[str, ...]) -> Head:
    """Returns the sentence on a front in held-out games."""
    best = best_first([p for p, worse in zip(points, dominated(points), strict=True) if not worse])
    second = best[0].objective
    strengths = [measured(unit, plus_minus(p.strength, p.strength_half_width)) for p in (best[0], best[-1])]
    ends = [f"{text} at {second.text(p.other)}" for text, p in zip(strengths, (best[0], best[-1]), strict=True)]
    are = "is" if len(best) == 1 else "are"
    sentence = f"{len(best)} of {len(points)} agents {are} beaten by none at both strength and {second.name}: {ends[0]}"
    meaning = f"Means of {points[0].sample(unit_games)} each."
    if START in {point.label for point in best}:
        meaning += " The start is one of them."
    return Head(f"{sentence} to {ends[1]}." if len(best) > 1 else f"{sentence}.", meaning, FOUND, agents)


def points_table(points: Sequence[Point], unit: str, unit_games: int, run: str = "") -> Table:
    """Returns the start and the front in held-out games, the best one at the second objective first."""
    points, second = best_first(points), points[0].objective
    frame = pd.DataFrame([point._asdict() for point in points])
    frame = frame.assign(agent=frame["agent"].map(str), beaten=[_beaten_by(point, points) for point in points])
    frame["replay"] = [games_of(run, agent) for agent in frame["agent"]]
    columns = [
        Column("label", "finalist", key=True),
        Column("strength", unit, half_width="strength_half_width", importance=MAIN),
        Column("other", second.title, half_width="other_half_width", bounds=second.bounds, importance=MAIN),
        Column("beaten", "beaten by"),
        Column("agent", importance=MINOR - 1),
        Column("replay", link=True),
    ]
    return Table("Held-out games", frame, columns, f"Means of {points[0].sample(unit_games)} each, 95 % intervals.")


def _beaten_by(point: Point, points: Sequence[Point]) -> str:
    """Returns the labels of the points that are at least as good at both."""
    return ", ".join(other.label for other in points if other is not point and dominated([point, other])[0])
