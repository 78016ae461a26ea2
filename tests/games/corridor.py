"""A Gymnasium environment for tests, with every fault that a game of it must notice."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces

LENGTH = 5


class Corridor(gymnasium.Env[int, np.int64]):
    """Actions 1 (back) and 2 (forth) walk along a corridor to its end, which is worth 1; back is masked at the start.

    Args:
        fault: chance (steps slip now and then), shrug (steps draw numbers that do not matter), lock (holds what cannot
            be copied), shared (copies share where they are), raises or nan (as a reward), both in the third step.
    """

    shared: ClassVar[list[int]] = [0]

    def __init__(self, fault: str = "") -> None:
        self.fault = fault
        self.observation_space, self.action_space = spaces.Discrete(LENGTH + 1), spaces.Discrete(2, start=1)
        self.place, self.steps = 0, 0
        self.lock = threading.Lock() if fault == "lock" else None

    def _seen(self) -> tuple[int, dict[str, Any]]:
        return self.place, {"action_mask": np.array([self.place > 0, True], np.int8)}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.steps = int(self.np_random.integers(2)), 0
        return self._seen()

    def step(self, action: np.int64) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        slips = self.fault in ("chance", "shrug") and self.np_random.random() < 0.5
        self.place += 0 if slips and self.fault == "chance" else 2 * int(action) - 3
        if self.fault == "shared":
            self.shared[0] += 1
            self.place = self.shared[0] % LENGTH
        if self.fault == "raises" and self.steps == 3:
            raise RuntimeError("the floor is wet")
        over = self.place == LENGTH
        reward = float("nan") if self.fault == "nan" and self.steps == 3 else float(over)
        place, info = self._seen()
        return place, reward, over, False, info


gymnasium.register("corridor-v0", entry_point=Corridor)
