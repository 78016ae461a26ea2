"""Boards of a game that are played side by side and can be restored after a stop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...arena.match import derive_seed
from ...core.packing import pack
from ...core.rng import streams_of
from ...games.game import Game
from ...games.in_step.boards import BEGIN, KEEP, STEP, advance, new_boards, pack_boards

_KEPT = ("states", "rngs", "movers", "returns", "steps", "masks")  # the other arrays describe the latest step


class Step(NamedTuple):
    """The outcome of one move on every board."""

    rewards: npt.NDArray[np.float64]  # [boards, seats]
    ended: npt.NDArray[np.bool_]  # [boards]
    scores: npt.NDArray[np.float64]  # [ended games, seats], in the order of the boards


class BoardSet:
    """n boards on which games are in play, each with its own stream of chance; when one ends, the next begins."""

    def __init__(self, game: Game, n: int, seed: int) -> None:
        self.game = game
        self.boards = new_boards(game, n, cells=False)
        self._packed = pack(pack_boards, game.kernels, self.boards)
        self._idle = np.zeros(n, np.int64)
        self.boards.rngs[:] = streams_of([derive_seed("deep", seed, board) for board in range(n)], 1)[:, 0]
        advance(self._packed, self._idle, np.full(n, BEGIN, np.int8))

    @property
    def states(self) -> npt.NDArray[np.int64]:
        """The states, [boards, words]; a step changes them in place."""
        states: npt.NDArray[np.int64] = self.boards.states
        return states

    @property
    def movers(self) -> npt.NDArray[np.int64]:
        movers: npt.NDArray[np.int64] = self.boards.movers
        return movers

    def step(self, actions: npt.NDArray[np.int64]) -> Step:
        """Plays a legal action on every board, and begins a new game on boards whose game has ended."""
        boards = self.boards
        advance(self._packed, actions, np.full(len(actions), STEP, np.int8))
        ended = boards.terminated.copy()
        step = Step(boards.rewards.copy(), ended, boards.returns[ended])
        if ended.any():
            advance(self._packed, self._idle, np.where(ended, BEGIN, KEEP).astype(np.int8))
        return step

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Returns the arrays for `restore`."""
        return {name: getattr(self.boards, name) for name in _KEPT}

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restores the boards; raises ValueError if the arrays do not fit them."""
        for name in _KEPT:
            own, stored = getattr(self.boards, name), arrays[name]
            if stored.dtype != own.dtype or stored.shape != own.shape:
                raise ValueError(f"its boards have other {name}")
            own[:] = stored
