"""Networks that have learned a little."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from turnier.agents.ntuple.evaluator import NTuple
from turnier.agents.ntuple.td import td_of
from turnier.agents.ntuple.training import Plan, TdLoop
from turnier.agents.registry import EVALUATORS
from turnier.games.registry import make_game


@pytest.fixture
def trained(tmp_path: Path) -> Callable[..., Path]:
    """Returns what trains a network on a game, of values or as a policy, and returns its file."""

    def train(game: str, network: str, policy: bool = False) -> Path:
        evaluator, out = EVALUATORS.make(network), tmp_path / ("policy.npz" if policy else "w.npz")
        assert isinstance(evaluator, NTuple)
        plan = Plan(make_game(game), evaluator, td_of("td(epsilon=0.3)"), seed=3 if policy else 1)
        loop = TdLoop(plan, out, 60)
        loop.run(checked=False)
        if policy:  # any weights are one
            weights = loop.weights()
            dataclasses.replace(weights, training=weights.training | {"policy": True}).save(out)
        return out

    return train
