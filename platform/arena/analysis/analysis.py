"""Repeated and ever deeper searches of one position by several agents, for terminal and browser.

Every search has its own seed, derived from the seed of the analysis: the same number of searches always gives the same
result, unless agents search by the clock.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...agents.agent import Agent
from ...agents.budget import AMOUNT
from ...agents.ensembles.ensemble import Ensemble
from ...agents.evaluator import ValueUnit
from ...agents.registry import AnyAgent, agent_of, make_agent
from ...agents.timed import interrupted_by
from ...core.errors import MAX_IN_MEMORY, UserError, require_at_most
from ...core.parameters import parameters_of
from ...games.abi import CHANCE
from ...games.game import Position
from ...games.registry import game_of
from ...statistics.intervals import Interval, share_interval
from ..match import derive_seed
from ..repeated_search import SearchRecord, SearchSpec, SeenPosition, prepare_searches, searched_position
from .outlook import Outlook, PlayingOn

REPEATS = 10
LINE_PLIES = 5  # decisions of a principal variation


@dataclass(frozen=True)
class AgentAnalysis:
    """One agent's results so far: means over its searches of the deepest level; sequences are by legal action."""

    agent: str  # text form, as given
    searching: str  # text form of the agent with the budget of its level
    level: int  # number of doublings of its budget
    legal: tuple[int, ...]  # action ids
    visits: tuple[float, ...]  # mean per search; 0 for actions that no search tried
    values: tuple[float, ...]  # mean for the seat to move, weighted by visits; see `unit`
    votes: tuple[int, ...]  # searches that chose the action
    best: int  # the action with most votes, among equals with the largest value
    certainty: float  # share of the searches that chose `best`
    certainty_interval: Interval  # Wilson's, 95 % whichever action is the best
    nodes: int  # of all searches of the level
    seconds: float  # wall clock of all searches of the level
    line: tuple[LinePly, ...]  # principal variation, from `best` on; empty until it is known
    records: tuple[SearchRecord, ...] = field(repr=False)  # the searches, evaluated further by results.frames.certainty

    @property
    def searches(self) -> int:
        return len(self.records)

    @property
    def unit(self) -> ValueUnit:
        """The unit in which people read the values."""
        spec = self.records[0].spec
        return agent_of(spec.agent).value_unit(game_of(spec.position.game))


@dataclass(frozen=True)
class Analysis:
    """The results of all agents so far."""

    position: Position
    agents: tuple[AgentAnalysis, ...]  # those that have searched, in the given order
    seconds: float  # wall clock since the beginning
    outlook: Outlook | None = None  # games continued from every move, after the searches


def analyse(
    position: Position,
    agents: Sequence[AnyAgent],
    seconds: float | None = None,
    repeats: int = REPEATS,
    *,
    seed: int = 1,
    doublings: int = 0,
    line: int = LINE_PLIES,
    stop: threading.Event | None = None,
    playing_on: PlayingOn | None = None,
) -> Iterator[Analysis]:
    """Yields the analysis of a position after every search; the last one is complete.

    Every agent searches `repeats` times with its own budget, then as often with twice the budget, and so on. Then games
    may be continued from every move. To end the analysis early, stop iterating.

    Args:
        position: a seat must be to move.
        agents: text forms, or agents, their classes and functions.
        seconds: time for deepening. No level begins that would end later, judged by the level before, and none is left
            half done. Every agent makes its first search in any case, and repeats if there is time. None: deepen
            `doublings` times.
        repeats: searches per level, to measure certainty.
        seed: seed of all searches.
        doublings: levels after the first, without a limit of seconds.
        line: decisions of the principal variation, 0 = none.
        stop: once set, the analysis ends after the current search or report.
        playing_on: settings for continued games; None: no games.

    Raises:
        UserError: if the game is over, an agent cannot search it, or a number makes no sense.
    """
    made = [make_agent(agent) for agent in agents]
    _require(position, made, seconds, repeats, doublings)
    seen = SeenPosition.of(position)
    prepare_searches([SearchSpec(seen, agent.full_text(), seed) for agent in made])
    rounds = playing_on.rounds(position, made[0]) if playing_on else None
    found = _searches(position, seen, made, _Limits(seconds, repeats, doublings, line, stop), seed)
    return _continued(found, rounds.play(playing_on, seed), stop) if rounds and playing_on else found


