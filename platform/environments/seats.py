"""A game of any number of seats as a PettingZoo environment whose agents act in turn (AEC)."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from ..games.game import Game
from .shown import MASK_DTYPE, RENDER_MODES, Shown, rendered, require_render_mode

ILLEGAL_REWARD = -1.0  # for an illegal action, which ends the game; the other seats get 0


def env(game: str | Game, observation: str = "", render_mode: str | None = None) -> AECEnv[str, Any, int]:
    """Returns a game with PettingZoo's usual wrappers: an illegal action loses the game, and misuse raises errors."""
    seats = SeatsEnvironment(game, observation, render_mode)
    checked = wrappers.AssertOutOfBoundsWrapper(wrappers.TerminateIllegalWrapper(seats, ILLEGAL_REWARD))
    return wrappers.OrderEnforcingWrapper(checked)


class SeatsEnvironment(AECEnv[str, Any, int]):  # type: ignore[misc]
    """The seats of a game as agents `seat_0`, `seat_1`, ...; legal actions are 1 in `observation["action_mask"]`.

    A seat that is out of a game is not asked any more; all seats terminate when the game is over. An illegal action
    raises UserError, unless `env` wraps the environment.
    """

    def __init__(self, game: str | Game, observation: str = "", render_mode: str | None = None) -> None:
        super().__init__()
        self._shown = Shown.of(game, observation)
        self.game = self._shown.game
        self.metadata = {"name": str(self.game), "render_modes": [*RENDER_MODES], "is_parallelizable": False}
        self.render_mode = require_render_mode(render_mode)
        self.possible_agents = [f"seat_{seat}" for seat in range(self.game.num_seats)]
        self.observation_spaces = {agent: self._space() for agent in self.possible_agents}
        self.action_spaces = {agent: self._shown.action_space() for agent in self.possible_agents}
        self.position, self._started = self.game.start(), False

    def _space(self) -> spaces.Dict:
        mask = spaces.Box(0, 1, (self.game.num_actions,), MASK_DTYPE)
        return spaces.Dict({"observation": self._shown.observation_space(), "action_mask": mask})

    def observation_space(self, agent: str) -> spaces.Dict:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts a game from a seed; without one, chance continues the stream of the last game."""
        again = self._started and seed is None
        self.position, self._started = self.position.start_again() if again else self.game.start(_seed(seed)), True
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, self.position.over)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[max(self.position.to_move, 0)]

    def observe(self, agent: str) -> dict[str, Any]:
        seat = self.possible_agents.index(agent)
        mask = self._shown.mask(self.position)
        if seat != self.position.to_move:
            mask[:] = 0
        return {"observation": self._shown.observation(self.position, seat), "action_mask": mask}

    def step(self, action: int) -> None:
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        before, self.position = self.position, self.position.play(int(action))
        gained = self.position.returns - before.returns
        self._cumulative_rewards[agent] = 0.0
        self.rewards = {name: float(gain) for name, gain in zip(self.possible_agents, gained, strict=True)}
        self._accumulate_rewards()
        if self.position.over:
            self.terminations = dict.fromkeys(self.agents, True)
            self._deads_step_first()
        else:
            self.agent_selection = self.possible_agents[self.position.to_move]

    def render(self) -> str | None:
        return rendered(self.game, self.position.state, self.render_mode)

    def close(self) -> None:
        """Nothing is open."""


def _seed(seed: int | None) -> int:
    return seed if seed is not None else int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
