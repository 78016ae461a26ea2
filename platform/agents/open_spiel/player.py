"""Base of agents that are bots of OpenSpiel: they play its games and are told all plies."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Any

import numpy as np

from ...core.rng import streams
from ...games.game import Game, Position
from ...games.open_spiel.game import OpenSpiel
from ...games.open_spiel.library import spiel_errors
from ..agent import Agent, Decision, Floats, Player


class SpielAgent(Agent):
    """Base of agents that are bots of OpenSpiel."""

    @abstractmethod
    def make_bot(self, game: OpenSpiel, seat: int, seed: int) -> Any:
        """Returns a pyspiel.Bot; `seed` fits 31 bits."""

    def decide(self, bot: Any, state: Any, found: Floats) -> int:
        """Returns a bot's action; may fill `found`, [2, num_actions], with visits and mean values."""
        return int(bot.step(state))

    def cannot_play(self, game: Game) -> str | None:
        if isinstance(game, OpenSpiel):
            return None
        return f"{self.name} plays games of OpenSpiel only, got {game}; play openspiel(game=...)."

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        self.require(game)
        assert isinstance(game, OpenSpiel)
        own = int(streams(seed, 1 + game.num_seats)[1 + seat, 0] >> np.uint64(33))
        with spiel_errors(str(self)):
            return SpielPlayer(self, game, seat, self.make_bot(game, seat, own))


class SpielPlayer:
    """Asks a bot, and tells it every ply of the others in order."""

    def __init__(self, agent: SpielAgent, game: OpenSpiel, seat: int, bot: Any) -> None:
        self.agent, self.game, self.seat, self.bot = agent, game, seat, bot
        self.told: list[int] = []  # plies
        self.state = game.begin()  # after them

    def act(self, position: Position) -> Decision:
        began = time.perf_counter()
        found = np.zeros((2, self.game.num_actions))
        with spiel_errors(str(self.agent)):
            self._tell(self.game.plies(position.state))
            action = self.agent.decide(self.bot, self.state, found)
        nodes = max(1, int(found[0].sum()))
        return Decision(action, found[0], found[1], nodes, time.perf_counter() - began)

    def _tell(self, plies: list[int]) -> None:
        """Tells the bot the new plies, all if the position is not a later one of the same match."""
        if plies[: len(self.told)] != self.told:
            self.bot.restart()
            self.told, self.state = [], self.game.begin()
        for ply in plies[len(self.told) :]:
            mover = self.state.current_player()
            if mover != self.seat:
                self.bot.inform_action(self.state, mover, ply)
            self.state.apply_action(ply)
        self.told = plies
