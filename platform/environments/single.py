"""A game as a Gymnasium environment: one seat learns, our agents take the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np

from ..agents.agent import Agent, Player
from ..agents.registry import AGENTS
from ..agents.seats.failure import SeatFailure
from ..arena.table import ask, close_players, seated, seen_by
from ..core.errors import UserError
from ..games.game import Game
from .shown import RENDER_MODES, Observation, Shown, rendered, require_render_mode

LARGEST_SEED = 2**63


class GameEnvironment(gymnasium.Env[Observation, np.int64]):
    """One seat of a game: an episode is a game, a step is an action of that seat with the replies of the others.

    `info["action_mask"]` has the legal actions; any other action changes nothing and gives 0. The reward is the growth
    of the seat's return. After `reset(seed=...)` chance and opponents act as in a match with that seed; without a seed
    chance continues its stream.

    Args:
        game: a game or its text, such as "2048(size=3)".
        opponents: agents, or their texts, of the other seats in turn; a single one takes all of them; default: random.
        seat: the seat that learns.
        observation: "cells" or "state"; default: cells if the game has a board.
        render_mode: "ansi" (text) or "svg".
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [*RENDER_MODES], "render_fps": 2}  # type: ignore[misc]

    def __init__(
        self,
        game: str | Game,
        opponents: str | Agent | Sequence[str | Agent] = (),
        seat: int = 0,
        observation: str = "",
        render_mode: str | None = None,
    ) -> None:
        self._shown = Shown.of(game, observation)
        self.game, self.seat = self._shown.game, seat
        if not 0 <= seat < self.game.num_seats:
            raise UserError(f"seat must be from 0 to {self.game.num_seats - 1} in {self.game}, got {seat}.")
        self.opponents = self._agents(opponents)
        self.observation_space = self._shown.observation_space()
        self.action_space = self._shown.action_space()
        self.render_mode = require_render_mode(render_mode)
        self.position, self._started = self.game.start(), False
        self._players: dict[int, Player] = {}
        self._seed, self._decisions = 0, 0

    def _agents(self, texts: str | Agent | Sequence[str | Agent]) -> dict[int, Agent]:
        """Returns the agent of every other seat."""
        others = [seat for seat in range(self.game.num_seats) if seat != self.seat]
        texts = [texts] if isinstance(texts, str | Agent) else texts
        agents = [AGENTS.make(text) for text in texts or ("random",) * len(others)]
        if len(agents) == 1:
            agents *= len(others)
        if len(agents) != len(others) or (texts and not others):
            raise UserError(
                f"opponents in {self.game} must be none, one agent, or one for each of its {len(others)} other seats,"
                f" got {len(texts)}."
            )
        for agent in agents:
            agent.require(self.game)
            if agent.runs_program:
                raise UserError(f"opponents of an environment must not be programs, got {agent}; choose another.")
        return dict(zip(others, agents, strict=True))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        fresh = seed if seed is not None else int(self.np_random.integers(LARGEST_SEED))
        again = self._started and seed is None
        self.position, self._started = self.position.start_again() if again else self.game.start(fresh), True
        self._close_players()
        self._players = {other: seated(agent, self.game, other, fresh) for other, agent in self.opponents.items()}
        self._seed, self._decisions = fresh, 0
        self._reply()
        return self._observed()

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        before = self.position.returns[self.seat]
        if int(action) in self.position.legal_actions():
            self._play(int(action))
            self._reply()
        observation, info = self._observed()
        return observation, float(self.position.returns[self.seat] - before), self.position.over, False, info

    def _reply(self) -> None:
        """Plays for the opponents until the learning seat is to move or the game is over."""
        while self.position.to_move in self._players:
            seat = self.position.to_move
            seen = seen_by(self.position, seat, self._seed, self._decisions)
            try:
                legal = self.position.legal_actions()
                self._play(int(ask(self._players[seat], seen, seat, self.opponents[seat], legal).action))
            except SeatFailure as failure:
                raise UserError(f"an opponent must play, but {failure}; fix it.") from failure

    def _play(self, action: int) -> None:
        self.position = self.position.play(action)
        self._decisions += 1

    def _close_players(self) -> None:
        close_players(self._players.values())

    def close(self) -> None:
        self._close_players()
        self._players = {}

    def _observed(self) -> tuple[Observation, dict[str, Any]]:
        mask = self._shown.mask(self.position)
        return self._shown.observation(self.position, self.seat), {"action_mask": mask}

    def render(self) -> str | None:
        return rendered(self.game, self.position.state, self.render_mode)
