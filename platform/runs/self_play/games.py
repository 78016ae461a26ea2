"""Games of self-play as work for executors: whole games in compiled code, with the networks of their generation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...agents.abi import SeatKernels
from ...agents.puct.agent import Puct, with_policy
from ...agents.puct.search import BY_HEADS, BY_NETWORK
from ...agents.puct.self_play_kernels import NO_ROOM, play_by_search
from ...agents.registry import make_agent
from ...arena.workers.executor import Work
from ...core.kernel import compile_kernel
from ...core.rng import stream
from ...games.game import Game
from ...games.registry import game_of

ROOM = 128  # moves of a game at first


class Networks(NamedTuple):
    """Headers and weights of the current networks, as kernels take them.

    An empty policy means none, or one that comes with the values.
    """

    values: npt.NDArray[np.float64]
    policy: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class GameSpec:
    """Everything that decides a game; games of a generation share their networks, sent to a worker once a batch."""

    game: str  # full text form
    agent: str  # full text form
    choices: npt.NDArray[np.float64]  # see play_by_search
    networks: Networks
    number: int
    seed: int

    @property
    def names(self) -> tuple[str, ...]:
        """The text forms of the game and its agent."""
        return (self.game, self.agent)


@dataclass(frozen=True, slots=True)
class Played:
    """The lessons of a game, a row for each move."""

    spec: GameSpec
    states: npt.NDArray[np.int64]  # [moves, words] before each move
    values: npt.NDArray[np.float64]  # [moves] points that the search found for the mover, NaN without a search
    lengths: npt.NDArray[np.int64]  # [moves] of its share of `policies`
    policies: npt.NDArray[np.float32]
    returns: npt.NDArray[np.float64]  # [seats]


def kind_of(spec: GameSpec) -> tuple[str, ...]:
    return spec.names


def prepare_games(specs: Sequence[GameSpec]) -> None:
    """Compiles the kernels of the games."""
    for game, agent in {spec.names for spec in specs}:
        make_agent(agent).require(game_of(game))
    compile_kernel(play_by_search)


def play_games(specs: Sequence[GameSpec], stop: npt.NDArray[np.int64] | None = None) -> list[Played]:
    """Plays games; a stop leaves out some."""
    played: list[Played] = []
    seats: dict[int, SeatKernels] = {}  # by the identity of their networks
    for spec in specs:
        if stop is not None and stop[0]:
            break
        game = game_of(spec.game)
        if id(spec.networks) not in seats:
            seats[id(spec.networks)] = seat_with(spec.agent, game, spec.networks)
        played.append(_play(spec, game, seats[id(spec.networks)]))
    return played


def seat_with(agent: str, game: Game, networks: Networks) -> SeatKernels:
    """Returns an agent's kernels with those networks."""
    made = make_agent(agent)
    assert isinstance(made, Puct)
    seat = made.kernels(game)
    seat = replace(seat, evaluator=replace(seat.evaluator, weights=networks.values))
    if seat.settings[BY_HEADS] == 0.0:
        seat.settings[BY_NETWORK] = True
    return with_policy(seat, networks.policy) if networks.policy.size else seat


def _play(spec: GameSpec, game: Game, seat: SeatKernels) -> Played:
    room = ROOM
    while True:
        states, values = np.empty((room, game.state_words), np.int64), np.empty(room)
        ends, policies = np.empty(room, np.int64), np.empty(room * game.kernels.max_choices, np.float32)
        returns = np.zeros(game.num_seats)
        moves = play_by_search(
            game.kernels, seat.evaluator, seat.settings, spec.choices, game.new_state(), stream(spec.seed),
            states, values, ends, policies, returns,
        )  # fmt: skip
        if moves != NO_ROOM:
            break
        room *= 2  # the same game again
    ends, points = ends[:moves], values[:moves] * game.kernels.max_return
    shares = policies[: ends[-1]].copy()
    return Played(spec, states[:moves].copy(), points, np.diff(ends, prepend=0), shares, returns)


GAMES_OF_SELF_PLAY: Work[GameSpec, Played] = Work(play_games, prepare_games, kind=kind_of)
