"""The held-out games of a study's finalists as a table."""

from __future__ import annotations

import math
from dataclasses import asdict

import pandas as pd

from turnier.dashboards.links import games_of
from turnier.dashboards.tables import MAIN, MINOR, Column, Table, known
from turnier.search.verdict import StudyVerdict
from turnier.statistics.intervals import UNBOUNDED, Bounds

HELD_OUT_NOTE = (
    "{} with 95 % intervals; differences are on common seeds, with the {} intervals of the test, which allow for an"
    " early end."
)
CLAIMED = " Claimed: the search's own estimate; luck: by how much it overstates."


def held_out_table(verdict: StudyVerdict, unit: str, run: str = "", bounds: Bounds = UNBOUNDED) -> Table:
    """Returns a row for each finalist; differences are in Elo, too, if the start is the opponent, without games."""
    frame = pd.DataFrame([asdict(row) for row in verdict.figures])
    numbers = frame.columns.difference(["label", "agent"])
    frame[numbers] = frame[numbers].astype(float)
    played, elo = frame.index >= verdict.free, ["elo", "elo_low", "elo_high"]
    frame["half_width"] = frame["half_width"].where(played)
    frame["games"] = (frame["units"] * verdict.unit_games).where(played)
    frame["replay"] = [games_of(run, agent) for agent in frame["agent"]]
    frame[elo] = [
        (verdict.elo if row.label == verdict.challenger else None) or [math.nan] * 3 for row in verdict.figures
    ]
    gains = {"difference": frame["label"].iloc[0], "gain": verdict.reference}
    compared = {other: name for name, other in gains.items()}  # the reference is usually the start
    percent = unit.partition(", ")[2]
    columns = [
        Column("label", "finalist", key=True),
        Column("held_out", "held-out", percent, half_width="half_width", bounds=bounds, importance=MAIN),
        *(
            Column(
                name,
                f"minus {other}",
                percent,
                low=f"{name}_low",
                high=f"{name}_high",
                short=True,
                signed=True,
                importance=MAIN,
            )
            for other, name in compared.items()
        ),
        *known(frame, Column("elo", "Elo", low="elo_low", high="elo_high", signed=True, importance=MAIN)),
        Column("games", verdict.counted),
        *known(
            frame,
            Column("claimed", unit=percent, digits=2, alike="half_width"),
            Column("shrinkage", "luck", percent, digits=2, alike="half_width", signed=True),
        ),
        Column("agent", importance=MINOR - 1),
        Column("replay", link=True),
    ]
    note = HELD_OUT_NOTE.format(unit.capitalize(), f"{100 * verdict.confidence:.0f} %")
    return Table(
        f"Held-out {verdict.counted}", frame, columns, note + (CLAIMED if frame["claimed"].notna().any() else "")
    )
