"""The versions of code that is not ours, with their ratings over time."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from turnier.dashboards.agent_names import with_names
from turnier.dashboards.summaries.matches import bounds_of
from turnier.dashboards.tables import MAIN, Column, Table


def versions_table(title: str, rated: pd.DataFrame) -> Table:
    """Returns the rows of one game of `rated_versions` as a table, the oldest version first."""
    several = bool(rated["elo"].notna().any())
    prefix = "elo" if several else "mean"
    [frame] = with_names(rated.reset_index(drop=True))
    frame = frame.assign(
        half_width=rated[f"{prefix}_high"].to_numpy() - rated[prefix].to_numpy(),
        since=[f"{since:%Y-%m-%d %H:%M}" for since in rated["since"]],
    )
    value = Column(prefix, "Elo" if several else "mean score", half_width="half_width", signed=several)
    if not several:
        value = replace(value, bounds=bounds_of(frame))
    columns = [
        Column("label", "agent", key=True),
        Column("since", "first played"),
        value,
        Column("games", importance=MAIN),
    ]
    note = "Elo: 0 is the mean of all agents that played this game." if several else ""
    return Table(title, frame, columns, note)
