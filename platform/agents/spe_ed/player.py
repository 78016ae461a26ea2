"""Base of the agents of spe_ed: the position as a field, and the time to answer."""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from ...core.parameters import parameter
from ...games.drawing import Overlay
from ...games.game import Game, Position
from ...games.spe_ed.board import CHANGE_NOTHING, SLOW_DOWN, SPEED_UP, TURN_LEFT, TURN_RIGHT, jumps
from ..agent import Agent, Decision, Floats, milliseconds_parameter, seat_rng
from ..evaluator import ONLY_RANKS, ValueUnit
from .search.field import (
    CELL,
    FASTER,
    HEADING,
    MOVES,
    PACE,
    TURN,
    Ints,
    fill_field,
    is_free,
    new_field,
    next_round,
    offset_of,
    stride_of,
    walkers_of,
)

# Order of preference among equal moves; `basic` also plays by it, up to the third.
PREFERENCE = (CHANGE_NOTHING, TURN_LEFT, TURN_RIGHT, SLOW_DOWN, SPEED_UP)
LARGEST_MARGIN = 5  # the safety margin is at most this fraction of the time


class Choice(NamedTuple):
    """A player's findings about its actions, [MOVES] each; visits and nodes as in Decision."""

    action: int
    visits: npt.NDArray[np.int64]
    values: Floats
    nodes: int


def only(action: int) -> Choice:
    """Returns the choice of an action without findings."""
    return Choice(action, np.zeros(MOVES, np.int64), np.zeros(MOVES), 0)


def best_of(values: Floats, allowed: npt.NDArray[np.bool_]) -> int:
    """Returns the allowed action with the largest value, of equals the preferred one; straight on without any."""
    best = max((float(values[action]) for action in PREFERENCE if allowed[action]), default=None)
    return next((action for action in PREFERENCE if allowed[action] and values[action] == best), CHANGE_NOTHING)


class SpeEdPlayer:
    """An agent in one seat of one match of spe_ed: its view; subclasses decide."""

    def __init__(self, agent: SpeEdAgent, game: Game, rng: npt.NDArray[np.uint64]) -> None:
        self.agent, self.game, self.rng = agent, game, rng
        self.field = new_field(game)
        self.state = game.new_state()
        self.seat = self.stride = self.round = 0
        self.walker = np.zeros(0, np.int64)

    def act(self, position: Position) -> Decision:
        """Decides in the agent's milliseconds, less the margin, or by its counts if it has none."""
        allowed = self.agent.nanoseconds()
        return self.act_before(position, time.monotonic_ns() + allowed if allowed else 0)

    def act_before(self, position: Position, ends: int) -> Decision:
        """Decides before a time of `time.monotonic_ns`; 0 = no limit but the agent's counts."""
        began = time.perf_counter()
        self.seat = position.to_move
        self.state = position.view(self.seat)
        self.stride, self.round = int(stride_of(self.state)), next_round(self.state)
        fill_field(self.state, self.field)
        self.walker = walkers_of(self.state, [self.seat])[0]
        choice = self.choose(ends)
        visits, values = np.zeros((2, self.game.num_actions))
        visits[:MOVES], values[:MOVES] = choice.visits, np.where(choice.visits > 0, choice.values, 0.0)
        nodes = max(choice.nodes, int(visits.sum()))
        return Decision(choice.action, visits, values, nodes, time.perf_counter() - began)

    def overlay(self) -> Overlay:
        """Returns a picture of the latest decision, for people; costs nothing unless asked for.

        Subclasses add their findings.
        """
        return Overlay()

    @abstractmethod
    def choose(self, ends: int) -> Choice:
        """Returns the choice for the current position, found before `ends`."""

    def possible(self) -> npt.NDArray[np.bool_]:
        """Returns whether each action enters only cells that are free now, [MOVES]."""
        return np.array([self.lands(action)[1] for action in range(MOVES)])

    def lands(self, action: int) -> tuple[Ints, bool]:
        """Returns the walker after an action, and whether the way is free now."""
        after = self.walker.copy()
        after[HEADING] = (self.walker[HEADING] + TURN[action]) & 3
        after[PACE] = self.walker[PACE] + FASTER[action]
        offset, pace = int(offset_of(after[HEADING], self.stride)), int(after[PACE])
        after[CELL] += pace * offset
        jump = bool(jumps(self.round, pace))
        return after, bool(is_free(self.field, int(self.walker[CELL]), offset, pace, jump))


@dataclass(frozen=True)
class SpeEdAgent(Agent):
    """Base of the agents of spe_ed."""

    player: ClassVar[Any]  # (agent, game, rng) -> SpeEdPlayer

    @property
    def in_python(self) -> bool:
        return False  # kernels search

    def nanoseconds(self) -> int:
        """Returns the time for a decision, 0 = by counts."""
        return 0

    def value_unit(self, game: Game) -> ValueUnit:
        return ValueUnit(1.0, ONLY_RANKS)  # scores, free moves, shares of paths

    def cannot_play(self, game: Game) -> str | None:
        return None if game.name == "spe_ed" else f"{self.name} plays spe_ed only, got {game}; use mc or mcts."

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> SpeEdPlayer:
        self.require(game)
        player: SpeEdPlayer = self.player(self, game, seat_rng(seed, seat, game.num_seats))
        return player


@dataclass(frozen=True)
class TimedAgent(SpeEdAgent):
    """Base of agents that search, by the clock or by counts; by counts, the same seed gives the same decisions."""

    milliseconds: int = milliseconds_parameter("counts")
    margin: int = parameter(
        10,
        "milliseconds of that time left unused for safety, at most a fifth of it",
        low=0,
        high=60_000,
        search=(0, 50),
    )

    def nanoseconds(self) -> int:
        return int(1e6 * (self.milliseconds - min(self.margin, self.milliseconds / LARGEST_MARGIN)))
