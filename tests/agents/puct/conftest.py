"""Networks that have learned a little."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from turnier.agents.ntuple.evaluator import NTuple
from turnier.agents.ntuple.td import LEARNING
from turnier.agents.ntuple.training import Plan, TrainingLoop
from turnier.agents.registry import EVALUATORS
from turnier.games.registry import make_game


@pytest.fixture
def trained(tmp_path: Path) -> Callable[[str, str], Path]:
    """Returns what trains a network on a game and returns its file."""

    def train(game: str, network: str) -> Path:
        evaluator = EVALUATORS.make(network)
        assert isinstance(evaluator, NTuple)
        plan = Plan(make_game(game), evaluator, LEARNING.make("td(epsilon=0.3)"))
        TrainingLoop(plan, tmp_path / "w.npz", 60).run()
        return tmp_path / "w.npz"

    return train
