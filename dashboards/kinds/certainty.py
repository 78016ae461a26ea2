"""Certainty: how often searches of the same position agree, by agent, phase and legal actions, and iterations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from turnier.arena.match import NO_ACTION
from turnier.arena.positions import seen_in
from turnier.arena.repeated_search import SeenPosition
from turnier.core.errors import unknown
from turnier.core.number_text import counted, estimate, number
from turnier.dashboards.agent_names import distinct, explained, planned, short_game, with_names
from turnier.dashboards.kinds.games import by_game
from turnier.dashboards.links import BEHIND, match_address
from turnier.dashboards.sections import (
    Among,
    Behind,
    Choice,
    Diagram,
    Diagrams,
    Drawing,
    Head,
    Section,
    Text,
    kinds_with,
)
from turnier.dashboards.summaries.certainty import (
    ANY,
    coarser,
    course_sentence,
    in_percent,
    lead_sentence,
    means_note,
    over_game,
    phase_name,
)
from turnier.dashboards.tables import MAIN, MINOR, USEFUL, Column, Table
from turnier.games.drawing import coloured
from turnier.games.registry import game_of
from turnier.results.frames import json_rows
from turnier.results.frames.certainty import CERTAINTY_MEASURES, agent_certainty, certainty_over_game, group_certainty
from turnier.results.frames.matches import matches_frame, summary
from turnier.results.store.store import Store
from turnier.runs.results import RunResults
from turnier.runs.stored.certainty import certainty_of_run

BEGIN = 'turnier certainty 2048 random "mc(iterations=100)" --states 5'
SEARCHES = True  # see `turnier.dashboards.sections`

BOARDS = 3  # positions on boards, the least and the most certain ones
COLOURS_OF_CHOICES = "#7fd0b0", "#f0a9cd", "#9db9e8"  # of the cells of the most frequent actions
MAX_RUNS = 20  # runs searched for scores
ABOUT = {
    "normalised": "Normalised: 0 % if all actions are equally frequent, 100 % if always the same (Kutsch 2017, 9.1).",
    "agreement": "Agreement: how often two searches agree; 0 % is as often as at random, 100 % always.",
    "certainty": "Certainty: the share of searches that choose the most frequent action.",
}


class Data(NamedTuple):
    """The data of a measurement."""

    positions: pd.DataFrame  # see `position_certainty`; with the column `run`
    store: Store


def read(results: RunResults) -> Data:
    positions = certainty_of_run(results.store, results.store.run(results.id))
    return Data(positions.assign(run=results.id), results.store)


def together(*found: Data) -> Data:
    return Data(pd.concat([data.positions for data in found], ignore_index=True), found[0].store)


def head(results: RunResults) -> Head:
    """Returns the agent that leads in certainty."""
    positions = read(results).positions
    if positions.empty:
        return Head(agents=planned(results.store.run(results.id)))
    table = in_percent(agent_certainty(positions), "normalised").sort_values("percent", ascending=False)
    agents, first = tuple(distinct(table["label"]).values()), table.iloc[0]
    value = estimate(first["percent"], first["low"], first["high"], " %")
    said = f"{agents[0]} leads: {value} normalised certainty in {counted(first['states'], 'position')}"
    return Head(said, agents=agents)


def sections(data: Data) -> Iterator[Section]:
    if data.positions.empty:
        yield Text("No position has been searched twice yet.")
    yield from by_game(sorted(data.positions["game"].unique()), partial(_of_game, data))


def to_json(data: Data) -> Any:
    positions = data.positions.drop(columns="run")
    return {"agents": json_rows(agent_certainty(positions)), "groups": json_rows(group_certainty(positions))}


def _of_game(data: Data, game: str) -> Sequence[Section]:
    [shown] = with_names(data.positions[data.positions["game"] == game])

    def make(agents: Sequence[str]) -> Sequence[Section]:
        some = shown[shown["label"].isin(agents)]
        return [Choice("Measure", "measure", list(ABOUT), lambda measure: list(_measured(some, measure, data.store)))]

    return [Among("Agents", "agents", sorted(shown["label"].unique()), make)]


def _measured(positions: pd.DataFrame, measure: str, store: Store) -> Iterator[Section]:
    """Yields which agent is the most certain, their course over the game, and details."""
    if said := lead_sentence(positions, measure):
        yield Text(said)
    order = agent_certainty(positions).sort_values(measure, ascending=False)
    if said := course_sentence(positions, measure, str(order["label"].iloc[0])):
        yield Text(said)
    yield Text(ABOUT[measure])
    yield Drawing("certainty.certainty_over_phases", (positions, measure), _phases_table(positions, measure), BEHIND)
    yield Behind("Positions behind it", BEHIND, partial(_chosen, positions, measure, store))
    yield agents_table(positions)
    yield Drawing("certainty.certainty_means", (positions, measure))
    yield Drawing("certainty.certainty_by_parameter", (positions, measure))
    yield Drawing("certainty.certainty_by_score", lambda: (positions, measure, _scores(positions, store)))
    groups = group_certainty(coarser(positions))
    for agent in order["agent"]:
        part = groups[groups["agent"] == agent]
        yield Drawing("certainty.certainty_heat_map", (part, measure), _groups_table(part, measure), BEHIND)
    yield from _extremes(positions[positions["agent"] == order["agent"].iloc[0]], measure, store)


def _chosen(
    positions: pd.DataFrame, measure: str, store: Store, of: str, first: str, last: str, legal: str
) -> Iterator[Section]:
    """Yields the positions of an agent in some phases, with a number of legal actions or any."""
    labels = sorted(positions["label"].unique())
    if of not in labels:
        raise unknown("agent", of, labels)
    phases = [str(phase) for phase in sorted(positions["phase"].unique())]
    for phase in (first, last):
        if phase not in phases:
            raise unknown("phase", phase, phases)
    some = coarser(positions)
    here = (some["label"] == of) & some["phase"].between(int(first), int(last))
    part = some[here & ((legal == ANY) | (some["legal"].astype(str) == legal))]
    where = f"{phase_name(str(some['game'].iloc[0]))} {first}{f' to {last}' * (first != last)}"
    where += f", {legal} legal actions" * (legal != ANY)
    yield Text(f"{of}, {where}: {counted(len(part), 'position')}.")
    yield from _extremes(part, measure, store)


def _extremes(part: pd.DataFrame, measure: str, store: Store) -> Iterator[Section]:
    """Yields the positions in which an agent is least and most certain, on boards."""
    if part.empty:
        return
    order = part.sort_values([measure, "position"], kind="stable")
    fewer = min(BOARDS, -(-len(order) // 2))
    least, most = order.head(fewer), order.iloc[fewer:].tail(BOARDS)[::-1]
    label = part["label"].iloc[0]
    yield Diagrams(f"Where {label} is least certain", partial(_boards, least, measure, store))
    yield Diagrams(f"Where {label} is most certain", partial(_boards, most, measure, store))


def _boards(part: pd.DataFrame, measure: str, store: Store) -> list[Diagram]:
    """Returns positions with how often each action was chosen; they lead to their matches if these are stored."""
    found = []
    for row in part.to_dict("records"):
        searches = store.searches.of_positions(row["run"], [row["position"]])
        actions = Counter(one.action for one in searches if one.spec.agent == row["agent"])
        seen = searches[0].spec.position
        game, state = game_of(seen.game), np.array(seen.state, np.int64)
        lines, colours = [(f"{measure} {number(100 * row[measure])} %", "")], dict[int, str]()
        for (action, times), colour in zip(actions.most_common(), COLOURS_OF_CHOICES, strict=False):
            cells = game.clicks(state, action) if action != NO_ACTION else ()
            colours |= dict.fromkeys(cells[-1] if cells else (), colour)
            name = game.move_text(state, action) if action != NO_ACTION else "failed"
            lines.append((f"{name}: {times} of {row['searches']} searches", colour * bool(cells)))
        found.append(Diagram(coloured(game.svg(state), colours), lines, _match_of(seen, row, store)))
    return found


def _match_of(seen: SeenPosition, row: dict[str, Any], store: Store) -> str:
    """Returns the address of a position in its match; empty if that is not stored."""
    for record in store.records([row["source"]]) if row["source"] else ():
        for move, position in enumerate(seen_in(record.spec, record.plies)):
            if position.state == seen.state:
                return match_address(row["run"], row["source"], move)
    return ""


def _scores(positions: pd.DataFrame, store: Store) -> pd.DataFrame:
    """Returns `summary` of the newest runs that compare agents at these games."""
    games = {short_game(str(game)) for game in positions["game"].unique()}
    kinds = kinds_with("COMPARES")
    runs = [run for run in reversed(store.runs()) if run.kind in kinds and short_game(run.name) in games]
    found = [summary(matches_frame(store, run=run.id, ids=False)) for run in runs[:MAX_RUNS]]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def agents_table(positions: pd.DataFrame) -> Table:
    """Returns the means of every agent with their intervals."""
    table = explained(agent_certainty(positions)).sort_values("agreement", ascending=False, ignore_index=True)
    shares = []
    for measure in CERTAINTY_MEASURES:
        percent = in_percent(table, measure)
        table = table.assign(**{f"{measure}_low": percent["low"] / 100, f"{measure}_high": percent["high"] / 100})
        low, high = f"{measure}_low", f"{measure}_high"
        importance = MAIN if measure == "normalised" else USEFUL
        shares.append(Column(measure, unit="%", scale=100, low=low, high=high, importance=importance))
    table = table.assign(ms=1000 * table["seconds"])
    columns = [
        Column("label", "agent", key=True),
        Column("states", "positions", importance=MINOR),
        Column("searches"),
        *shares,
        Column("chance_level", "normalised of a random agent", "%", 100, importance=MINOR),
        Column("ms", "wall clock per search, ms", importance=MINOR),
    ]
    return Table("Agents", table, columns, means_note(positions))


def _phases_table(positions: pd.DataFrame, measure: str) -> Table:
    """Returns the course over the game for terminals."""
    frame = explained(certainty_over_game(positions, measure)).sort_values(["label", "phase"], ignore_index=True)
    columns = [
        Column("label", "agent", key=True),
        Column("phase", phase_name(str(positions["game"].iloc[0])), digits=3, importance=MAIN),
        Column("states", "positions"),
        Column("value", measure, unit="%", scale=100, low="low", high="high", importance=MAIN),
        Column("chance", "at random", "%", 100, importance=MINOR),
    ]
    return Table(over_game(measure), frame, columns)


def _groups_table(groups: pd.DataFrame, measure: str) -> Table:
    """Returns an agent's groups for terminals: a row for each phase and number of legal actions."""
    game, agent = str(groups["game"].iloc[0]), str(groups["label"].iloc[0])
    share = Column(measure, unit="%", scale=100, low=f"{measure}_low", high=f"{measure}_high", importance=MAIN)
    phase, legal = Column("phase", phase_name(game), key=True), Column("legal", "legal actions", importance=MAIN)
    rows = groups.sort_values(["phase", "legal"]).assign(phase=groups["phase"].astype(str))
    return Table(f"{agent}: {measure}", rows, [phase, legal, Column("states", "positions"), share])
