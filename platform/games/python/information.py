"""What a seat knows in a game in Python that hides something, and random histories that agree with it.

A game that declares `information` says in text what a seat knows. Everything here that answers for a seat follows from
those texts and the seat's own actions, `Known`, and never from the state that is really on the table.
"""

from __future__ import annotations

import bisect
import itertools
import random
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...core.errors import UserError
from ..abi import CHANCE, TERMINAL
from ..game import Position
from .live_states import LiveState
from .python_game import PythonGame

ENOUGH = 1000  # histories that agree, after which no more are looked for
MORE = 8  # times as many, if those kept led nowhere
MOST_STEPS = 500_000  # plies tried for one decision, about two seconds


class Known(NamedTuple):
    """All that a seat has learned in a match."""

    seat: int
    texts: tuple[str, ...]  # its information at each of its decisions; the last one is now
    actions: tuple[int, ...]  # of its earlier decisions, one fewer


def information(game: PythonGame, live: LiveState, seat: int) -> str:
    """Returns a seat's information; a game's exceptions become GameFailure."""
    return str(game.live_states.ask("information", game.information, live.state, seat))


def known_to(game: PythonGame, seat: int, plies: Sequence[int]) -> Known:
    """Returns what the seat to move knows after all plies of a match."""
    states = game.live_states
    live = beginning(game)
    texts, actions = list[str](), list[int]()
    for ply in plies:
        if states.mover(live) == seat:
            texts.append(information(game, live, seat))
            actions.append(ply)
        live = states.step(live, ply)
    return Known(seat, (*texts, information(game, live, seat)), tuple(actions))


def beginning(game: PythonGame) -> LiveState:
    states = game.live_states
    return LiveState(states.ask("begin", game.begin), states.no_rewards)


class History(NamedTuple):
    """A history that agrees with what a seat knows."""

    live: LiveState
    plies: tuple[int, ...]
    weight: float  # its probability if all other seats play at random


class Histories:
    """Histories that agree with what a seat knows, found by playing what it cannot see in every possible way.

    As soon as there are ENOUGH, the others are left out, and those kept were chosen at random.
    """

    def __init__(self, game: PythonGame, known: Known, seed: object) -> None:
        self._game, self._known, self._seed = game, known, seed
        self._steps = 0
        enough, found = ENOUGH, list[History]()
        while not found:  # the true history agrees: it is found once enough are kept
            found, enough = self._agreeing(enough), enough * MORE
        self.found = found
        self._bounds = list(itertools.accumulate(history.weight for history in found))

    def draw(self, rng: random.Random) -> History:
        """Returns a history drawn by weight."""
        place = bisect.bisect_right(self._bounds, rng.random() * self._bounds[-1])
        return self.found[min(place, len(self.found) - 1)]

    def _agreeing(self, enough: int) -> list[History]:
        kept = [History(beginning(self._game), (), 1.0)]
        for number, text in enumerate(self._known.texts):
            rng, found = random.Random(f"{self._seed} {number} {enough}"), list[History]()
            for history in rng.sample(kept, len(kept)):
                self._to_decision(history, text, found)
                if len(found) >= enough:
                    break
            if number < len(self._known.actions):
                found = [self._after(history, self._known.actions[number]) for history in found]
            kept = found
        return kept

    def _to_decision(self, start: History, text: str, found: list[History]) -> None:
        """Plays all plies of others up to the seat's next decision; adds the histories in which it knows the text."""
        states, waiting = self._game.live_states, [start]
        while waiting:
            history = waiting.pop()
            live, mover = history.live, states.mover(history.live)
            if mover == self._known.seat:
                if information(self._game, live, mover) == text:
                    found.append(history)
                continue
            if mover == TERMINAL:
                continue
            plies, chances = states.outcomes(live) if mover == CHANCE else _evenly(states.legal(live))
            self._steps += len(plies)
            if self._steps > MOST_STEPS:
                raise UserError(
                    f"{self._game} must let a seat's secrets be listed in {MOST_STEPS:,} plies, got more for one"
                    " decision; choose a smaller variant, or a game that draws them by itself (`resample`)."
                )
            waiting += [self._after(history, ply, chance) for ply, chance in zip(plies, chances, strict=True)]

    def _after(self, history: History, ply: int, chance: float = 1.0) -> History:
        live, plies, weight = history
        return History(self._game.live_states.step(live, ply), (*plies, ply), weight * chance)


def _evenly(actions: list[int]) -> tuple[list[int], list[float]]:
    return actions, [1 / len(actions)] * len(actions)


class Determinisations:
    """Random histories that agree with what the seat to move knows: by the game's `resample`, or else listed."""

    def __init__(self, game: PythonGame, seat: int, plies: Sequence[int], seed: object) -> None:
        """Looks at the plies of the match only as far as the seat has seen them.

        Args:
            game: declares `information`.
            seat: the seat to move.
            plies: all plies of the match.
            seed: with equal knowledge, the same seed gives the same histories.
        """
        self.known = known_to(game, seat, plies)
        self._game, self._rng = game, random.Random(f"{seed} {self.known!r}")
        self._table = beginning(game)
        for ply in plies:
            self._table = game.live_states.step(self._table, ply)
        self._histories = None if self._resampled() is not None else Histories(game, self.known, seed)

    def draw(self) -> History:
        """Returns the next one."""
        if self._histories is not None:
            return self._histories.draw(self._rng)
        found = self._resampled()
        assert found is not None  # a game resamples always or never
        return found

    def _resampled(self) -> History | None:
        states, seat = self._game.live_states, self.known.seat
        drawn = states.ask("resample", self._game.resample, self._table.state, seat, self._rng.random)
        return None if drawn is None else History(LiveState(drawn[0], states.no_rewards), tuple(drawn[1]), 1.0)


def imagined(position: Position, seed: object) -> Position:
    """Returns a random position that the seat to move cannot tell from this one, by the state alone.

    The game declares `information`; the position's chance goes on from the stream of the given one.
    """
    game = position.game
    assert isinstance(game, PythonGame)
    history = Determinisations(game, position.to_move, game.plies(position.state), seed).draw()
    found = Position(game, game.new_state(), np.zeros(game.num_seats), position.rng)
    for ply in history.plies:
        game.kernels.step(found.state, ply, found.returns)
    return found
