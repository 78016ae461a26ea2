"""The agent `human`: a person at a board in a terminal or a browser."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...core.errors import UserError
from ...core.parameters import parameter
from ...games.game import Game
from ..agent import Agent, Player

LONGEST_NAME = 40


@dataclass(frozen=True)
class Human(Agent):
    """A person, whose games are stored, listed and rated like those of any agent; only a board asks for moves."""

    # The class's is the agent's name, an instance's the person's, human by default.
    name: str = parameter("human", "the person's name")  # type: ignore[misc]

    def draws_numbers(self, game: Game) -> bool:
        return True

    @property
    def runs_program(self) -> bool:
        return True  # only its match can ask it

    def check(self) -> None:
        if len(self.name) > LONGEST_NAME or not re.fullmatch(r"\w([\w .'-]*[\w.])?", self.name):
            raise UserError(
                f"human: name must be 1 to {LONGEST_NAME} letters, digits, blanks and signs of . ' - _, got"
                f" {self.name!r}; choose another."
            )

    def cannot_play(self, game: Game) -> str | None:
        return f"a person plays at a board, not where workers play; type: turnier play {game.name} human AGENT."

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        raise UserError(str(self.cannot_play(game)))
