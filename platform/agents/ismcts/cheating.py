"""A search that is shown what its game hides: what knowing it would be worth, not a fair player."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

from ...core.parameters import parameter
from ...games.game import Game
from ..agent import Agent, CompiledAgent, Player
from ..evaluator import ValueUnit
from ..mcts.agent import Mcts


@dataclass(frozen=True)
class Cheating(Agent):
    """A search that sees all cards: a measure for agents that do not, called cheating UCT by Cowling et al. (2012).

    Searches refuse games that hide something, so the name of whatever sees more than its seat may begins with this.
    """

    name: ClassVar[str] = "cheating"
    sees_secrets: ClassVar[bool] = True

    agent: Agent = parameter(Mcts(iterations=1000), "the search")

    def draws_numbers(self, game: Game) -> bool | None:
        return self.agent.draws_numbers(uncovered(game))

    @property
    def in_python(self) -> bool:
        return self.agent.in_python

    @property
    def one_thread(self) -> bool:
        return self.agent.one_thread

    def cannot_play(self, game: Game) -> str | None:
        if not isinstance(self.agent, CompiledAgent):
            return f"{self.name} must have a search of ours, got {self.agent}; use mcts, mctse or mc."
        if not game.hidden:
            return f"{self.name} plays games that hide something, got {game}; use {self.agent} itself."
        return self.agent.cannot_play(uncovered(game))

    def value_unit(self, game: Game) -> ValueUnit:
        return self.agent.value_unit(uncovered(game))

    def prepare(self, game: Game) -> None:
        self.agent.prepare(uncovered(game))

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        self.require(game)
        return self.agent.start(uncovered(game), seat, seed)


@functools.lru_cache(maxsize=16)
def uncovered(game: Game) -> Game:
    """Returns the same game, whose declaration says that nothing is hidden."""
    kind = type(game)
    shown = type(kind.__name__, (kind,), {"hidden": False, "__module__": kind.__module__, "__repr__": kind.__repr__})
    found: Game = shown(**game.__getstate__())
    return found
