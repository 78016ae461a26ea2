"""Any bot that is registered with OpenSpiel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ...core.errors import unknown
from ...core.parameters import parameter
from ...games.game import Game
from ...games.open_spiel.game import OpenSpiel
from ...games.open_spiel.library import pyspiel, spiel_errors
from .player import SpielAgent


@dataclass(frozen=True)
class OpenSpielBot(SpielAgent):
    """A bot registered with OpenSpiel, such as uniform_random or fixed_action_preference(actions=3:2:4).

    Without the parameter `seed`, it gets one derived from the match's.
    """

    name: ClassVar[str] = "openspiel_bot"
    takes_its_time: ClassVar[bool] = True

    bot: str = parameter("uniform_random", 'OpenSpiel\'s name for a bot, or in quotes "name(parameter=value,...)"')

    def check(self) -> None:
        bots = pyspiel().registered_bots()
        if self._parameters()["name"] not in bots:
            raise unknown("bot of OpenSpiel", self._parameters()["name"], bots)

    def _parameters(self) -> dict[str, Any]:
        """Returns the bot's parameters, and its name as `name`."""
        with spiel_errors(f"openspiel_bot: bot={self.bot}"):
            return dict(pyspiel().game_parameters_from_string(self.bot))

    def cannot_play(self, game: Game) -> str | None:
        other = super().cannot_play(game)
        if other or not isinstance(game, OpenSpiel):
            return other
        name, able = self._parameters()["name"], pyspiel().bots_that_can_play_game(game.spiel_game)
        return None if name in able else f"{self} cannot play {game}; these bots can: {', '.join(able)}."

    def make_bot(self, game: OpenSpiel, seat: int, seed: int) -> Any:
        parameters = {"seed": seed} | self._parameters()
        name = parameters.pop("name")
        return pyspiel().load_bot(name, game.spiel_game, seat, parameters)
