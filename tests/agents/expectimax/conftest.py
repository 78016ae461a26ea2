"""Networks of random entries, for searches of 2048."""

from __future__ import annotations

import numpy as np
import pytest

from tests.agents.expectimax.networks import NETWORKS
from turnier.agents.ntuple.weights import Weights
from turnier.agents.registry import EVALUATORS
from turnier.games.registry import make_game


@pytest.fixture(scope="session")
def networks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Evaluators with random entries of both signs, from points to thousands of them."""
    found = {}
    for name, (text, learning) in NETWORKS.items():
        evaluator, path = EVALUATORS.make(f"ntuple({text})"), tmp_path_factory.mktemp("w") / f"{name}.npz"
        network = evaluator.network_for(make_game("2048"))  # type: ignore[attr-defined]
        draws = np.random.default_rng(5)
        entries = (draws.normal(size=(network.entries, 1)) * 10 ** draws.uniform(0, 4, (network.entries, 1))).astype(
            np.float32
        )
        training = dict.fromkeys(("seed", "every", "games", "done", "moves"), 0)
        described = {"game": network.game, "evaluator": evaluator.full_text(), "learning": learning, "points": []}
        places, curve = np.arange(network.entries), np.zeros((0, 4))
        Weights(network, 0.0, places, entries, training | described, curve).save(path)
        found[name] = f"ntuple(file={path})"
    return found
