"""The newest games of self-play, from which the networks learn."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .games import Played

Arrays = dict[str, npt.NDArray[Any]]


class Lessons(NamedTuple):
    """Positions of several games in sequence, as `learn_positions` takes them."""

    states: npt.NDArray[np.int64]  # [n, words]
    targets: npt.NDArray[np.float32]  # [n, outputs]
    ends: npt.NDArray[np.int64]  # [n + 1]
    policies: npt.NDArray[np.float32]


def targets_of(played: Played, movers: npt.NDArray[np.int64], outputs: int, found: float) -> npt.NDArray[np.float32]:
    """Returns the target outputs for a game's positions, [moves, outputs], in the game's points.

    They are the seats' returns; with two seats, whose values are opposite, mixed with the values found by the search.

    Args:
        played: a game.
        movers: [moves] the seat to move.
        outputs: number of outputs of the network; 1 means the value of seat 0.
        found: weight of the search's value, 0 to 1.
    """
    targets = np.tile(played.returns[:outputs], (len(played.states), 1))
    if outputs == 1:
        own = np.where(movers == 0, played.values, -played.values)
        known = ~np.isnan(own)
        targets[known, 0] += found * (own[known] - targets[known, 0])
    return targets.astype(np.float32)


class Window:
    """Keeps at most `size` games."""

    def __init__(self, size: int) -> None:
        self._games: deque[Lessons] = deque(maxlen=size)

    def add(self, played: Played, targets: npt.NDArray[np.float32]) -> None:
        ends = np.concatenate([[0], np.cumsum(played.lengths)])
        self._games.append(Lessons(played.states, targets, ends, played.policies))

    def lessons(self) -> Lessons:
        """Returns the positions of all games."""
        games = self._games
        starts = np.cumsum([0, *(len(game.policies) for game in games)])
        ends = [game.ends[1:] + start for game, start in zip(games, starts[:-1], strict=True)]
        return Lessons(
            np.concatenate([game.states for game in games]),
            np.concatenate([game.targets for game in games]),
            np.concatenate([np.zeros(1, np.int64), *ends]),
            np.concatenate([game.policies for game in games]),
        )

    def arrays(self) -> Arrays:
        """Returns the arrays for `restore`."""
        lessons = self.lessons()._asdict() if self._games else {}
        return {"moves": np.array([len(game.states) for game in self._games], np.int64), **lessons}

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]], words: int, outputs: int, num_actions: int) -> None:
        """Fills an empty window; raises ValueError if the arrays do not fit the game."""
        moves = arrays["moves"]
        if moves.dtype != np.int64 or moves.ndim != 1 or (moves < 1).any():
            raise ValueError("its games have no lengths")
        if not len(moves):
            return
        lessons = Lessons(*(arrays[name] for name in Lessons._fields))
        total = int(moves.sum())
        shapes = ((total, words), (total, outputs), (total + 1,), (int(lessons.ends[-1]) if lessons.ends.size else 0,))
        kinds = (np.int64, np.float32, np.int64, np.float32)
        found = [
            (array.shape, array.dtype) for array in (lessons.states, lessons.targets, lessons.ends, lessons.policies)
        ]
        if found != [(shape, np.dtype(kind)) for shape, kind in zip(shapes, kinds, strict=True)]:
            raise ValueError("its positions do not fit its games")
        steps = np.diff(lessons.ends)
        if lessons.ends[0] != 0 or (steps < 0).any() or (steps > num_actions).any():
            raise ValueError("its policies do not fit its positions")
        for game in _split(lessons, np.cumsum(moves)):
            self._games.append(game)


def _split(lessons: Lessons, stops: npt.NDArray[np.int64]) -> Iterable[Lessons]:
    """Yields the positions of each game."""
    for start, stop in zip([0, *stops[:-1]], stops, strict=True):
        ends = lessons.ends[start : stop + 1]
        yield Lessons(
            lessons.states[start:stop],
            lessons.targets[start:stop],
            ends - ends[0],
            lessons.policies[ends[0] : ends[-1]],
        )
