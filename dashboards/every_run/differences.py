"""Why one of two agents is stronger: positions of their games in which they differ most, searched again on demand."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from turnier.arena.analysis.differences import AGAIN, STRONGER, TRIED, WEAKER, Difference, Found, find_differences
from turnier.arena.match import MatchRecord, moves_kept
from turnier.core.errors import UserError
from turnier.core.number_text import duration, number
from turnier.dashboards.every_run.cost import agent_costs
from turnier.dashboards.every_run.games import Chosen, agents_of, matching
from turnier.dashboards.links import match_address
from turnier.dashboards.sections import Diagram, Diagrams, Section, Text, Title
from turnier.games.drawing import coloured
from turnier.results.match_list import full_ids
from turnier.results.store.store import Store
from turnier.server.board.opinions import is_harmless

SECONDS = 8.0  # for looking; how many positions there are follows from what the agents' moves took in their games
MOST, FEWEST = 300, 12  # positions to look at
GAMES = 40  # that they come from
SURE = 2.0  # standard errors of a lead that is named
COLOURS = "#7fd0b0", "#f0a9cd"  # of the cells of the stronger and of the weaker agent's choice


def sections(store: Store, run: str, frame: pd.DataFrame, agents: Sequence[str]) -> Iterator[Section]:
    """Yields where two agents of a run differ most, and where that cost the weaker one most.

    Args:
        store: has the run.
        run: its id.
        frame: its `matches_frame`.
        agents: full text forms.
    """
    names = agents_of(frame)
    if shy := [names[agent] for agent in agents if not is_harmless(agent)]:
        yield Text(f"{' and '.join(shy)}: people, programs and code of others are not asked again by a page.")
        return
    alone = int(frame["seats"].max()) == 1
    played = [matching(frame, Chosen(some)) for some in ([[agent] for agent in agents] if alone else [agents])]
    if any(part.empty for part in played):
        yield Text(f"{names[agents[0]]} and {names[agents[1]]} have no games to look at.")
        return
    order, title, said = _order(frame, agents, [part["match"] for part in played], names)
    yield Title(title)
    yield Text(said)
    costs = agent_costs(frame).set_index("agent")["per_move"].reindex(list(agents)).fillna(0.0) / 1e6
    each = float(costs.sum())
    most = MOST if not each else min(MOST, int(SECONDS / each) - 2 * TRIED * AGAIN)
    if most < FEWEST:
        taken = f"{names[order[0]]} and {names[order[1]]} take {duration(each)} for a position"
        yield Text(f"{taken}, too long for a page: ask them about one with `turnier analyse`.")
        return
    chosen = [number for part in played for number in _some(part, GAMES // len(played))]
    records = [one for one in store.records(full_ids(store, chosen).values()) if moves_kept(one.plies)]
    try:
        found = find_differences(records, order, most, SECONDS)
    except UserError as error:
        yield Text(str(error), warning=True)
        return
    yield from _shown(run, found, names, order)


def _order(
    frame: pd.DataFrame, agents: Sequence[str], played: Sequence[pd.Series], names: Mapping[str, str]
) -> tuple[tuple[str, str], str, str]:
    """Returns the agents, the one with more points (or the larger mean score) first; a title, and a sentence."""
    own = frame[frame["match"].isin(pd.concat(played)) & frame["agent"].isin(agents)]
    scores = own.groupby(["match", "agent"], observed=True)["score"].mean().unstack()
    one, other = (scores[agent].dropna() for agent in agents)
    games = f"{own['match'].nunique():,} games"
    if len(played) > 1:
        lead, error = one.mean() - other.mean(), math.hypot(one.sem(), other.sem())
        said = f"{number(abs(lead))} points per game more than {{}} ({games})"
    else:
        points = np.sign(one - other)
        lead, error = points.mean(), points.sem()
        said = f"{number(50 + 50 * abs(lead))} % of the points in {games} with {{}}"
    first, second = agents if lead >= 0 else reversed(agents)
    sure = abs(lead) > SURE * error
    title = f"Why is {names[first]} stronger than {names[second]}?" if sure else "Where they differ"
    unsure = "" if sure else ": these games do not tell them apart"
    return (first, second), title, f"{names[first]} has {said.format(names[second])}{unsure}."


def _some(rows: pd.DataFrame, most: int) -> list[int]:
    """Returns the numbers of some matches, always the same ones."""
    whole = rows.loc[~rows["void"], "match"].sort_values().to_numpy()
    return [int(one) for one in np.random.default_rng(1).permutation(whole)[:most]]


def _shown(run: str, found: Found, known: Mapping[str, str], order: Sequence[str]) -> Iterator[Section]:
    """Yields what was found; `known` are the names of all agents of the run."""
    names = [known[agent] for agent in order]
    yield Text(
        f"Looked at {found.looked:,} positions of {found.games:,} of their games: they choose differently in"
        f" {found.differing:,}. One search of each agent chose these; their values come from {AGAIN} more searches."
    )
    either = found.costly + found.different
    judge = names[found.judge] if found.judge is not None else ""
    by = f"By the values of {judge}; what its search looked at more often counts more."
    draw = partial(_diagram, run, known, names)
    if found.costly:
        costly = found.costly
        yield Diagrams(f"Where it cost {names[WEAKER]} most", lambda: [draw(one) for one in costly], by)
    if found.different:
        note = "Where both prefer their own choice most." if judge else "Neither tells the value of both choices."
        yield Diagrams("Where they differ most", lambda: [draw(one) for one in found.different], note)
    if either:
        pairs = zip(names, either[0].views, strict=True)
        units: dict[str, list[str]] = {}
        for name, view in pairs:
            if any(view.visits):
                units.setdefault(view.unit.text, []).append(name)
        told = [f"; those of {' and '.join(those)}: {unit}" for unit, those in units.items()]
        bracketed = "In brackets: their values of the other's choice."
        yield Text(f"Values are the agents' own, for the seat to move{''.join(told)}. {bracketed}")
    elif found.differing:
        yield Text("In further searches of the positions in which they seemed to differ most, they agree.")


def _result(record: MatchRecord, names: Mapping[str, str]) -> str:
    """Returns the result of a match in a few words."""
    seats = [names.get(agent, agent) for agent in record.spec.agents]
    if len(seats) == 1:
        return f"{number(record.scores[0])} points for {seats[0]}"
    points = max(record.points)
    return f"won by {seats[record.points.index(points)]}" if points == 1 else "drawn"


def _diagram(run: str, known: Mapping[str, str], names: Sequence[str], one: Difference) -> Diagram:
    place, game = one.place, one.place.position.game
    state, choices = place.position.state, one.choices
    moves = [game.move_text(state, action) for action in choices]
    lines = []
    colours: dict[int, str] = {}
    for agent in (WEAKER, STRONGER):
        own, other = (one.value(agent, choices[who]) for who in (agent, 1 - agent))
        told = f": {number(own, digits=2)}" if own is not None else ""
        told += f" ({moves[1 - agent]}: {number(other, digits=2)})" if other is not None else ""
        did = "played" if agent == place.mover else "would play"
        clicks = game.clicks(state, choices[agent])
        colours |= dict.fromkeys(clicks[-1] if clicks else (), COLOURS[agent])
        lines.append((f"{names[agent]} {did} {moves[agent]}{told}", COLOURS[agent] * bool(clicks)))
    mover = f" of seat {place.position.to_move}" if game.num_seats > 1 else ""
    lines = [*reversed(lines), (f"Move {place.number + 1}{mover}, {_result(place.record, known)}", "")]
    to = match_address(run, place.record.spec.id, place.number)
    return Diagram(coloured(game.svg(state), colours), lines, to, game.draw(state))
