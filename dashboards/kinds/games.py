"""Games with scores: results of agents, the cost of their moves, and the games with the extreme scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from turnier.core.number_text import around, counted
from turnier.dashboards.agent_names import distinct, planned, planned_labels, short_game
from turnier.dashboards.links import games_address, match_address
from turnier.dashboards.sections import Among, Choice, Drawing, Head, Section, Tab, Title, kind_of
from turnier.dashboards.summaries.matches import (
    COSTS,
    GAMES_NOTE,
    POINTS,
    POINTS_NOTE,
    Scores,
    bounds_of,
    costs_of,
    joined,
    named,
    of_agents,
    value_of,
)
from turnier.dashboards.summaries.matches import scores as read_scores
from turnier.dashboards.tables import MAIN, MINOR, Column, Table, known
from turnier.results.frames import json_rows
from turnier.results.frames.matches import matches_frame, shown_milestones, summary
from turnier.runs.results import RunResults

EXTREMES = 5  # games with the largest scores, and with the smallest
GAMES = Column("games", importance=MAIN)
SHARES = (
    Column("points_share", "points", "%", 100, low="points_share_low", high="points_share_high", importance=MAIN),
    Column("wins", "won"),
    Column("draws", "drawn"),
    Column("losses", "lost"),
)
MEAN = Column("mean", "mean score", half_width="half_width", importance=MAIN)
BEST = (Column("median", importance=MINOR), Column("best", importance=MINOR))
MISHAPS = (Column("failures", "failed"), Column("void"))
COST = tuple(Column(name, importance=MINOR) for name in COSTS)
REPLAY = Column("replay", link=True)


def read(results: RunResults) -> Scores:
    return read_scores(results.store, results.id)


together = joined


def head(results: RunResults) -> Head:
    """Returns the best mean."""
    run = results.store.run(results.id)
    table = summary(matches_frame(results.store, run=run.id, ids=False)).sort_values("mean", ascending=False)
    if table.empty:
        return Head(agents=planned(run))
    agents = tuple(distinct([*table["label"], *planned_labels(run)]).values())
    first, unplayed = (
        table.iloc[0],
        agents[len(table["label"].unique()) :] if getattr(kind_of(run.kind), "COMPARES", False) else (),
    )
    value = around(first["mean"], *bounds_of(table).around(first["mean"], first["half_width"]))
    said = f"{agents[0]}: mean score {value}, {counted(first['games'], 'game')}"
    return Head(said, agents=agents, unplayed=unplayed)


def sections(found: Scores) -> Iterator[Section]:
    yield from by_game(sorted(found.summary["game"].unique()), partial(_of_game, found))


def to_json(found: Scores) -> Any:
    return json_rows(found.summary)


def by_game(games: Sequence[str], make: Any) -> Iterator[Section]:
    """Yields the sections of a game, or of each of several games under its title."""
    if len(games) == 1:
        yield from make(games[0])
    elif games:
        names = {game: short_game(game) for game in games}
        yield Choice("Game", "game", games, lambda game: [Title(names[game]), *make(game)], None, names)


def _of_game(found: Scores, game: str) -> Sequence[Section]:
    ranked, _ = value_of(of_agents(found, game).summary)
    labels = list(ranked["label"].unique())
    return [Among("Agents", "agents", labels, lambda agents: list(scored(of_agents(found, game, agents))))]


def scored(found: Scores) -> Iterator[Section]:
    """Yields the results of the agents of one game: the table, means, costs, distributions, milestones, extremes."""
    if found.summary.empty:
        return
    yield score_table(found.summary)
    yield Drawing("scores.mean_scores", (found.summary,))
    if found.summary["points_share"].isna().all():
        views = ("histogram", "cumulative")
        drawn = {view: Drawing("scores.score_distribution", (found, view == views[1])) for view in views}
        yield Choice("Distribution", "view", views, lambda view: [drawn[view]], beside=True)
        if shares := milestones(found.summary):
            yield Drawing("scores.milestone_shares", (found.summary,), shares)
        yield _extremes(found.extremes)
    yield Tab("Cost")
    costs = costs_of(found.summary)
    paid = [cost for cost in COSTS if (costs[cost] > 0).any()]
    if paid:
        yield Choice(
            "Cost of a move",
            "cost",
            paid,
            lambda cost: [Drawing("scores.score_against_cost", (found.summary, cost))],
            beside=True,
        )


def score_table(rows: pd.DataFrame) -> Table:
    """Returns a summary by rank: points or mean scores, the ends of games, and the cost of a move."""
    frame, unit = value_of(named(rows))
    frame = frame.assign(**costs_of(frame), rank=range(1, len(frame) + 1))
    if "run" in frame:
        frame["replay"] = [games_address(run, agent) for run, agent in zip(frame["run"], frame["agent"], strict=True)]
    of_unit = SHARES if unit == POINTS else (replace(MEAN, bounds=bounds_of(frame)), *BEST)
    shown = [Column("rank"), Column("name", "agent", key=True), of_unit[0], GAMES, *of_unit[1:], *mishaps(frame)]
    several = (
        " Agents in different runs met different opponents." if "run" in frame and frame["run"].nunique() > 1 else ""
    )
    note = (
        POINTS_NOTE + several
        if unit == POINTS
        else "Mean scores with 95 % intervals (Student's t, wider by the skewness)."
    )
    return Table("Scores and costs", frame, [*shown, *known(frame, *COST, REPLAY)], note)


def mishaps(frame: pd.DataFrame) -> list[Column]:
    """Returns the columns of games that failed or repeat others by construction, and of void ones, if there are any."""
    repeated = [Column("different")] if (frame["different"] < frame["games"]).any() else []
    return repeated + [column for column in MISHAPS if frame[column.name].fillna(0).any()]


def milestones(rows: pd.DataFrame) -> Table | None:
    """Returns the shares of games that reached each milestone, such as a tile; None in games without any."""
    if not (names := shown_milestones(rows)):
        return None
    fact = names[0].split(">=")[0].replace("_", " ")
    columns = [Column(name, name.split(">=")[1], "%", 100, low=f"{name}_low", high=f"{name}_high") for name in names]
    return Table(
        f"Share of games whose {fact} reaches", rows, [Column("label", "agent", key=True), *columns], GAMES_NOTE
    )


def _extremes(found: pd.DataFrame) -> Table:
    """Returns the games with the largest and the smallest scores."""
    found = found.sort_values("score", ascending=False, kind="stable")
    rows = pd.concat([found[:EXTREMES], found[-EXTREMES:]]).drop_duplicates(["match", "seat", "run"])
    addresses = [match_address(run, match) for run, match in zip(rows["run"], rows["id"], strict=True)]
    shown = rows.assign(replay=addresses, seed=rows["seed"].astype(str), id=rows["id"].str[:12])  # seeds are names
    columns = [
        REPLAY,
        Column("score", digits=12, importance=MAIN),
        Column("label", "agent", key=True),
        Column("seed"),
        Column("id", "match"),
    ]
    return Table("Largest and smallest scores", shown, columns)
