"""Checkpoints of self-play: one file with everything that later generations need, written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...agents.learning.loop import require_same
from ...agents.learning.plan import LearningPlan
from ...core.array_files import NetworkFiles, checksum_of, write_learned
from .model import Model
from .window import Lessons, Window

FORMAT = 1


@dataclass(frozen=True)
class Checkpoint:
    plan: LearningPlan
    model: Model
    done: int  # games
    moves: int
    points: npt.NDArray[np.float64]  # [points, 3] see Points
    window: Window

    def save(self, path: Path) -> None:
        """Writes the whole file, or leaves it unchanged if anything fails."""
        arrays: dict[str, npt.NDArray[Any]] = {"points": self.points, **self.model.arrays()}
        arrays |= {f"window_{name}": array for name, array in self.window.arrays().items()}
        config = {
            "self_play": FORMAT,
            "plan": self.plan.described(),
            "network": self.model.described(),
            "done": self.done,
            "moves": self.moves,
        }
        config["checksum"] = checksum_of(config, arrays)
        write_learned(path, "the checkpoint", {"config": np.array(json.dumps(config)), **arrays})


def load(out: Path, plan: LearningPlan, model: Model, window_size: int) -> Checkpoint:
    """Reads the checkpoint of a plan, and restores its model.

    Raises UserError if the file is damaged or of another plan.
    """
    kept = {name: f"window_{name}" for name in ("moves", *Lessons._fields)}
    config, arrays = FILES.read(out, also=lambda config: ["points", *model.names, *kept.values()])
    require_same(out, config["plan"], plan.described())
    try:
        checksum = config.pop("checksum")
        if checksum_of(config, arrays) != checksum:
            raise ValueError("it differs from its checksum")
        model.restore({name: arrays[name] for name in model.names})
        window, game = Window(window_size), plan.game
        found = {name: arrays[stored] for name, stored in kept.items()}
        window.restore(found, game.state_words, model.outputs, game.kernels.max_choices)
        points = np.array(arrays["points"], np.float64).reshape(-1, 3)
        return Checkpoint(plan, model, int(config["done"]), int(config["moves"]), points, window)
    except (ValueError, TypeError, KeyError) as failure:
        raise FILES.damaged(out, failure) from None


def games_of(out: Path) -> int:
    """Returns the number of games that a checkpoint has learned from."""
    return int(FILES.read(out)[0]["done"])


def _check(config: Mapping[str, Any]) -> None:
    if not isinstance(config["plan"], dict):
        raise TypeError("it has no plan")
    int(config["done"])


FILES = NetworkFiles(
    "a checkpoint of self-play",
    "that `turnier train GAME puct` wrote",
    "train into another file",
    lambda config: config.get("self_play") == FORMAT,
    _check,
)
