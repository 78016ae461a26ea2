"""Checkpoints of self-play: one file with all that the next generation depends on, written whole or not at all."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turnier.agents.learning.loop import require_same
from turnier.agents.learning.plan import LearningPlan
from turnier.core.array_files import checksum_of, diverged, not_finite, read_arrays, write_learned
from turnier.core.errors import MALFORMED, UserError
from turnier.runs.self_play.model import Model
from turnier.runs.self_play.window import Lessons, Window

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
        """Writes the whole file or leaves it as it was, whatever happens meanwhile."""
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
    """Reads the checkpoint of a plan, and what its model had learned; the latter takes that over.

    Raises UserError if the file is damaged or of another plan.
    """
    config = _read_config(out)
    require_same(out, config["plan"], plan.described())
    window_names = ("moves", *Lessons._fields)
    names = ["points", *model.names, *(f"window_{name}" for name in window_names)]
    try:
        optional = [f"window_{name}" for name in Lessons._fields]
        arrays = read_arrays(out, names, limit=out.stat().st_size, optional=optional)
        checksum = config.pop("checksum")
        if checksum_of(config, arrays) != checksum:
            raise ValueError("it differs from its checksum")
        if name := not_finite(arrays):
            raise diverged("a checkpoint of self-play", out, name, "train into another file")
        model.restore({name: arrays[name] for name in model.names})
        window, game = Window(window_size), plan.game
        found = {name: arrays[f"window_{name}"] for name in window_names if f"window_{name}" in arrays}
        window.restore(found, game.state_words, model.outputs, game.kernels.max_choices)
        points = np.array(arrays["points"], np.float64).reshape(-1, 3)
        return Checkpoint(plan, model, int(config["done"]), int(config["moves"]), points, window)
    except (OSError, ValueError, TypeError, KeyError) as failure:
        raise _damaged(out, failure) from None


def games_of(out: Path) -> int:
    """Returns how many games a checkpoint has learned from."""
    return int(_read_config(out)["done"])


def _read_config(out: Path) -> dict[str, Any]:
    try:
        config: dict[str, Any] = json.loads(str(read_arrays(out, ("config",), limit=out.stat().st_size)["config"]))
        known = config.get("self_play") == FORMAT
        if known and not isinstance(config["plan"], dict):
            raise TypeError("it has no plan")
        int(config["done"] if known else 0)
    except (OSError, *MALFORMED) as failure:
        raise _damaged(out, failure) from None
    if not known:
        raise UserError(f"{out} must be a checkpoint of self-play, which it is not; train into another file.")
    return config


def _damaged(out: Path, failure: Exception) -> UserError:
    reason = f"{failure} is missing" if isinstance(failure, KeyError) else str(failure).rstrip(".")
    return UserError(
        f"a checkpoint of self-play must be undamaged, got {out}: {reason}; restore it from a copy, or train into"
        " another file."
    )
