"""n boards of a game as a Gymnasium vector environment; one compiled call steps all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ..core.errors import UserError
from ..core.packing import pack
from ..core.rng import stream, streams_of
from ..games.game import Game
from ..games.in_step.boards import BEGIN, KEEP, advance, draw_legal, new_boards, pack_boards
from .shown import MASK_DTYPE, Observation, Shown, rendered, require_render_mode
from .single import LARGEST_SEED

Actions = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Step = tuple[Observation, npt.NDArray[np.float64], Flags, Flags, dict[str, Any]]


class BoardsEnvironment(VectorEnv[Observation, Actions, npt.NDArray[Any]]):
    """n boards; board i equals, bit for bit, a `GameEnvironment` with seed s + i after `reset(seed=s)`.

    `info["action_mask"]`, [n, num_actions], has the legal actions; any other action only increases the number of steps
    and gives 0. In games of several seats, actions are those of the seats `info["to_move"]`, [n]; rewards are the
    rewards of these seats, and `info["rewards"]`, [n, seats], those of all seats.

    Args:
        game: a game or its text, such as "2048(size=3)".
        num_envs: number of boards.
        observation: "cells" or "state"; default: cells if the game has a board.
        autoreset_mode: time at which a board whose episode is over begins the next one.
        max_episode_steps: steps after which an episode is truncated; -1 for no limit.
        render_mode: "ansi" (text) or "svg".
    """

    def __init__(
        self,
        game: str | Game,
        num_envs: int = 1,
        observation: str = "",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int = -1,
        render_mode: str | None = None,
    ) -> None:
        if num_envs < 1:
            raise UserError(f"num_envs must be at least 1, got {num_envs}.")
        if max_episode_steps < 1 and max_episode_steps != -1:
            raise UserError(f"max_episode_steps must be at least 1, or -1 for no limit, got {max_episode_steps}.")
        self._shown = Shown.of(game, observation)
        self.game, self.num_envs = self._shown.game, num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.max_episode_steps = max_episode_steps
        self.render_mode = require_render_mode(render_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": ["ansi", "svg"]}
        self.single_observation_space = self._shown.observation_space()
        self.single_action_space = self._shown.action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._boards = new_boards(self.game, num_envs, self._shown.cells)
        self._packed = pack(pack_boards, self.game.kernels, self._boards)
        self._truncated = np.zeros(num_envs, np.bool_)
        self._everywhere = np.ones(num_envs, np.bool_)
        self._seeded = False

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode on every board, or on those of `options["reset_mask"]`, [n]."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        chosen = np.asarray((options or {}).get("reset_mask", self._everywhere), np.bool_)
        if chosen.shape != (self.num_envs,):
            raise UserError(f"reset_mask must have a flag for each of {self.num_envs} boards, got {chosen.shape}.")
        self._seed(seed, chosen)
        self._begin(chosen)
        return self._observed(), self._info()

    def _seed(self, seed: int | Sequence[int | None] | None, chosen: Flags) -> None:
        """Gives boards the streams of chance of their seeds; those without a seed continue their own."""
        if isinstance(seed, int):
            seed = range(seed, seed + self.num_envs)
        if seed is None:
            seed = [None] * self.num_envs
        if len(seed) != self.num_envs:
            raise UserError(f"seeds must be one number or one for each of {self.num_envs} boards, got {len(seed)}.")
        if not self._seeded:
            drawn = self.np_random.integers(LARGEST_SEED, size=self.num_envs).tolist()
            seed = [own if given is None else given for own, given in zip(drawn, seed, strict=True)]
            self._own_choices, self._seeded = stream(int(self.np_random.integers(LARGEST_SEED))), True
        given = {i: own for i, own in enumerate(seed) if own is not None and chosen[i]}
        self._boards.rngs[list(given)] = streams_of(list(given.values()), 1)[:, 0]

    def step(self, actions: Actions) -> Step:
        actions = np.ascontiguousarray(actions, np.int64)
        if actions.shape != (self.num_envs,):
            raise UserError(f"actions must be one for each of {self.num_envs} boards, got shape {actions.shape}.")
        ended = self._boards.terminated | self._truncated
        begins = ended if self.autoreset_mode is AutoresetMode.NEXT_STEP else np.zeros_like(ended)
        movers = self._boards.movers.copy()
        advance(self._packed, actions, begins.view(np.int8))  # STEP or BEGIN
        self.game.raise_failure()
        self._truncated = self._boards.steps == self.max_episode_steps
        terminated, truncated, final = self._boards.terminated.copy(), self._truncated, {}
        rewards, info = self._rewards(movers)
        if self.autoreset_mode is AutoresetMode.SAME_STEP and (ended := terminated | truncated).any():
            final = self._final(ended)
            self._begin(ended)
        return self._observed(), rewards, terminated, truncated.copy(), self._info() | info | final

    def _begin(self, chosen: Flags) -> None:
        advance(self._packed, np.zeros(self.num_envs, np.int64), np.where(chosen, BEGIN, KEEP).astype(np.int8))
        self.game.raise_failure()
        self._truncated = self._truncated & ~chosen

    def _rewards(self, movers: Actions) -> tuple[npt.NDArray[np.float64], dict[str, Any]]:
        """Returns the rewards of the seats that were to move and, if there are several seats, those of all."""
        if self.game.num_seats == 1:
            return self._boards.rewards[:, 0].copy(), {}
        own = self._boards.rewards[np.arange(self.num_envs), np.maximum(movers, 0)]
        return own, {"rewards": self._boards.rewards.copy(), "_rewards": self._everywhere.copy()}

    def _observed(self) -> Observation:
        shown: Observation = self._boards.cells if self._shown.cells else self._boards.views
        return shown.copy()

    def _info(self) -> dict[str, Any]:
        info = {"action_mask": self._boards.masks.copy(), "_action_mask": self._everywhere.copy()}
        if self.game.num_seats > 1:
            info |= {"to_move": self._boards.movers.copy(), "_to_move": self._everywhere.copy()}
        return info

    def _final(self, ended: Flags) -> dict[str, Any]:
        """Returns the last observations of ended episodes in Gymnasium's form."""
        observations, seen = np.full(self.num_envs, None, object), self._observed()
        for i in np.flatnonzero(ended):
            observations[i] = seen[i]
        masks = np.where(ended[:, None], self._boards.masks, MASK_DTYPE(0))
        info = {"action_mask": masks, "_action_mask": ended}
        return {"final_obs": observations, "_final_obs": ended, "final_info": info, "_final_info": ended.copy()}

    def sample_legal(self) -> Actions:
        """Returns a legal action for every board, drawn uniformly from a stream that `reset(seed=...)` seeds."""
        actions = np.empty(self.num_envs, np.int64)
        draw_legal(self._boards.masks, self._own_choices, actions)
        return actions

    def render(self) -> tuple[str, ...] | None:
        if self.render_mode is None:
            return None
        return tuple(rendered(self.game, state, self.render_mode) or "" for state in self._boards.states)
