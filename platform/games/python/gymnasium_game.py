"""A Gymnasium environment as a one-seat game: https://gymnasium.farama.org; searches step copies of it.

Chance draws the seed of the environment's start. After that, random numbers must not change its behaviour: copies draw
the same ones, so a search would foresee the future. Searches do see secrets drawn at the start, such as the order of a
pack of cards.
"""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...core.errors import UserError, require_extra
from ...core.parameters import parameter
from ..abi import CHANCE, TERMINAL
from .python_game import PythonGame

NO_OPTIONS = "none"


class EnvironmentState(NamedTuple):
    """An environment after some steps; only copies of it are stepped."""

    environment: Any
    observation: Any
    legal: tuple[int, ...]  # none if the game is over
    steps: int
    returned: float


@dataclass(frozen=True)
class GymnasiumGame(PythonGame):
    """A Gymnasium environment with discrete actions that can be copied; the sum of its rewards counts."""

    name: ClassVar[str] = "gymnasium"
    id: str = parameter("CartPole-v1", "id of the environment, or MODULE:ID if a module registers it")
    options: str = parameter(
        NO_OPTIONS, "keyword arguments of the environment, such as is_slippery:false;map_name:8x8, or none"
    )
    starts: int = parameter(100, "number of starting seeds, one of which is drawn by chance", low=1, high=10_000)
    max_steps: int = parameter(500, "steps after which a game is over", low=1, high=100_000)
    largest_return: float = parameter(500.0, "largest absolute sum of rewards, for scaling", low=1e-6, high=1e12)

    num_seats: ClassVar[int] = 1

    @property
    def num_actions(self) -> int:  # type: ignore[override]
        return int(self.environment.action_space.n)

    @property
    def max_legal(self) -> int:  # type: ignore[override]
        return self.num_actions

    @property
    def max_outcomes(self) -> int:  # type: ignore[override]
        return self.starts

    @property
    def max_length(self) -> int:  # type: ignore[override]
        return self.max_steps + 1  # with the outcome that draws the start

    @property
    def max_return(self) -> float:  # type: ignore[override]
        return self.largest_return

    @functools.cached_property
    def environment(self) -> Any:
        """The environment before its first start; raises UserError if it cannot be a game."""
        gymnasium, what, options = the_package(), f"{self.name}: {self.id}", arguments(self.options)
        try:
            made = gymnasium.make(self.id, max_episode_steps=-1, disable_env_checker=True, **options)
        except Exception as error:  # the environment's own code may raise anything
            raise UserError(f"{what} must be an environment that Gymnasium makes, got: {first_line(error)}.") from error
        if not isinstance(made.action_space, gymnasium.spaces.Discrete):
            raise UserError(f"{what} must have discrete actions, got {made.action_space}; choose another environment.")
        try:
            _, info = made.reset(seed=0)
            action = int(made.action_space.start) + allowed(info, int(made.action_space.n))[0]
            first, second = copied(made), copied(made)
            outcome = first.step(action)
            same = all(outcomes_agree(outcome, other.step(action)) for other in (second, made))
        except Exception as error:
            raise UserError(f"{what} must be copied by copy.deepcopy, got: {first_line(error)}.") from error
        if not same:
            raise UserError(f"{what} must do the same as its copies, got two outcomes of one action; choose another.")
        return made

    def begin(self) -> EnvironmentState | None:
        return self._started(0) if self.starts == 1 else None

    def to_move(self, state: EnvironmentState | None) -> int:
        if state is None:
            return CHANCE
        return 0 if state.legal else TERMINAL

    def outcomes(self, state: EnvironmentState | None) -> list[tuple[int, float]]:
        return [(seed, 1 / self.starts) for seed in range(self.starts)]

    def legal(self, state: EnvironmentState) -> Sequence[int]:
        return state.legal

    def step(self, state: EnvironmentState | None, ply: int) -> tuple[EnvironmentState, Sequence[float]]:
        if state is None:
            return self._started(ply), (0.0,)
        action = int(self.environment.action_space.start) + ply
        environment = copied(state.environment)
        outcome = environment.step(action)
        if drawn(environment) != drawn(state.environment):
            self._require_no_chance(state, action, outcome)
        observation, reward, terminated, truncated, info = outcome
        steps, returned = state.steps + 1, state.returned + float(reward)
        if not abs(returned) <= self.largest_return:
            raise UserError(
                f"{self.name}: the sum of rewards must be within largest_return = {self.largest_return:g}, got"
                f" {returned:g}; declare a larger one."
            )
        over = terminated or truncated or steps == self.max_steps
        legal = () if over else allowed(info, self.num_actions)
        return EnvironmentState(environment, observation, legal, steps, returned), (float(reward),)

    def show(self, state: EnvironmentState | None) -> str:
        """Returns the latest observation."""
        if state is None:
            return "before the start"
        seen = np.array2string(np.asarray(state.observation), precision=3, suppress_small=True)
        return f"step {state.steps}, return {state.returned:g}: {seen}"

    def _started(self, seed: int) -> EnvironmentState:
        environment = copied(self.environment)
        observation, info = environment.reset(seed=seed)
        return EnvironmentState(environment, observation, allowed(info, self.num_actions), 0, 0.0)

    def _require_no_chance(self, state: EnvironmentState, action: int, outcome: tuple[Any, ...]) -> None:
        """Raises UserError if other random numbers change the outcome of an action."""
        other = copied(state.environment)
        other.unwrapped.np_random = np.random.default_rng([state.steps, action])
        if not outcomes_agree(outcome, other.step(action)):
            raise UserError(
                f"{self.name}: {self.id} must not depend on random numbers after its start, got two outcomes of action"
                f" {action}; choose a variant without chance, such as options=is_slippery:false."
            )


def the_package() -> Any:
    """Returns the package gymnasium; raises UserError if it is missing."""
    require_extra("an environment of Gymnasium", "gym", "gymnasium")
    import gymnasium

    return gymnasium


def arguments(options: str) -> dict[str, Any]:
    """Returns the keyword arguments of `name:value;name:value`; values are JSON, otherwise words."""
    found = {}
    for option in () if options == NO_OPTIONS else options.split(";"):
        name, colon, value = option.partition(":")
        if not colon or not name.isidentifier():
            raise UserError(f"gymnasium: options must be NAME:VALUE;NAME:VALUE or {NO_OPTIONS}, got {options!r}.")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def allowed(info: dict[str, Any], num_actions: int) -> tuple[int, ...]:
    """Returns the actions that an environment's mask allows; all actions if there is no mask or an empty one."""
    return tuple(np.flatnonzero(info.get("action_mask", ())).tolist() or range(num_actions))


def copied(environment: Any) -> Any:
    """Returns a copy that shares the parts that no step changes: the spaces and the specification."""
    shared = (environment.spec, environment.unwrapped.spec, environment.observation_space, environment.action_space)
    return copy.deepcopy(environment, {id(each): each for each in shared})


def drawn(environment: Any) -> Any:
    """Returns the state of an environment's random numbers, which changes with every draw."""
    return environment.unwrapped.np_random.bit_generator.state


def outcomes_agree(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether two steps gave the same observation, reward and end."""
    from gymnasium.utils.env_checker import data_equivalence

    return bool(data_equivalence(one[:4], other[:4], exact=True))


def first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
