"""Random numbers for kernels: xoshiro256++ on an explicit array of four words, with streams derived from a seed.

Source: Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021. A draw costs under a nanosecond,
numba's own generator objects fifty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .kernel import kernel, types

Rng = types.Array(types.uint64, 1, "C")  # the type of a stream, [4]

_17, _19, _23, _32, _41, _45, _11 = (np.uint64(n) for n in (17, 19, 23, 32, 41, 45, 11))
_27, _30, _31 = (np.uint64(n) for n in (27, 30, 31))
# 2**64 / the golden ratio, a good factor to hash by, and the factors of splitmix64.
GOLDEN, MIX1, MIX2 = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
STREAM_STEP = np.uint64(4 * 0x9E3779B97F4A7C15 % 2**64)  # streams of seeds this far apart share no word
_WORD = types.uint64


def streams(seed: int, count: int) -> npt.NDArray[np.uint64]:
    """Returns `count` independent generator states, [count, 4], for a non-negative seed of any size."""
    words: npt.NDArray[Any] = np.random.SeedSequence(seed).generate_state(4 * count, np.uint64)
    return words.reshape(count, 4)


def streams_of(seeds: Sequence[int], count: int) -> npt.NDArray[np.uint64]:
    """Returns the `streams` of many seeds, [seeds, count, 4]: numpy's SeedSequence (O'Neill 2015), by columns."""
    if not seeds or max(seeds) >= 1 << 64:
        return np.array([streams(seed, count) for seed in seeds], np.uint64).reshape(-1, count, 4)
    words = np.array(seeds, np.uint64)
    entropy = [(words & np.uint64(0xFFFFFFFF)).astype(np.uint32), (words >> np.uint64(32)).astype(np.uint32)]
    none = np.zeros(len(words), np.uint32)
    mixed = _Hash(0x43B0D7E5, 0x931E8875)
    pool = [mixed.next(word) for word in (*entropy, none, none)]
    for source in range(4):
        for target in range(4):
            if source != target:
                both = pool[target] * np.uint32(0xCA01F9DD) - mixed.next(pool[source]) * np.uint32(0x4973F715)
                pool[target] = both ^ (both >> np.uint32(16))
    drawn = _Hash(0x8B51F9DD, 0x58F38DED)
    state = np.stack([drawn.next(pool[i % 4]) for i in range(8 * count)], axis=1)
    return state.astype("<u4").view("<u8").astype(np.uint64).reshape(len(words), count, 4)


class _Hash:
    """SeedSequence's hash of 32-bit words; its constant changes with every call."""

    def __init__(self, constant: int, factor: int) -> None:
        self._constant, self._factor = constant, factor

    def next(self, words: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        words = words ^ np.uint32(self._constant)
        self._constant = self._constant * self._factor & 0xFFFFFFFF
        words = words * np.uint32(self._constant)
        return words ^ (words >> np.uint32(16))


@kernel(types.UniTuple(_WORD, 5)(_WORD, _WORD, _WORD, _WORD))
def xoshiro(s0, s1, s2, s3):
    """Returns (word, s0, s1, s2, s3): one step as a pure function, for loops that keep the state in registers."""
    total = s0 + s3
    word = ((total << _23) | (total >> _41)) + s0
    shifted = s1 << _17
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    s3 = (s3 << _45) | (s3 >> _19)
    return word, s0, s1, s2, s3


@kernel(_WORD(Rng))
def next_word(rng):
    """Draws 64 random bits."""
    word, rng[0], rng[1], rng[2], rng[3] = xoshiro(rng[0], rng[1], rng[2], rng[3])
    return word


@kernel(types.int64(Rng, types.int64))
def below(rng, n):
    """Draws an integer from 0 to n - 1, n < 2**32; the bias is below n / 2**32."""
    return np.int64(((next_word(rng) >> _32) * np.uint64(n)) >> _32)


@kernel(types.float64(Rng))
def uniform(rng):
    """Draws a float from [0, 1) with 53 random bits."""
    return np.float64(next_word(rng) >> _11) * (1.0 / 9007199254740992.0)


@kernel(_WORD(_WORD, _WORD))
def fold(word, shift):
    """Mixes a word's high bits into its low ones, as hashes do between multiplications."""
    return word ^ (word >> shift)


@kernel(types.void(_WORD, Rng))
def seed_stream(seed, rng):
    """Fills a generator state from 64 bits, by splitmix64 as the authors of xoshiro advise."""
    for i in range(4):
        seed += GOLDEN
        word = fold(seed, _30) * MIX1
        word = fold(word, _27) * MIX2
        rng[i] = fold(word, _31)


@kernel(types.void(Rng, types.Array(_WORD, 2, "C")))
def fork_streams(rng, own):
    """Fills n generator states, [n, 4 or more], from the next n words of another."""
    for i in range(own.shape[0]):
        seed_stream(next_word(rng), own[i])


def stream(seed: int) -> Any:
    """Returns one generator state, [4]."""
    return streams(seed, 1)[0]
