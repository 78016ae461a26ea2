"""Where two agents differ most in their own games, and where that cost the weaker one most.

A match stores only moves, so both agents search again, in positions of their games in which one of them chose: what it
played is its choice, what the other one would play comes from a search. Positions are chosen by one search of each
agent, and described by further ones with other seeds, since the largest of many estimates is partly luck.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...agents.registry import agent_of
from ...games.game import Position
from ..match import MatchRecord, derive_seed
from ..repeated_search import SearchSpec, SeenPosition, prepare_searches, searched_position
from .analysis import AgentAnalysis, summed_up
from .reanalysis import Reanalysis

STRONGER, WEAKER = 0, 1
SHOWN = 3  # positions of each sort
AGAIN = 3  # further searches of a position by each agent
TURN = 4  # positions of a game, until those of the others have been looked at: to replay a game takes time
# Positions searched again at most, in place of one another: those in which the agents now agree are left out.
TRIED = 2 * SHOWN


class Place(NamedTuple):
    """A decision of one of two agents in one of their games."""

    record: MatchRecord
    number: int  # of the moment, see `Reanalysis`
    position: Position
    mover: int  # STRONGER or WEAKER
    played: int  # action

    @property
    def seen(self) -> SeenPosition:
        return SeenPosition.of(self.position, self.record.spec.id)


class Difference(NamedTuple):
    """A position in which two agents choose differently, with what both think of it: the stronger one first."""

    place: Place
    views: tuple[AgentAnalysis, AgentAnalysis]

    @property
    def choices(self) -> tuple[int, int]:
        """The action of each agent: what the mover played, and what the other one would play."""
        found = [view.best for view in self.views]
        found[self.place.mover] = self.place.played
        return found[0], found[1]

    def value(self, agent: int, action: int) -> float | None:
        """Returns an agent's value of an action for the mover, in its unit; None if it did not look at it."""
        view = self.views[agent]
        place = view.legal.index(action)
        return view.values[place] * view.unit.scale if view.visits[place] > 0 else None

    def gap(self, agent: int) -> float | None:
        """Returns by how much an agent values its own choice above that of the other; None if it does not tell."""
        own, other = (self.value(agent, self.choices[one]) for one in (agent, 1 - agent))
        return None if own is None or other is None else own - other

    def clear_gap(self, agent: int) -> float | None:
        """Returns the gap in proportion to how sure it is: values of rarely visited actions are mostly chance."""
        if (gap := self.gap(agent)) is None:
            return None
        view = self.views[agent]
        return gap / math.sqrt(sum(1 / view.visits[view.legal.index(action)] for action in self.choices))


class Found(NamedTuple):
    """What was found in the games of two agents."""

    looked: int  # positions searched
    games: int  # that they come from
    differing: int  # of them, those in which the agents choose differently
    judge: int | None  # the agent whose values rank the weaker one's moves; None if neither values them
    costly: list[Difference]  # moves of the weaker agent, the worst first
    different: list[Difference]  # those that both prefer to the other's most


def find_differences(
    records: Iterable[MatchRecord], agents: tuple[str, str], most: int, seconds: float, seed: int = 1
) -> Found:
    """Searches positions of the games of two agents.

    Args:
        records: matches with their moves, in which at least one of the agents plays.
        agents: full text forms, the stronger one first.
        most: positions to look at.
        seconds: after this time no further position is looked at. Below it, the same games give the same result.
        seed: of the choice of positions and of all searches.

    Raises:
        UserError: if an agent cannot search a single position, or fails.
    """
    places = _different(_places(records, agents, seed))
    looked, games, found = 0, set[str](), list[Difference]()
    began: float | None = None
    for place in itertools.islice(places, most):
        if began is None:
            prepare_searches([SearchSpec(place.seen, agent, seed) for agent in agents])
            began = time.perf_counter()
        elif time.perf_counter() - began > seconds:
            break
        looked += 1
        games.add(place.record.spec.id)
        seen = _searched(place, agents, (0,), seed)
        if seen.choices[0] != seen.choices[1]:
            found.append(seen)
    judge = next((one for one in (STRONGER, WEAKER) if any(each.gap(one) for each in found)), None)
    costly = [] if judge is None else _again(_costliest(found, judge), agents, seed, judge)
    kept = {each.place.seen.id for each in costly}
    rest = [each for each in _by_preference(found) if each.place.seen.id not in kept]
    return Found(looked, len(games), len(found), judge, costly, _again(rest, agents, seed))


