"""Repeated searches of a position by new players, from which certainty is computed."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..agents.registry import agent_of
from ..agents.seats.failure import SeatFailure
from ..agents.seats.seating import prepare_seat, seat_kernels
from ..core.errors import UserError
from ..games.game import Position
from ..games.registry import game_of
from .match import NO_ACTION, derive_seed
from .table import Table


@dataclass(frozen=True)
class SeenPosition:
    """A position as its seat to move may see it, with legal actions and phase of the game."""

    game: str  # full text form
    state: tuple[int, ...]  # words of the view
    returns: tuple[float, ...]
    legal: tuple[int, ...]  # action ids
    phase: int
    source: str = field(default="", compare=False)  # id of its match; not stored

    @classmethod
    def of(cls, position: Position, source: str = "") -> SeenPosition:
        """Returns a position of the match `source` as its seat to move sees it."""
        game, view = position.game, position.view(position.to_move)
        state, returns = tuple(view.tolist()), tuple(position.returns.tolist())
        return cls(game.full_text(), state, returns, tuple(position.legal_actions()), game.phase(view), source)

    @functools.cached_property
    def id(self) -> str:
        """The content hash of game, state and returns, 32 hexadecimal digits."""
        return _content_hash(self.game, self.state, self.returns)


@dataclass(frozen=True)
class SearchSpec:
    """Everything that decides one search of a position: the same spec always gives the same action."""

    position: SeenPosition
    agent: str  # full text form
    seed: int

    @property
    def names(self) -> tuple[str, ...]:
        """The text forms of the game and the agent."""
        return self.position.game, self.agent

    @functools.cached_property
    def id(self) -> str:
        """The content hash, 32 hexadecimal digits."""
        return _content_hash(self.position.id, self.agent, self.seed)

    def may_choose(self, action: int) -> bool:
        """Whether the agent may have chosen this: a legal action, or none if it failed."""
        return action in self.position.legal or action == NO_ACTION


@dataclass(frozen=True)
class SearchRecord:
    """The result of a search; visits and values (for the seat to move) are those of the legal actions, in order."""

    spec: SearchSpec
    action: int  # NO_ACTION if the agent failed
    visits: tuple[float, ...]
    values: tuple[float, ...]
    nodes: int
    seconds: float
    error: str = field(default="", compare=False)  # why it failed; not stored

    @property
    def moved_before_failing(self) -> bool:
        return False

    @property
    def played(self) -> list[tuple[str, bool]]:
        """The agent, and whether it failed."""
        return [(self.spec.agent, self.action == NO_ACTION)]

    @property
    def has_visits(self) -> bool:
        """Whether visits and values are known; an imported search may lack them: then they are NaN."""
        return not any(map(math.isnan, self.visits))


def _content_hash(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()[:32]


def prepare_searches(specs: Sequence[SearchSpec]) -> None:
    """Checks searches and compiles their kernels, which workers then load from the cache."""
    for game_text, agent_text in dict.fromkeys((spec.position.game, spec.agent) for spec in specs):
        game, agent = game_of(game_text), agent_of(agent_text)
        agent.require(game)
        if agent.runs_program:
            raise UserError(f"programs and people cannot search a single position, got {agent.name}; choose another.")
        prepare_seat(agent, game)
        seat_kernels(agent, game)


def search_positions(specs: Sequence[SearchSpec], stop: npt.NDArray[np.int64] | None = None) -> list[SearchRecord]:
    """Searches positions in order and returns the records; once stop[0] is not 0, the rest is left out."""
    records: list[SearchRecord] = []
    for spec in specs:
        if stop is not None and stop[0]:
            break
        records.append(search_position(spec))
    return records


def searched_position(spec: SearchSpec) -> SearchRecord:
    """Searches a position once for an interactive user; raises UserError if the agent fails."""
    record = search_position(spec)
    if record.action == NO_ACTION:
        raise UserError(f"an agent must be able to search a position, but {record.error}; fix it, or choose another.")
    return record


def search_position(spec: SearchSpec) -> SearchRecord:
    """Searches a position once with a new player; if the agent fails, the record says so."""
    seen, game = spec.position, game_of(spec.position.game)
    # Its own random numbers, as in a match.
    position = game.position(np.array(seen.state, np.int64), np.array(seen.returns), derive_seed(spec.seed, "view"))
    began, legal = time.perf_counter(), list(seen.legal)
    table = Table(game, (agent_of(spec.agent),) * game.num_seats, spec.seed, position=position)
    try:
        decision = table.decide(position)
    except SeatFailure as failure:
        nothing = (0.0,) * len(legal)
        return SearchRecord(spec, NO_ACTION, nothing, nothing, 0, time.perf_counter() - began, str(failure))
    finally:
        table.close()
    seconds = time.perf_counter() - began
    visits, values = (tuple(of_actions[legal].tolist()) for of_actions in (decision.visits, decision.values))
    return SearchRecord(spec, int(decision.action), visits, values, int(decision.nodes), seconds)
