"""OpenSpiel's games, played by their own rules in C++, for all agents.

Source: Lanctot et al., "OpenSpiel: A Framework for Reinforcement Learning in Games", 2019.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...core.errors import UserError
from ...core.parameters import parameter
from ..abi import CHANCE, TERMINAL
from ..game import MAX_SEATS, Ints
from ..python.python_game import PythonGame
from .library import load_game, pyspiel

TURN_BASED = "turn_based_simultaneous_game"  # the name of a game after its conversion
# Games whose clones, in open_spiel 2.0.2, share lines on the board with the original and crash the process later.
SHARING = ("morpion_solitaire",)
# Games that redraw what a player does not know; others are not asked, since each refusal is printed. What blackjack
# redraws depends on what is hidden.
REDRAWN = (
    *("bargaining", "colored_trails", "euchre", "hearts"),
    *("kuhn_poker", "leduc_poker", "oh_hell", "universal_poker"),
)
MAX_SIZE = 1_000_000  # actions, or plies of a game


@dataclass(frozen=True)
class OpenSpiel(PythonGame):
    """A game from OpenSpiel; simultaneous moves are made in turn, hidden from each other.

    A state is a pyspiel.State, which is copied before it is changed.
    """

    name: ClassVar[str] = "openspiel"

    game: str = parameter("tic_tac_toe", 'OpenSpiel\'s name of a game, or in quotes "name(parameter=value,...)"')

    def check(self) -> None:
        library, kind = pyspiel(), self.spiel_game.get_type()
        what = f"openspiel: game={self.game}"
        if kind.dynamics != library.GameType.Dynamics.SEQUENTIAL:
            raise UserError(f"{what} must have seats that move, got a mean-field game; choose another.")
        if kind.chance_mode == library.GameType.ChanceMode.SAMPLED_STOCHASTIC:
            raise UserError(f"{what} must list its chance outcomes, got a game that draws them itself; choose another.")
        if not 1 <= self.num_seats <= MAX_SEATS:
            raise UserError(f"{what} must have 1 to {MAX_SEATS} seats, got {self.num_seats}; choose another.")
        if not 1 <= self.num_actions <= MAX_SIZE or self.max_length > MAX_SIZE:
            sizes = f"{self.num_actions:,} actions and {self.max_length:,} plies"
            raise UserError(f"{what} must have from 1 to {MAX_SIZE:,} actions and plies, got {sizes}; choose another.")

    @functools.cached_property
    def spiel_game(self) -> Any:
        """The pyspiel.Game, converted so that seats move in turn."""
        return load_game(self.game)

    @property
    def num_seats(self) -> int:  # type: ignore[override]
        return int(self.spiel_game.num_players())

    @property
    def num_actions(self) -> int:  # type: ignore[override]
        return int(self.spiel_game.num_distinct_actions())

    @property
    def max_legal(self) -> int:  # type: ignore[override]
        return self.num_actions

    @property
    def max_outcomes(self) -> int:  # type: ignore[override]
        chance = self.spiel_game.get_type().chance_mode != pyspiel().GameType.ChanceMode.DETERMINISTIC
        return max(2, int(self.spiel_game.max_chance_outcomes())) if chance else 1

    @property
    def max_length(self) -> int:  # type: ignore[override]
        moves, chances = int(self.spiel_game.max_game_length()), int(self.spiel_game.max_chance_nodes_in_history())
        if self.max_outcomes > 1 and self.spiel_game.get_type().short_name == TURN_BASED:
            return 2 * moves + chances  # some games have a chance node per seat, but declare one per round
        return moves + chances

    @property
    def max_return(self) -> float:  # type: ignore[override]
        largest = max(abs(self.spiel_game.min_utility()), abs(self.spiel_game.max_utility()))
        return float(largest) if 0 < largest < math.inf else 1.0

    @property
    def min_return(self) -> float:
        least = float(self.spiel_game.min_utility())
        return least if math.isfinite(least) else -self.max_return

    @property
    def hidden(self) -> bool:  # type: ignore[override]
        return bool(self.spiel_game.get_type().information != pyspiel().GameType.Information.PERFECT_INFORMATION)

    @property
    def has_information(self) -> bool:
        return bool(self.spiel_game.get_type().provides_information_state_string)

    def information(self, state: Any, seat: int) -> str:
        return str(state.information_state_string(seat))

    def resample(self, state: Any, seat: int, draw: Callable[[], float]) -> tuple[Any, Sequence[int]] | None:
        if not self._is_redrawn:
            return None
        redrawn = state.resample_from_infostate(seat, draw)
        return redrawn, redrawn.history()

    @functools.cached_property
    def _is_redrawn(self) -> bool:
        return str(self.spiel_game.get_type().short_name) in REDRAWN

    @functools.cached_property
    def _rewards_on_the_way(self) -> bool:
        return bool(self.spiel_game.get_type().reward_model == pyspiel().GameType.RewardModel.REWARDS)

    def begin(self) -> Any:
        return self.spiel_game.new_initial_state()

    def to_move(self, state: Any) -> int:
        if state.is_terminal():
            return TERMINAL
        return CHANCE if state.is_chance_node() else int(state.current_player())

    def legal(self, state: Any) -> Sequence[int]:
        return sorted(state.legal_actions())

    def show(self, state: Any) -> str:
        return str(state) if str(state).strip() else "nothing yet"

    def move_text(self, state: Ints, action: int) -> str:
        live = self.live_state(state)
        return str(live.action_to_string(live.current_player(), action))

    def outcomes(self, state: Any) -> Sequence[tuple[int, float]]:
        return sorted((outcome, probability) for outcome, probability in state.chance_outcomes() if probability > 0)

    def copy_of(self, state: Any) -> Any:
        """Returns an independent copy of a state."""
        if not any(name in self.game for name in SHARING):
            return state.clone()
        copy = self.begin()
        for ply in state.history():
            copy.apply_action(ply)
        return copy

    def step(self, state: Any, ply: int) -> tuple[Any, Sequence[float]]:
        after = self.copy_of(state)
        after.apply_action(ply)
        if self._rewards_on_the_way:
            return after, [now - then for now, then in zip(after.returns(), state.returns(), strict=True)]
        return after, after.returns() if after.is_terminal() else (0.0,) * self.num_seats