def _places(records: Iterable[MatchRecord], agents: Sequence[str], seed: int) -> Iterator[Place]:
    """Yields the agents' decisions among several actions, a few of each game in turn, in random order."""
    games = [_of_game(record, agents, seed) for record in records]
    while games:
        for game in list(games):  # one is replayed only when it is its turn
            some = list(itertools.islice(game, TURN))
            yield from some
            if len(some) < TURN:
                games.remove(game)


def _of_game(record: MatchRecord, agents: Sequence[str], seed: int) -> Iterator[Place]:
    moments = Reanalysis(record).moments[:-1]
    for number in np.random.default_rng(derive_seed(seed, record.spec.id)).permutation(len(moments)).tolist():
        moment = moments[number]
        agent = record.spec.agents[moment.seat]
        if agent in agents and not moment.opening and len(moment.position.legal_actions()) > 1:
            yield Place(record, number, moment.position, agents.index(agent), moment.action)


def _different(places: Iterable[Place]) -> Iterator[Place]:
    """Yields the first place of each position and mover."""
    known = set[tuple[str, int]]()
    for place in places:
        if (key := (place.seen.id, place.mover)) not in known:
            known.add(key)
            yield place


def _searched(place: Place, agents: tuple[str, str], repeats: Sequence[int], seed: int) -> Difference:
    seen = place.seen
    views = [
        summed_up(
            str(agent_of(agent)),
            agent,
            0,
            tuple(searched_position(SearchSpec(seen, agent, derive_seed(seed, seen.id, one))) for one in repeats),
        )
        for agent in agents
    ]
    return Difference(place, (views[0], views[1]))


def _again(
    ordered: Sequence[Difference], agents: tuple[str, str], seed: int, judge: int | None = None
) -> list[Difference]:
    """Returns the first SHOWN that differ in further searches, too, to a judge's mind at a cost; one of a game."""
    of_games: dict[str, Difference] = {}
    for each in ordered:
        of_games.setdefault(each.place.record.spec.id, each)
    tried = list(of_games.values())[:TRIED]
    found = (_searched(each.place, agents, range(1, 1 + AGAIN), seed) for each in tried)
    real = (each for each in found if each.choices[0] != each.choices[1] and (judge is None or _cost(each, judge) > 0))
    return list(itertools.islice(real, SHOWN))


def _cost(move: Difference, judge: int) -> float:
    """Returns what a move of the weaker agent cost by a judge's values, in proportion to how sure that is."""
    gap = move.clear_gap(judge)
    return 0.0 if gap is None else gap if judge == STRONGER else -gap


def _costliest(found: Sequence[Difference], judge: int) -> list[Difference]:
    """Returns the weaker agent's moves that the judge values less than the stronger one's choices, the worst first."""
    weak = (each for each in found if each.place.mover == WEAKER and _cost(each, judge) > 0)
    return sorted(weak, key=lambda each: -_cost(each, judge))


def _by_preference(found: Sequence[Difference]) -> list[Difference]:
    """Returns positions by how strongly both agents prefer their own choices.

    Their values may have different units, so an agent's preferences count by their ranks; unknown ones come last.
    """
    ranks = np.zeros(len(found))
    for agent in (STRONGER, WEAKER):
        gaps = [gap if (gap := each.clear_gap(agent)) is not None else -np.inf for each in found]
        ranks += np.argsort(np.argsort(-np.array(gaps), kind="stable"), kind="stable")
    return [found[i] for i in np.argsort(ranks, kind="stable")]
