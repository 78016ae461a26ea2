"""Replications: the ranks of every agent in all tournaments, and their spread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from turnier.agents.registry import label_of
from turnier.core.number_text import number
from turnier.dashboards.agent_names import planned, with_names
from turnier.dashboards.sections import Head, Section, Text
from turnier.dashboards.tables import MAIN, Column, Table
from turnier.results.frames import Standings, json_rows
from turnier.results.frames.matches import matches_frame
from turnier.runs.replication import Replication
from turnier.runs.results import RunResults

BEGIN = "turnier tournament tictactoe random mcts --times 5 --games 4"
COMPARES = True  # see `turnier.dashboards.sections`


def read(results: RunResults) -> pd.DataFrame:
    """Returns one row per agent, the best first: label, its mean rank, how often it was first, and all its ranks.

    Only complete tournaments count.
    """
    run = results.store.run(results.id)
    frame, ranks = matches_frame(results.store, run=run.id), {}
    for count, tournament in enumerate(Replication.of_run(results.store, run).tournaments, 1):
        part = frame[frame["match"].isin([spec.id for spec in tournament])]
        if part["match"].nunique() == len(tournament):
            rated = Standings.of(part, pairs=False).ratings
            ranks[count] = pd.Series(range(1, len(rated) + 1), index=list(rated["agent"]))
    table = pd.DataFrame(ranks)
    columns = {"mean": table.mean(axis=1), "best": table.min(axis=1), "worst": table.max(axis=1)}
    columns["first"] = (table == 1).sum(axis=1)
    texts = table.apply(lambda row: " ".join(f"{rank:.0f}" for rank in row), axis=1)
    found = pd.DataFrame(columns).assign(ranks=texts if len(table) else "", tournaments=table.shape[1])
    found = found.sort_values("mean", kind="stable").rename_axis("agent").reset_index()
    return found.assign(label=found["agent"].astype(str).map(label_of))


def head(results: RunResults) -> Head:
    """Returns the agent that was first most often."""
    table = read(results)
    if table.empty:
        return Head(agents=planned(results.store.run(results.id)))
    [table] = with_names(table)
    agents = tuple(table["label"])
    most = table.sort_values("first", ascending=False, kind="stable").iloc[0]
    spread = number(float((table["worst"] - table["best"]).mean()))
    times = f"{most['first']:,} of {most['tournaments']:,} tournaments"
    return Head(f"{most['label']} is first in {times}; ranks spread over {spread} places on average", agents=agents)


def sections(table: pd.DataFrame) -> Iterator[Section]:
    """Yields the table of ranks."""
    if table.empty:
        yield Text("No tournament has ended yet.")
        return
    columns = [
        Column("label", "agent", key=True),
        Column("mean", "mean rank", importance=MAIN),
        Column("best"),
        Column("worst"),
        Column("first", "times first"),
        Column("ranks"),
    ]
    yield Table(
        "Ranks in all tournaments",
        with_names(table)[0],
        columns,
        "Ranks in the order in which the tournaments were played.",
    )


def to_json(table: pd.DataFrame) -> Any:
    return json_rows(table)