def best_move(
    position: Position, agent: str | Agent = "", playing_on: PlayingOn | None = None, seed: int = 1
) -> Iterator[Analysis]:
    """Yields the best move by one search of an agent, by default the game's own, then with the outlook of all moves."""
    return analyse(position, [agent or position.game.default_agent], None, 1, seed=seed, line=0, playing_on=playing_on)


def _continued(
    found: Iterator[Analysis], outlooks: Iterator[Outlook], stop: threading.Event | None
) -> Iterator[Analysis]:
    began = time.perf_counter()
    for latest in found:
        yield latest
    for outlook in outlooks:
        if stop is not None and stop.is_set():
            return
        yield dataclasses.replace(latest, seconds=time.perf_counter() - began, outlook=outlook)


@dataclass(frozen=True)
class _Limits:
    seconds: float | None
    repeats: int
    doublings: int
    line: int
    stop: threading.Event | None
    began: float = field(default_factory=time.perf_counter)

    def allow(self, expected: float) -> bool:
        """Returns whether a search that takes this many seconds may begin."""
        if self.stop is not None and self.stop.is_set():
            return False
        return self.seconds is None or time.perf_counter() - self.began + expected <= self.seconds


def _require(position: Position, agents: Sequence[Agent], seconds: float | None, repeats: int, doublings: int) -> None:
    if position.over:
        raise UserError(f"an analysis needs a position before the end, got the end of a game of {position.game}.")
    if not agents:
        raise UserError("an analysis needs an agent; name one.")
    if seconds is not None and not 0 < seconds <= 86_400:
        raise UserError(f"the seconds of an analysis must be above 0 and at most 86400, got {seconds:g}.")
    if repeats < 1 or doublings < 0:
        raise UserError(f"an analysis needs at least 1 search and 0 doublings, got {repeats} and {doublings}.")
    require_at_most(MAX_IN_MEMORY, repeats, "searches of a position")


def _searches(
    position: Position, seen: SeenPosition, agents: Sequence[Agent], limits: _Limits, seed: int
) -> Iterator[Analysis]:
    found: dict[int, AgentAnalysis] = {}
    going, level = dict(enumerate(agents)), 0
    while going and (limits.seconds is not None or level <= limits.doublings):
        for repeat in range(limits.repeats):
            for place, agent in list(going.items()):
                before = found.get(place)
                if level == 0 and before is not None and not limits.allow(before.seconds / before.searches):
                    del going[place]
                    continue
                with interrupted_by(limits.stop):
                    record = searched_position(
                        SearchSpec(seen, agent.full_text(), derive_seed(seed, seen.id, level, repeat))
                    )
                earlier = before.records if before is not None and before.level == level else ()
                now = summed_up(str(agents[place]), str(agent), level, (*earlier, record))
                found[place] = _with_line(position, now, before, agents[place].full_text(), limits, seed)
                ordered = tuple(found[i] for i in sorted(found))
                yield Analysis(position, ordered, time.perf_counter() - limits.began)
                if limits.stop is not None and limits.stop.is_set():
                    return
        level += 1
        going = _deeper({place: agents[place] for place in going}, level, found, limits)


def _deeper(agents: dict[int, Agent], level: int, found: dict[int, AgentAnalysis], limits: _Limits) -> dict[int, Agent]:
    """Returns the agents that have time for a whole next level: certainty needs all of its searches."""
    begun: dict[int, Agent] = {}
    planned = 0.0
    for place, agent in agents.items():
        deeper, seconds = deepened(agent, level), 2 * found[place].seconds
        if deeper is not None and limits.allow(planned + seconds):
            begun[place] = deeper
            planned += seconds
    return begun


