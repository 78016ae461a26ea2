"""The views of a position in environments: an array for learners, the legal actions, a picture for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from ..core.errors import UserError
from ..games.abi import STATE_DTYPE
from ..games.game import Game, Position
from ..games.registry import GAMES

CELL_DTYPE, MASK_DTYPE = np.uint8, np.int8
RENDER_MODES = ("ansi", "svg")
Observation = npt.NDArray[Any]
Mask = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Shown:
    """A game for learners: every cell's value, or the words of the state as far as the seat to move may know it."""

    game: Game
    cells: bool

    @classmethod
    def of(cls, game: str | Game, observation: str = "") -> Shown:
        """Takes a game or its text, and "cells", "state" or "", which means cells if the game has any."""
        game = GAMES.make(game)
        has_cells = 0 < game.num_cell_values <= np.iinfo(CELL_DTYPE).max + 1
        if observation not in ("", "cells", "state"):
            raise UserError(f"observation must be cells or state, got {observation}.")
        if observation == "cells" and not has_cells:
            raise UserError(f"observation must be state, since {game} has no cells of at most 256 values, got cells.")
        return cls(game, has_cells and observation != "state")

    def observation_space(self) -> spaces.Box:
        if self.cells:
            return spaces.Box(0, self.game.num_cell_values - 1, (self.game.num_cells,), CELL_DTYPE)
        limits = np.iinfo(STATE_DTYPE)
        return spaces.Box(limits.min, limits.max, (self.game.state_words,), STATE_DTYPE)

    def action_space(self) -> spaces.Discrete:
        return spaces.Discrete(self.game.num_actions)

    def observation(self, position: Position, seat: int) -> Observation:
        """Returns a seat's view; when the game is over, everybody sees everything."""
        known = position.state.copy() if position.over else position.view(seat)
        return self.game.cell_values(known).astype(CELL_DTYPE) if self.cells else known

    def mask(self, position: Position) -> Mask:
        """Returns 1 for each legal action, [num_actions], for `Discrete.sample`."""
        mask = np.zeros(self.game.num_actions, MASK_DTYPE)
        mask[position.legal_actions()] = 1
        return mask


def rendered(game: Game, state: npt.NDArray[np.int64], mode: str | None) -> str | None:
    """Returns a state as text or as SVG."""
    if mode is None:
        return None
    return game.draw(state) if mode == "ansi" else game.svg(state)


def require_render_mode(mode: str | None) -> str | None:
    if mode is not None and mode not in RENDER_MODES:
        raise UserError(f"render_mode must be one of {', '.join(RENDER_MODES)}, got {mode}.")
    return mode
