"""The simplest agent of spe_ed: straight on while the way is free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ...games.game import Game
from ...games.spe_ed.board import CHANGE_NOTHING
from .player import PREFERENCE, Choice, SpeEdAgent, SpeEdPlayer, only


class BasicPlayer(SpeEdPlayer):
    def choose(self, ends: int) -> Choice:
        possible = self.possible()
        return only(next((action for action in PREFERENCE[:3] if possible[action]), CHANGE_NOTHING))


@dataclass(frozen=True)
class Basic(SpeEdAgent):
    """spe_ed: goes straight on while it can, else left, else right; never changes its speed. Source: Brot 2021, 3.1."""

    name: ClassVar[str] = "basic"
    player: ClassVar[Any] = BasicPlayer

    def draws_numbers(self, game: Game) -> bool:
        return False
