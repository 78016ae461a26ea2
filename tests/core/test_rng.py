"""The generator against xoshiro256++ written independently on Python's integers, and its published first words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from turnier.core.kernel import JIT
from turnier.core.rng import below, next_word, seed_stream, stream, streams, streams_of, uniform, xoshiro

MASK = 2**64 - 1
WORDS = st.integers(0, MASK)
STATES = st.tuples(WORDS, WORDS, WORDS, WORDS)
DRAWS = 20_000 if JIT else 2_000

# The first words from the state 1, 2, 3, 4, as other implementations of xoshiro256++ publish them for their tests.
FIRST_WORDS = [
    41943041,
    58720359,
    3588806011781223,
    3591011842654386,
    9228616714210784205,
    9973669472204895162,
    14011001112246962877,
    12406186145184390807,
    15849039046786891736,
    10450023813501588000,
]


def rotate(x: int, k: int) -> int:
    return ((x << k) | (x >> (64 - k))) & MASK


def reference(s: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """Returns a word and the next state, after the authors' description: rotl(s0 + s3, 23) + s0."""
    s0, s1, s2, s3 = s
    word = (rotate((s0 + s3) & MASK, 23) + s0) & MASK
    t = (s1 << 17) & MASK
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    return word, (s0, s1, s2 ^ t, rotate(s3, 45))


def test_the_published_first_words() -> None:
    rng = np.array([1, 2, 3, 4], np.uint64)
    assert [int(next_word(rng)) for _ in FIRST_WORDS] == FIRST_WORDS


def test_a_seed_of_64_bits_gives_the_published_words_of_splitmix64() -> None:
    """The first words from the seed 1234567, as other implementations of splitmix64 publish them for their tests."""
    words = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    rng = np.zeros(4, np.uint64)
    seed_stream(np.uint64(1234567), rng)
    assert [int(word) for word in rng] == words


@given(STATES)
def test_words_and_states_are_the_references(state: tuple[int, ...]) -> None:
    rng = np.array(state, np.uint64)
    for _ in range(5):
        word, state = reference(state)
        pure = xoshiro(*rng)
        assert int(next_word(rng)) == word
        assert tuple(int(w) for w in rng) == state
        assert tuple(int(w) for w in pure) == (word, *state)


@given(STATES, st.integers(1, 2**32 - 1))
def test_below_is_the_upper_half_of_the_word_scaled(state: tuple[int, ...], n: int) -> None:
    got = int(below(np.array(state, np.uint64), n))
    assert got == (reference(state)[0] >> 32) * n >> 32
    assert 0 <= got < n


@pytest.mark.parametrize("n", [1, 2, 3, 6, 2**31, 2**32 - 1])
def test_below_reaches_both_ends(n: int) -> None:
    """The smallest word gives 0 and the largest n - 1: s0 = 0 and s3 are chosen so that the word is s3 rotated."""
    assert below(np.array([0, 1, 2, 0], np.uint64), n) == 0
    assert below(np.array([0, 1, 2, MASK], np.uint64), n) == n - 1


@given(STATES)
def test_uniform_has_the_upper_53_bits(state: tuple[int, ...]) -> None:
    got = float(uniform(np.array(state, np.uint64)))
    assert got == (reference(state)[0] >> 11) / 2**53
    assert 0 <= got < 1


def test_uniform_never_reaches_one() -> None:
    assert uniform(np.array([0, 1, 2, MASK], np.uint64)) == 1 - 2**-53


@given(st.integers(0, 2**200), st.integers(1, 8))
def test_streams_are_reproducible_and_differ(seed: int, count: int) -> None:
    table = streams(seed, count)
    assert table.shape == (count, 4) and table.dtype == np.uint64
    assert np.array_equal(table, streams(seed, count))
    assert np.array_equal(table[0], stream(seed))
    assert len({tuple(row) for row in [*table.tolist(), *streams(seed + 1, count).tolist()]}) == 2 * count


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(ValueError, match="non-negative"):
        stream(-1)


@given(st.lists(st.integers(0, 2**64 - 1), max_size=5), st.integers(1, 7))
def test_streams_of_many_seeds_are_those_of_each(seeds: list[int], count: int) -> None:
    for some in (seeds, [*seeds, 0, 2**32 - 1, 2**32, 2**63 - 1], [*seeds, 2**64, 2**200]):
        found = streams_of(some, count)
        assert found.dtype == np.uint64 and found.shape == (len(some), count, 4)
        for seed, table in zip(some, found, strict=True):
            assert np.array_equal(table, streams(seed, count))


def test_streams_are_uniform_and_uncorrelated() -> None:
    """Streams of one seed and of neighbouring seeds: each uniform, no two correlated."""
    generators = [*streams(0, 3), *streams(1, 3)]
    draws = np.array([[uniform(rng) for _ in range(DRAWS)] for rng in generators])
    assert all(stats.kstest(row, "uniform").pvalue > 1e-6 for row in draws)
    correlation = np.corrcoef(draws) - np.eye(len(draws))
    assert np.abs(correlation).max() < 5 / np.sqrt(DRAWS)


def test_below_is_even() -> None:
    rng = stream(3)
    counts = np.bincount([below(rng, 6) for _ in range(DRAWS)], minlength=6)
    assert stats.chisquare(counts).pvalue > 1e-6
