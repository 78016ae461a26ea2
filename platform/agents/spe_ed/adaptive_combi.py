"""Combi that competes for room with all, and fills its own if others cannot get in, or only by jumps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...core.kernel import compile_kernel
from ...core.parameters import parameter, redeclared
from ...games.game import Game
from .combi import Combi, CombiPlayer, Values
from .player import TimedAgent
from .search.field import nearest, walkers_of
from .search.territory import SPACE_ROWS, is_apart


class AdaptiveCombiPlayer(CombiPlayer):
    """Decides differently when walls separate the player from all others."""

    def __init__(self, agent: TimedAgent, game: Game, rng: np.ndarray[Any, np.dtype[np.uint64]]) -> None:
        super().__init__(agent, game, rng)
        assert isinstance(agent, AdaptiveCombi)
        compile_kernel(is_apart)
        self.modes = agent
        self.space = np.empty((SPACE_ROWS, self.field.size), np.int32)

    def situation(self) -> Values:
        """Returns the parameters for the situation: among others, behind walls, or alone for good.

        Behind walls it follows the longest path while minimax finds that others who jump over them gain nothing by it;
        so dead ends are filled last while others can reach their mouths.
        """
        values, modes = super().situation(), self.modes
        if not self.is_apart(by_jumps=False):
            return values._replace(jump_steps=0)
        return values._replace(
            filter_value=1.0,
            hug=modes.walled_hug,
            minimax_weight=modes.walled_weight,
            alone=self.is_apart(by_jumps=True),
        )

    def is_apart(self, by_jumps: bool) -> bool:
        """Returns whether nobody else can reach the free cells around, by steps and, if asked for, by jumps."""
        others = [seat for _, seat in nearest(self.state, self.seat)]
        walkers = walkers_of(self.state, [self.seat, *others])
        return bool(is_apart(self.field, self.stride, walkers, by_jumps, self.space))


@dataclass(frozen=True)
class AdaptiveCombi(Combi):
    """spe_ed: Combi that knows the walls that others can jump over, and whether it is alone; our own.

    Differs from Brot 2021 like `combi`, and by its play behind walls. Among other players `jump_steps` is
    ignored: a wall is worth building even if it holds only until somebody plans a jump. The defaults were chosen by
    hand; a search over them showed no improvement (docs/reproduction.md).
    """

    name: ClassVar[str] = "adaptive_combi"
    player: ClassVar[Any] = AdaptiveCombiPlayer

    hug: float = redeclared(Combi, "hug", 0.3)
    vary: float = redeclared(Combi, "vary", 0.4)
    freedom: float = redeclared(Combi, "freedom", 0.2)
    neighbours: float = redeclared(Combi, "neighbours", 0.5)
    decided: float = redeclared(Combi, "decided", 0.2)
    jump_steps: int = redeclared(Combi, "jump_steps", 15)
    walled_hug: float = parameter(0.85, "hug if others cannot reach the player by steps", low=0, high=1)
    walled_weight: float = parameter(
        3.0, "minimax_weight if only jumps reach the player", low=0, high=100, log=True, search=(0.1, 100)
    )
