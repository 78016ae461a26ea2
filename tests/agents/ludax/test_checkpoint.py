"""Checkpoints of Ludax are pickles, which are read without calling anything that they name."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from turnier.agents.ludax.checkpoint import Made, plain, read_checkpoint
from turnier.core.errors import UserError

WEIGHTS = {"az_net/linear": {"w": np.arange(6, dtype=np.float32).reshape(2, 3)}}
STATISTICS = {"az_net/batch_norm/~/mean_ema": {"counter": np.array(7, dtype=np.int32)}}


class Config:
    """As the trainer's, which pydantic pickles."""

    def __init__(self, **values: Any) -> None:
        self.values = values

    def __getstate__(self) -> dict[str, Any]:
        return {"__dict__": self.values}


class Canary:
    """Leaves a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def written(folder: Path, **changes: Any) -> Path:
    config = Config(num_channels=64, num_layers=4, resnet_v2=True)
    data = {"config": config, "model": (WEIGHTS, STATISTICS), "hours": 1.5} | changes
    path = folder / "a.ckpt"
    path.write_bytes(pickle.dumps(data, protocol=4))
    return path


def test_a_checkpoint_is_read(tmp_path: Path) -> None:
    found = read_checkpoint(written(tmp_path))
    assert (found.channels, found.blocks, found.second_version, found.actions) == (64, 4, True, 3)
    weights = found.parameters["az_net/linear"]["w"]
    assert weights.dtype == np.float32 and np.array_equal(weights, WEIGHTS["az_net/linear"]["w"])
    assert found.statistics["az_net/batch_norm/~/mean_ema"]["counter"] == 7


def test_nothing_that_a_checkpoint_names_is_called(tmp_path: Path) -> None:
    canary = tmp_path / "called"
    path = written(tmp_path, hours=Canary(canary))
    assert read_checkpoint(path).channels == 64 and not canary.exists()
    path = written(tmp_path, model=({"az_net/linear": {"w": Canary(canary)}}, STATISTICS))
    with pytest.raises(UserError, match="must be a checkpoint of Ludax' AlphaZero, got another form"):
        read_checkpoint(path)
    assert not canary.exists()
    pickle.loads(path.read_bytes())
    assert canary.exists()  # unpickling does call it


def test_plain_data_is_that_of_pickle() -> None:
    data = {"a": (1, 2.5, None, True), "b": ("x", False, b"bytes", (), {1, 2}), "c": {3: (1,), 300: (1, 2), 70_000: -1}}
    assert plain(pickle.dumps(data, protocol=4)) == data
    assert plain(pickle.dumps(Config(a=1), protocol=4)) == Made(f"{__name__}.Config", (), {"__dict__": {"a": 1}})


@pytest.mark.parametrize("size", [0, 1, 100, -1])
def test_damaged_files_are_refused_in_a_sentence(tmp_path: Path, size: int) -> None:
    path = written(tmp_path)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(UserError, match="must be a checkpoint of Ludax' AlphaZero"):
        read_checkpoint(path)


def test_other_pickles_are_refused_in_a_sentence(tmp_path: Path) -> None:
    for model in (1, (WEIGHTS,), ({"a": np.zeros(2, np.float64)}, {}), ({"a": np.array([Path])}, {})):
        with pytest.raises(UserError, match="got another form"):
            read_checkpoint(written(tmp_path, model=model))
    path = written(tmp_path)
    path.write_bytes(pickle.dumps([1, 2], protocol=0))
    with pytest.raises(UserError, match="got another form"):
        read_checkpoint(path)