def summed_up(agent: str, searching: str, level: int, records: tuple[SearchRecord, ...]) -> AgentAnalysis:
    """Sums up the searches of one level, without a line."""
    legal = records[0].spec.position.legal
    columns = list(zip(*(r.visits for r in records), strict=True)), list(zip(*(r.values for r in records), strict=True))
    visits = tuple(sum(column) / len(records) for column in columns[0])
    values = tuple(
        sum(n * value for n, value in zip(counts, means, strict=True)) / sum(counts) if sum(counts) > 0 else 0.0
        for counts, means in zip(*columns, strict=True)
    )
    votes = tuple(sum(record.action == action for record in records) for action in legal)
    best = max(range(len(legal)), key=lambda i: (votes[i], values[i]))
    return AgentAnalysis(
        agent,
        searching,
        level,
        legal,
        visits,
        values,
        votes,
        legal[best],
        votes[best] / len(records),
        share_interval(votes[best], len(records), among=len(legal)),  # `best` was chosen by these searches
        sum(record.nodes for record in records),
        sum(record.seconds for record in records),
        (),
        records,
    )


def _with_line(
    position: Position, now: AgentAnalysis, before: AgentAnalysis | None, agent: str, limits: _Limits, seed: int
) -> AgentAnalysis:
    """Returns an analysis with its line, which is kept while the best action stays the same."""
    if before is not None and before.best == now.best and before.line:
        return dataclasses.replace(now, line=before.line)
    if limits.line < 1 or not limits.allow(limits.line * now.seconds / now.searches / 2**now.level):
        return now
    line = line_after(position, now.best, agent, limits.line, derive_seed(seed, "line"))
    return dataclasses.replace(now, line=line)


_STEPWISE = "plies"  # one ply more already multiplies the work
_UNITS = ("rollouts", "nodes", _STEPWISE, "ms")  # units independent of the clock come first


def deepened(agent: Agent, level: int) -> Agent | None:
    """Returns the agent with its budget doubled `level` times; None if no budget can grow so far.

    The budget is the first declared one that limits the agent as it is; a budget in plies grows by one per level. An
    ensemble deepens its members.
    """
    if level == 0:
        return agent
    if isinstance(agent, Ensemble):
        inner = deepened(agent.agent, level)
        return None if inner is None else agent.replace(agent=inner)
    for unit in _UNITS:
        for name, amount in agent.budgets.get(unit, {}).items():
            own = getattr(agent, name)
            if amount is AMOUNT and own > 0 and not _by_clock(agent, unit):
                return _within_range(agent, name, own + level if unit == _STEPWISE else own << level)
    return None


def _by_clock(agent: Agent, unit: str) -> bool:
    """Returns whether the clock limits the agent instead of this unit."""
    return unit != "ms" and getattr(agent, "milliseconds", 0) > 0


def _within_range(agent: Agent, name: str, value: int) -> Agent | None:
    declared = next(info for field, info in parameters_of(type(agent)) if field.name == name)
    if not declared.contains(value):
        return None
    try:
        return agent.replace(**{name: value})
    except UserError:  # parameters of this size do not fit each other
        return None


class LinePly(NamedTuple):
    """A ply of a line; for chance, the most likely outcome, among equals the first."""

    seat: int  # or CHANCE
    ply: int
    name: str


def line_after(position: Position, action: int, agent: str, plies: int, seed: int) -> tuple[LinePly, ...]:
    """Returns at most `plies` decisions, starting with an action, and the chance outcomes between them.

    This works for any agent, with or without a tree, and the same seeds give the same line.

    Args:
        position: before the action.
        action: a legal action.
        agent: full text of the agent that then decides for all seats.
        plies: maximum decisions, including that action.
        seed: seed of the agent.
    """
    line: list[LinePly] = []
    while plies > 0 and not position.over:
        mover = position.to_move
        if mover == CHANCE:
            ply = max(position.outcomes(), key=lambda outcome: outcome[1])[0]
            name = position.game.outcome_name(ply)
        else:
            ply = action if not line else _asked(position, agent, derive_seed(seed, len(line)))
            name, plies = position.game.action_name(ply), plies - 1
        line.append(LinePly(mover, ply, name))
        position = position.play(ply, draw_chance=False)
    return tuple(line)


def _asked(position: Position, agent: str, seed: int) -> int:
    legal = position.legal_actions()
    return legal[0] if len(legal) == 1 else searched_position(SearchSpec(SeenPosition.of(position), agent, seed)).action
