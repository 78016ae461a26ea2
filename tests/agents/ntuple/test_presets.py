"""What `turnier train 2048 --hours` chooses."""

from __future__ import annotations

import pytest

from turnier.agents.ntuple.plans.presets import preset_for
from turnier.agents.ntuple.td import td_of
from turnier.agents.registry import EVALUATORS
from turnier.games.registry import make_game


@pytest.mark.parametrize(
    ("hours", "threads", "network"), [(0.01, 1, "4x6"), (0.02, 2, "8x6"), (0.7, 2, "8x6"), (2.0, 2, "8x6")]
)
def test_the_network_goes_with_the_hours_of_all_cores(hours: float, threads: int, network: str) -> None:
    preset = preset_for(make_game("2048"), hours, threads)
    assert EVALUATORS.make(preset.network) == EVALUATORS.make(f"ntuple(network={network})")
    assert td_of(preset.learning) == td_of("td(trace=0.5,horizon=3,delayed=true)")
