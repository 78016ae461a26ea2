"""The memory of moves: rings of turns on boards side by side, from which batches are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats32 = npt.NDArray[np.float32]


class Turn(NamedTuple):
    """One move on every board."""

    states: Ints  # [boards, words] before it
    movers: npt.NDArray[np.int8]  # [boards] seats
    actions: npt.NDArray[np.int16]  # [boards]
    rewards: Floats32  # [boards, seats]
    ended: npt.NDArray[np.bool_]  # [boards] whether it ended a game; the next move then begins another


class Moves(NamedTuple):
    """Outcomes of `steps` successive moves; the next state is arbitrary if the factor is 0."""

    states: Ints  # [batch, words]
    actions: Ints  # [batch]
    rewards: Floats32  # [batch] discounted, for the first mover
    factors: Floats32  # [batch] of the next state's value for its mover; 0 if the game has ended
    next_states: Ints  # [batch, words]


@dataclass
class Replay:
    """The newest `length` turns."""

    length: int
    turns: Turn  # arrays [length, boards, ...]; turn t is at t modulo length
    count: int = 0  # turns so far

    @classmethod
    def empty(cls, length: int, boards: int, words: int, seats: int) -> Replay:
        shape = (length, boards)
        turns = Turn(
            np.zeros((*shape, words), np.int64),
            np.zeros(shape, np.int8),
            np.zeros(shape, np.int16),
            np.zeros((*shape, seats), np.float32),
            np.zeros(shape, np.bool_),
        )
        return cls(length, turns)

    def add(self, turn: Turn) -> None:
        rings: Iterable[Any] = self.turns
        for ring, values in zip(rings, turn, strict=True):
            ring[self.count % self.length] = values
        self.count += 1

    def sample(self, random: np.random.Generator, batch: int, steps: int, discount: float) -> Moves:
        """Draws uniformly among the moves that are followed by `steps` known moves and a state."""
        first, last = max(self.count - self.length, 0), self.count - steps
        times = random.integers(first, last, batch)
        return self.moves(times, random.integers(self.turns.movers.shape[1], size=batch), steps, discount)

    def moves(self, times: Ints, boards: Ints, steps: int, discount: float) -> Moves:
        """Returns moves by turn and board, [batch] each."""
        turns, batch = self.turns, np.arange(len(times))
        at = times % self.length
        movers = turns.movers[at, boards].astype(np.int64)
        rewards, weight = np.zeros(len(times), np.float32), np.ones(len(times), np.float32)
        for step in range(steps):
            place = (times + step) % self.length
            rewards += weight * turns.rewards[place, boards][batch, movers]
            weight *= np.where(turns.ended[place, boards], np.float32(0), np.float32(discount))
        after = (times + steps) % self.length
        same = turns.movers[after, boards] == movers
        return Moves(
            turns.states[at, boards],
            turns.actions[at, boards].astype(np.int64),
            rewards,
            np.where(same, weight, -weight),
            turns.states[after, boards],
        )

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Returns the arrays for `restore`, as far as they are filled."""
        known, rings = min(self.count, self.length), tuple[Any, ...](self.turns)
        return {name: ring[:known] for name, ring in zip(Turn._fields, rings, strict=True)}

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]], count: int) -> None:
        """Fills an empty memory with `count` turns; raises ValueError if the arrays do not fit it."""
        known, rings = min(count, self.length), tuple[Any, ...](self.turns)
        for name, ring in zip(Turn._fields, rings, strict=True):
            stored = arrays[name]
            if stored.dtype != ring.dtype or stored.shape != (known, *ring.shape[1:]):
                raise ValueError(f"its memory has other {name}")
            ring[:known] = stored
        self.count = count
