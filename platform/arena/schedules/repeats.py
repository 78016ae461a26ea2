"""Finds games that repeat earlier ones by construction, and so say nothing new.

If no seat draws random numbers, every seed gives the same game: the same agents in the same seats always play the same
game from an opening, and it counts once. If a seat draws, equal games are equal by chance, and each counts. Our agents
declare whether they draw (`Agent.draws_numbers`); other agents draw if they have answered a position in two ways.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...agents.registry import agent_of
from ...core.errors import UserError
from ...core.outside.classes import is_outside
from ...games.registry import game_of
from ..match import MatchRecord, moves_kept, unpack_plies

STARTS = 4  # starts to compare: some games draw theirs
ENOUGH = 16  # see `enough_repeats`
NO_PLY = -1  # behind the last ply of a game
Ints = npt.NDArray[np.int64]


class Played(NamedTuple):
    """A game with a result. If nobody draws, equal games are one game."""

    agents: tuple[str, ...]  # full texts by seat
    opening: int  # number of plies that nobody decided
    plies: bytes  # MatchRecord.plies
    ending: tuple[Any, ...]  # termination and scores

    @classmethod
    def of(cls, record: MatchRecord) -> Played:
        spec = record.spec
        return cls(spec.agents, len(spec.opening), record.plies, (record.termination, *record.scores))


@functools.lru_cache(maxsize=1024)
def only_moves_differ(game: str) -> bool:
    """Whether games differ only by moves: no chance, one start, and seats that move one after another.

    If seats move at the same time, good agents mix their moves.
    """
    with contextlib.suppress(UserError):
        made = game_of(game)
        if not made.has_chance and not made.kernels.has_observe:
            return len({made.start(seed).state.tobytes() for seed in range(STARTS)}) == 1
    return False


@functools.lru_cache(maxsize=4096)
def declared_draws(game: str, agent: str) -> bool | None:
    """Returns `draws_numbers` of an agent of ours; None for other agents, and for agents unknown here."""
    with contextlib.suppress(UserError):
        return None if is_outside(agent) else agent_of(agent).draws_numbers(game_of(game))
    return None


def enough_repeats(game: str, agents: Iterable[str]) -> int:
    """Returns the number of pairs of games that must repeat earlier ones before no agent is believed to draw."""
    return 1 if all(declared_draws(game, agent) is False for agent in agents) else ENOUGH


class Repeats:
    """Finds repeats among games of one game, in the order of adding.

    An agent may be seen to draw later; its games then are no longer repeats.
    """

    def __init__(self, game: str) -> None:
        self.game = game
        self._played: list[Played | None] = []
        self._drawing: set[str] = set()  # among agents whose games must show it
        self._known: dict[tuple[str, ...], bool] = {}  # `_matters`

    def add(self, games: Iterable[Played | None]) -> None:
        """Adds games; None stands for a game without a result, which repeats nothing and shows nothing."""
        self._played += [one if one is not None and self._matters(one.agents) else None for one in games]

    def add_records(self, records: Iterable[MatchRecord]) -> None:
        self.add(Played.of(record) if record.termination.has_result else None for record in records)

    def found(self) -> list[bool]:
        """Returns for each game whether it repeats an earlier one by construction."""
        equal = self._equal()
        return self._equal() if self._look_for(self._suspects(equal)) else equal

    def suspects(self) -> set[str]:
        """Returns the agents that only seem not to draw, and on which repeats depend."""
        return self._suspects(self._equal())

    def look(self) -> set[str]:
        """Returns the agents seen to draw, among those that declare nothing."""
        self._look_for(self._undeclared({one.agents for one in self._played if one}))
        return self._drawing

    def _look_for(self, agents: set[str]) -> set[str]:
        """Returns those of the agents that are newly seen to draw."""
        seen = drawing(self.game, filter(None, self._played), agents - self._drawing)
        self._drawing |= seen
        return seen

    def _suspects(self, equal: Iterable[bool]) -> set[str]:
        games = zip(self._played, equal, strict=True)
        return self._undeclared({one.agents for one, again in games if one and again})

    def _undeclared(self, seatings: Iterable[tuple[str, ...]]) -> set[str]:
        agents = {agent for seating in seatings for agent in seating}
        return {agent for agent in agents if declared_draws(self.game, agent) is None}

    def _matters(self, agents: tuple[str, ...]) -> bool:
        """Whether games of these agents may be repeats, or show that an agent draws."""
        if agents not in self._known:
            declared = {declared_draws(self.game, agent) for agent in agents}
            may = True not in declared or None in declared
            self._known[agents] = may and only_moves_differ(self.game)  # which loads the game's kernels
        return self._known[agents]

    def _equal(self) -> list[bool]:
        """Returns for each game whether it equals an earlier one without agents known to draw."""
        draws: dict[tuple[str, ...], set[bool | None]] = {}
        known: set[Played] = set()
        equal = []
        for one in self._played:
            again = False
            if one is not None:
                if one.agents not in draws:
                    draws[one.agents] = {a in self._drawing or declared_draws(self.game, a) for a in one.agents}
                said = draws[one.agents]
                if True not in said and (None not in said or moves_kept(one.plies)):
                    again = one in known
                    known.add(one)
            equal.append(again)
        return equal


def without_repeats(records: Sequence[MatchRecord]) -> list[MatchRecord]:
    """Returns the matches, possibly of several games, without repeats by construction."""
    by_game: defaultdict[str, list[MatchRecord]] = defaultdict(list)
    for record in records:
        by_game[record.spec.game].append(record)
    repeated: set[str] = set()
    for game, some in by_game.items():
        repeats = Repeats(game)
        repeats.add_records(some)
        repeated |= {record.spec.id for record, again in zip(some, repeats.found(), strict=True) if again}
    return [record for record in records if record.spec.id not in repeated] if repeated else list(records)


def drawing(game: str, played: Iterable[Played], agents: set[str]) -> set[str]:
    """Returns those of the agents that answered a position in two ways, after the same opening and moves."""
    by_opening: defaultdict[tuple[int, ...], list[_Moves]] = defaultdict(list)
    shown = (
        {(one.agents, one.opening, one.plies) for one in played if not agents.isdisjoint(one.agents)} if agents else ()
    )
    for seated, opening, encoded in shown:
        if moves_kept(encoded):
            plies = unpack_plies(encoded)
            by_opening[tuple(plies[:opening].tolist())].append(_Moves(seated, plies))
    found: set[str] = set()
    for some in by_opening.values():
        found |= _answered_twice(game, some, agents - found)
    return found


class _Moves(NamedTuple):
    agents: tuple[str, ...]
    plies: Ints


def _answered_twice(game: str, games: list[_Moves], agents: set[str]) -> set[str]:
    """Returns those of the agents that answered a position in two ways, in games with one opening."""
    games = sorted(games, key=lambda one: one.plies.astype(">u4").tobytes())
    longest = max(len(one.plies) for one in games)
    plies = np.full((len(games), longest), NO_PLY)
    for row, one in enumerate(games):
        plies[row, : len(one.plies)] = one.plies
    common = np.cumprod(plies[1:] == plies[:-1], axis=1).sum(axis=1)  # plies that each game shares with the next
    found: set[str] = set()
    blocks = [(0, len(games))]  # games with a common beginning
    while blocks and found < agents:
        first, end = blocks.pop()
        depth = int(common[first : end - 1].min(initial=longest))
        if depth < longest:
            answers = plies[first:end, depth]
            by_seat = [
                _with_two([one.agents[seat] for one in games[first:end]], answers) & (agents - found)
                for seat in range(len(games[first].agents))
            ]
            if any(by_seat) and (mover := _to_move(game, plies[first, :depth])) >= 0:
                found |= by_seat[mover]
            cuts = first + 1 + np.flatnonzero(common[first : end - 1] == depth)
            blocks += itertools.pairwise([first, *cuts.tolist(), end])
    return found


def _with_two(agents: Sequence[str], answers: Ints) -> set[str]:
    """Returns the agents with two different answers."""
    known: dict[str, int] = {}
    return {
        agent
        for agent, answer in zip(agents, answers.tolist(), strict=True)
        if answer != NO_PLY and known.setdefault(agent, answer) != answer
    }


def _to_move(game: str, plies: Ints) -> int:
    """Returns the seat to move after these plies; below 0 if the game's present rules do not allow them."""
    position = game_of(game).start()
    with contextlib.suppress(UserError):
        for ply in plies.tolist():
            position = position.play(ply)
        return position.to_move
    return NO_PLY
