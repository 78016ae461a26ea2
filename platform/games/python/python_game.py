"""Games written in plain Python: every agent plays them, compiled searches through callbacks."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.kernel import kernel
from ...core.rng import below, uniform
from .. import abi
from ..abi import CHANCE, TERMINAL
from ..game import Ints
from .callback import Callback, PendingFailures
from .live_states import PLIES, VIEW, VIEW_BYTES, LiveState, LiveStates
from .rules import WORD, PythonRules


@kernel(abi.INIT)
def begin_history(state, rng):
    state[:] = 0


class HistoryKernels:
    """Kernels of one game; their arrays are numpy's or, if compiled code calls, ctypes'."""

    def __init__(self, game: PythonRules, states: LiveStates, failures: PendingFailures) -> None:
        self.game, self.states, self.failures = game, states, failures

    def build(self) -> abi.GameKernels:
        """Returns the kernels; stand-ins replace those that the game does not need."""
        optional = {"playout": self._callback(self.playout, abi.PLAYOUT, lambda *_: 0)}
        if self.game.max_outcomes > 1:
            optional["chance"] = self._callback(self.chance, abi.OUTCOMES, _only_outcome)
        if self.game.has_views:
            optional["observe"] = self._callback(self.observe, abi.OBSERVE, lambda *_: None)
        return abi.game_kernels(
            begin_history,
            self._callback(self.to_move, abi.TO_MOVE, lambda *_: TERMINAL),
            self._callback(self.legal, abi.LEGAL, _only_action),
            self._callback(self.step, abi.STEP, lambda *_: None),
            **optional,
        )

    def _callback(self, function: Any, signature: Any, harmless: Any) -> Callback:
        return Callback(function, signature, self.failures, harmless, self.game)

    def to_move(self, state: Any) -> int:
        return self.states.mover(self.states.of(state))

    def legal(self, state: Any, out: Any) -> int:
        actions = self.states.legal(self.states.of(state))
        out[: len(actions)] = actions
        return len(actions)

    def chance(self, state: Any, out: Any, probs: Any) -> int:
        ids, probabilities = self.states.outcomes(self.states.of(state))
        out[: len(ids)], probs[: len(ids)] = ids, probabilities
        return len(ids)

    def step(self, state: Any, ply: int, rewards: Any) -> None:
        plies = state[PLIES]
        if plies >= self.states.max_length:
            raise self.states.too_long()
        live = self.states.after(state, int(ply))
        state[self.states.first + plies] = ply
        state[PLIES] = plies + 1
        _add(live, rewards)

    def playout(self, state: Any, depth: int, rng: Any, returns: Any) -> int:
        """Plays like `generic_playout`, in one call instead of three per ply; keeps only the last state."""
        states, stream = self.states, np.frombuffer(rng, np.uint64)
        live, first, end, played = states.of(state), states.first, states.first + states.max_length, 0
        written = first + state[PLIES]
        while True:
            mover = states.mover(live)
            if mover == CHANCE:
                ply = _draw(*states.outcomes(live), stream)
            elif mover == TERMINAL or played == depth:
                break
            else:
                actions = states.legal(live)
                ply = actions[below(stream, len(actions))]
                played += 1
            if written == end:
                raise states.too_long()
            live = states.step(live, ply)
            state[written] = ply
            written += 1
            if live.rewards != states.no_rewards:
                _add(live, returns)
        state[PLIES] = written - first
        states.keep(states.key(state), live)
        return played

    def observe(self, state: Any, seat: int, view: Any) -> None:
        """Writes a view: its text is the root of the plies that follow."""
        text = self.states.view_text(self.states.of(state), int(seat))
        view[:] = [0] * len(view)
        view[VIEW_BYTES] = len(text)
        for word in range(-(-len(text) // WORD)):
            view[VIEW + word] = int.from_bytes(
                text[word * WORD : (word + 1) * WORD].ljust(WORD, b"\0"), sys.byteorder, signed=True
            )


def _add(live: LiveState, rewards: Any) -> None:
    for seat, reward in enumerate(live.rewards):
        rewards[seat] += reward


def _draw(ids: list[int], probabilities: list[float], stream: Any) -> int:
    """Draws an outcome in the same way as `draw_outcome` from the kernel `chance`."""
    left = uniform(stream)
    for outcome, probability in zip(ids, probabilities[:-1], strict=False):
        left -= probability
        if left < 0.0:
            return outcome
    return ids[-1]


def _only_action(state: Any, out: Any) -> int:
    out[0] = 0
    return 1


def _only_outcome(state: Any, out: Any, probs: Any) -> int:
    out[0], probs[0] = 0, 1.0
    return 1


@dataclass(frozen=True)
class PythonGame(PythonRules):
    """Base of games whose rules are plain methods, which never change their state.

    A state is any Python object. Agents get the plies that led to it as the state, which fits an array and travels to
    other processes; the objects of the most recently used states are kept.
    """

    @property
    def state_words(self) -> int:  # type: ignore[override]
        return (VIEW + self.view_words if self.has_views else VIEW_BYTES) + self.max_length

    @functools.cached_property
    def live_states(self) -> LiveStates:
        return LiveStates(self)

    @functools.cached_property
    def failures(self) -> PendingFailures:
        return PendingFailures()

    def build_kernels(self) -> abi.GameKernels:
        return HistoryKernels(self, self.live_states, self.failures).build()

    def raise_failure(self) -> None:
        self.failures.raise_first()

    def live_state(self, state: Ints) -> Any:
        """Returns the object of an agent's state."""
        return self.live_states.of(state).state

    def plies(self, state: Ints) -> list[int]:
        """Returns the plies and outcomes of an agent's state; for a view, those after it."""
        first = self.live_states.first
        return [int(ply) for ply in state[first : first + state[PLIES]]]

    def draw(self, state: Ints) -> str:
        return str(self.live_states.ask("show", self.show, self.live_state(state)))

    def phase(self, state: Ints) -> int:
        """Returns the number of plies played."""
        return int(state[PLIES])
