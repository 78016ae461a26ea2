"""MatchSpec and MatchRecord as data: stable ids, JSON, packed plies, derived seeds."""

from __future__ import annotations

import dataclasses
import itertools
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnier.arena.match import MatchSpec, Termination, derive_seed, pack_plies, unpack_plies

SPEC = MatchSpec("tictactoe", ("mc(iterations=10)", "random"), 42)
SPECS = st.builds(
    MatchSpec,
    st.text(),
    st.lists(st.text(), min_size=1, max_size=6).map(tuple),
    st.integers(0, 2**63 - 1),
    st.integers(0, 10_000),
    st.lists(st.integers(0, 100), max_size=3).map(tuple),
)


def test_the_id_is_pinned() -> None:
    """Stores know matches by this hash: if it changes, every stored match is played again."""
    assert SPEC.id == "33667b552653e30e95cb928c746f17ac"
    assert MatchSpec("2048(size=4)", ("random",), 0, 100).id == "b2109c481366157acf92752537db84fc"


@given(SPECS)
def test_json_round_trip(spec: MatchSpec) -> None:
    """A spec comes back from JSON text as it was, with its id; agents are a tuple again."""
    again = MatchSpec.from_json(json.loads(json.dumps(spec.to_json())))
    assert again == spec and again.id == spec.id and hash(again) == hash(spec)
    assert isinstance(again.agents, tuple)


@given(SPECS, SPECS)
def test_ids_differ_exactly_where_specs_do(one: MatchSpec, other: MatchSpec) -> None:
    assert (one.id == other.id) == (one == other)
    assert one.id == dataclasses.replace(one).id
    assert len(one.id) == 32 and set(one.id) <= set("0123456789abcdef")


@pytest.mark.parametrize(
    "changes",
    [
        {"game": "tictactoe2"},
        {"agents": ("random", "mc(iterations=10)")},
        {"agents": ("mc(iterations=10)",)},
        {"agents": ("mc(iterations=10)", "random", "random")},
        {"agents": ("mc(iterations=10),random", "")},
        {"seed": 43},
        {"max_plies": 1},
        {"opening": (1,)},
    ],
)
def test_every_field_is_part_of_the_id(changes: dict[str, Any]) -> None:
    assert dataclasses.replace(SPEC, **changes).id != SPEC.id


def test_a_spec_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        SPEC.seed = 1  # type: ignore[misc]


@given(st.lists(st.integers(0, 2**32 - 1)) | st.lists(st.integers(0, 255)) | st.lists(st.integers(0, 65_535)))
def test_plies_come_back_as_they_were(plies: list[int]) -> None:
    """Packing is exact for plies up to 32 bits, and takes the narrowest of one, two and four bytes a ply."""
    packed = pack_plies(np.array(plies, np.int64))
    unpacked = unpack_plies(packed)
    assert unpacked.tolist() == plies and unpacked.dtype == np.int64
    largest = max(plies, default=0)
    assert packed[0] == (largest > 255) + (largest > 65_535)


@pytest.mark.parametrize("largest", [0, 1, 255, 256, 65_535, 65_536, 2**32 - 1])
def test_the_width_changes_at_the_right_ply(largest: int) -> None:
    plies = np.array([0, largest, 3], np.int64)
    assert unpack_plies(pack_plies(plies)).tolist() == [0, largest, 3]


def test_many_plies_are_small() -> None:
    """A recorded game of 2,000 random plies of 2048 takes less than a byte per ply."""
    plies = np.random.default_rng(1).integers(0, 32, 2000)
    assert len(pack_plies(plies)) < 2000
    assert unpack_plies(pack_plies(plies[:0])).tolist() == []


def test_derived_seeds_are_pinned() -> None:
    """Seeds of tournaments that were started with an earlier version must stay the same."""
    assert derive_seed() == 456294878752975271
    assert derive_seed(1, "pair", 0) == 9056782818095316262


PARTS = st.lists(st.integers(-(2**70), 2**70) | st.text(max_size=8), max_size=5)


@given(PARTS, PARTS)
def test_derived_seeds_depend_on_all_parts_and_their_order(one: list[int | str], other: list[int | str]) -> None:
    """Equal parts give equal seeds, all others different ones, of 63 bits that numpy's SeedSequence takes."""
    same = [(type(part), part) for part in one] == [(type(part), part) for part in other]
    assert (derive_seed(*one) == derive_seed(*other)) == same
    assert 0 <= derive_seed(*one) < 2**63


def test_similar_parts_give_different_seeds() -> None:
    """Neither joining parts nor their type is lost, and neighbouring numbers are not neighbouring seeds."""
    parts: list[tuple[int | str, ...]] = [
        (),
        ("",),
        ("ab", "c"),
        ("a", "bc"),
        ("abc",),
        (1, 2),
        (2, 1),
        (12,),
        ("1", 2),
        ("[1,2]",),
        *((seed, "game", pair) for seed in range(20) for pair in range(20)),
    ]
    seeds = [derive_seed(*part) for part in parts]
    assert len(set(seeds)) == len(parts)
    gaps = [abs(a - b) for a, b in itertools.pairwise(sorted(seeds))]
    assert min(gaps) > 2**40
    assert 0.4 < sum(seed.bit_count() for seed in seeds) / (63 * len(seeds)) < 0.6


def test_terminations_are_words() -> None:
    """Records store the word, so these words stay part of the format."""
    assert {"normal", "illegal_action", "limit", "error"} <= {str(termination) for termination in Termination}
    assert Termination("limit") is Termination.LIMIT


@pytest.mark.parametrize(
    "change", [{"seed": -1}, {"seed": "x"}, {"seed": True}, {"agents": []}, {"agents": [1]}, {"opening": [1.5]}]
)
def test_data_of_no_match_are_refused(change: dict[str, object]) -> None:
    data = MatchSpec("tictactoe", ("random", "random"), 3, opening=(4,)).to_json()
    assert MatchSpec.from_json(data).to_json() == data
    with pytest.raises(ValueError, match=r"must have a game and agents|must be whole numbers from 0"):
        MatchSpec.from_json(data | change)
