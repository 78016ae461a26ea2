"""OpenSpiel's Monte Carlo tree search, as it is in C++."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ...core.parameters import parameter
from ...games.game import Game
from ...games.open_spiel.game import OpenSpiel
from ...games.open_spiel.library import pyspiel
from ..abi import VALUES, VISITS
from ..agent import Floats
from ..budget import AMOUNT
from .player import SpielAgent

MEMORY_MB = 1000  # at which the bot forgets rarely visited nodes


@dataclass(frozen=True)
class OpenSpielMcts(SpielAgent):
    """OpenSpiel's MCTSBot: UCT with random rollouts to the end of the game and a solver, for returns from -1 to 1.

    Its defaults are those of OpenSpiel's example. `mcts(exploration=1.0,solver=true)` explores equally, since it
    doubles the exploration for rewards from 0 to 1.
    """

    name: ClassVar[str] = "openspiel_mcts"

    simulations: int = parameter(1000, "simulations per move", low=2, high=10_000_000, log=True, search=(10, 10_000))
    uct_c: float = parameter(2.0, "constant of exploration", low=0, high=100, log=True, search=(0.01, 10))
    rollouts: int = parameter(1, "random rollouts that evaluate a new node", low=1, high=1000, search=(1, 10))
    solve: bool = parameter(True, "back up proven wins and losses")

    budgets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "rollouts": {"simulations": AMOUNT},
        "nodes": {"simulations": AMOUNT},
    }

    def draws_numbers(self, game: Game) -> bool:
        return True

    def cannot_play(self, game: Game) -> str | None:
        other = super().cannot_play(game)
        if other or not isinstance(game, OpenSpiel):
            return other
        if game.hidden:
            return f"{self.name} must know the whole state, got {game}, which hides some of it; use openspiel_bot."
        if game.spiel_game.get_type().reward_model != pyspiel().GameType.RewardModel.TERMINAL:
            return f"{self.name} plays games whose only rewards are at the end, got {game}; use mcts or mc."
        return None

    def make_bot(self, game: OpenSpiel, seat: int, seed: int) -> Any:
        evaluator = pyspiel().RandomRolloutEvaluator(self.rollouts, seed)
        work = (self.uct_c, self.simulations, MEMORY_MB, self.solve)
        return pyspiel().MCTSBot(game.spiel_game, evaluator, *work, seed, False)

    def decide(self, bot: Any, state: Any, found: Floats) -> int:
        root = bot.mcts_search(state)
        for child in root.children:
            found[VISITS, child.action] = child.explore_count
            found[VALUES, child.action] = child.total_reward / max(1, child.explore_count)
        return int(root.best_child().action)
