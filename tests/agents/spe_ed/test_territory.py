"""Floods against plain Python: whose cells are, over walls too, and who is alone."""

from __future__ import annotations

import numpy as np
import pytest

from tests.agents.spe_ed import naive_spe_ed as naive
from tests.agents.spe_ed import naive_territory
from tests.agents.spe_ed.boards import field_of, scattered
from turnier.agents.spe_ed.search.field import ALIVE, OUT, STANDS, stride_of, walkers_of
from turnier.agents.spe_ed.search.territory import SPACE_ROWS, is_apart, own_share
from turnier.games.spe_ed.board import X, Y


@pytest.mark.parametrize(("jump_steps", "neighbours", "decided"), [(0, 0.0, 0.0), (3, 0.0, 0.0), (9, 0.5, 0.3)])
@pytest.mark.parametrize("seed", range(12))
def test_territories_are_the_cells_reached_first(seed: int, jump_steps: int, neighbours: float, decided: float) -> None:
    game, state = scattered(12, 9, 3, seed, (0.3, 0.5, 0.6)[seed % 3])
    field, free = field_of(game, state), naive.free_cells(game, state)
    walkers, space = walkers_of(state, [0, 1, 2]), np.full((SPACE_ROWS, field.size), 7, np.int32)
    walkers[1, ALIVE] = STANDS  # is there all the same
    heads = [(int(state[X + seat]), int(state[Y + seat])) for seat in range(3)]
    stride, options = int(stride_of(state)), (jump_steps, neighbours, decided)
    for players in (3, 2):
        walkers[players:, ALIVE] = OUT
        wanted = naive_territory.own_share(heads[:players], free, *options)
        assert own_share(field, stride, walkers, *options, space) == pytest.approx(wanted)


def test_all_of_it_is_met_by_these_boards() -> None:
    """Among the boards above are some with jumps that matter, and some whose first player is shut off."""
    jumped, shut = 0, 0
    for seed in range(12):
        game, state = scattered(12, 9, 3, seed, (0.3, 0.5, 0.6)[seed % 3])
        free = naive.free_cells(game, state)
        heads = [(int(state[X + seat]), int(state[Y + seat])) for seat in range(3)]
        jumped += naive_territory.own_share(heads, free, 3) != naive_territory.own_share(heads, free)
        shut += naive_territory.own_share(heads, free, decided=0.3) != naive_territory.own_share(heads, free)
    assert jumped > 3 and shut > 1


@pytest.mark.parametrize("jump", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_who_is_apart_cannot_be_reached(seed: int, jump: bool) -> None:
    game, state = scattered(12, 9, 3, seed, (0.4, 0.55, 0.65)[seed % 3])
    field, free = field_of(game, state), naive.free_cells(game, state)
    heads = [(int(state[X + seat]), int(state[Y + seat])) for seat in range(3)]
    walkers, space = walkers_of(state, [0, 1, 2]), np.full((SPACE_ROWS, field.size), 7, np.int32)
    for players in (3, 2):
        walkers[players:, ALIVE] = OUT
        wanted = not naive_territory.comes_to(heads[0], heads[1:players], free, jump)
        assert is_apart(field, int(stride_of(state)), walkers, jump, space) == wanted
