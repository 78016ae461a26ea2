"""Games written in plain Python: every agent plays them, compiled searches through callbacks."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from .. import abi
from ..game import Ints
from .callback import PendingFailures
from .history_kernels import HistoryKernels
from .live_states import PLIES, VIEW, VIEW_BYTES, LiveStates
from .rules import PythonRules


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
