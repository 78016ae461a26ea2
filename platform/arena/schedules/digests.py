"""SHA-256 of texts that differ in one number, many at once: the ids and seeds of matches.

Source: FIPS 180-4. The part that all texts share is hashed once; calling hashlib takes several times as long.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...core.kernel import JIT, kernel, types

FEW = 64  # texts for which hashlib is fast enough: nothing is compiled for a small tournament
_U1, _U2, _W1 = types.Array(types.uint8, 1, "C"), types.Array(types.uint8, 2, "C"), types.Array(types.uint32, 1, "C")
_DIGITS = 19  # of the largest number


def _primes(count: int) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % prime for prime in found):
            found.append(number)
        number += 1
    return found


def _root_bits(number: int, power: int) -> int:
    """Returns the first 32 bits of the fractional part of a square or cube root."""
    low, high = 0, number << 32
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**power <= number << 32 * power else (low, middle - 1)
    return low & 0xFFFFFFFF


_ROUNDS = np.array([_root_bits(prime, 3) for prime in _primes(64)], np.uint32)
_BEGIN = np.array([_root_bits(prime, 2) for prime in _primes(8)], np.uint32)


@kernel(types.uint32(types.uint32, types.uint32))
def _turned(word, bits):
    return np.uint32((word >> bits) | (word << np.uint32(np.uint32(32) - bits)))


@kernel(types.void(_W1, _U1, types.int64, _W1))
def _add_block(state, data, first, words):
    """Hashes the 64 bytes of `data` from `first` on into a state, [8]; `words`, [64], is scratch space."""
    for i in range(16):
        at = first + 4 * i
        words[i] = np.uint32(
            (np.uint32(data[at]) << np.uint32(24))
            | (np.uint32(data[at + 1]) << np.uint32(16))
            | (np.uint32(data[at + 2]) << np.uint32(8))
            | np.uint32(data[at + 3])
        )
    for i in range(16, 64):
        old, new = words[i - 15], words[i - 2]
        low = _turned(old, np.uint32(7)) ^ _turned(old, np.uint32(18)) ^ np.uint32(old >> np.uint32(3))
        high = _turned(new, np.uint32(17)) ^ _turned(new, np.uint32(19)) ^ np.uint32(new >> np.uint32(10))
        words[i] = np.uint32(words[i - 16] + low + words[i - 7] + high)
    a, b, c, d = state[0], state[1], state[2], state[3]
    e, f, g, h = state[4], state[5], state[6], state[7]
    for i in range(64):
        high = _turned(e, np.uint32(6)) ^ _turned(e, np.uint32(11)) ^ _turned(e, np.uint32(25))
        one = np.uint32(h + high + ((e & f) ^ (~e & g)) + _ROUNDS[i] + words[i])
        low = _turned(a, np.uint32(2)) ^ _turned(a, np.uint32(13)) ^ _turned(a, np.uint32(22))
        two = np.uint32(low + ((a & b) ^ (a & c) ^ (b & c)))
        h, g, f, e = g, f, e, np.uint32(d + one)
        d, c, b, a = c, b, a, np.uint32(one + two)
    state[0], state[1], state[2], state[3] = state[0] + a, state[1] + b, state[2] + c, state[3] + d
    state[4], state[5], state[6], state[7] = state[4] + e, state[5] + f, state[6] + g, state[7] + h


@kernel(types.void(_U1, types.Array(types.int64, 1, "C"), _U1, _W1, _U2))
def hash_numbers(begin, numbers, end, first, digests):
    """Fills [n, 32] with the SHA-256 of begin + number + end for n numbers from 0; `first`, [8], begins every hash."""
    shared, words = np.empty(8, np.uint32), np.empty(64, np.uint32)
    state, digits = np.empty(8, np.uint32), np.empty(_DIGITS, np.uint8)
    rest = begin.size % 64
    buffer = np.zeros(rest + _DIGITS + end.size + 72, np.uint8)
    for i in range(8):
        shared[i] = first[i]
    for block in range(begin.size // 64):
        _add_block(shared, begin, 64 * block, words)
    for i in range(rest):
        buffer[i] = begin[begin.size - rest + i]
    for n in range(numbers.size):
        number, count, length = numbers[n], 0, rest
        while count == 0 or number > 0:
            digits[count] = 48 + number % 10
            number //= 10
            count += 1
        for i in range(count):
            buffer[length] = digits[count - 1 - i]
            length += 1
        for i in range(end.size):
            buffer[length] = end[i]
            length += 1
        bits, blocks = 8 * (begin.size - rest + length), (length + 9 + 63) // 64
        buffer[length] = 128
        for i in range(length + 1, 64 * blocks):
            buffer[i] = 0
        for i in range(8):
            buffer[64 * blocks - 1 - i] = (bits >> (8 * i)) & 255
            state[i] = shared[i]
        for block in range(blocks):
            _add_block(state, buffer, 64 * block, words)
        for i in range(32):
            digests[n, i] = (state[i // 4] >> np.uint32(24 - 8 * (i % 4))) & np.uint32(255)


def digests_of(begin: bytes, numbers: npt.NDArray[np.int64], end: bytes) -> npt.NDArray[np.uint8]:
    """Returns the SHA-256 of begin + number + end, [n, 32], for whole numbers from 0, [n]."""
    if len(numbers) < FEW or not JIT:
        return _by_hashlib(begin, numbers.tolist(), end)
    digests = np.empty((len(numbers), 32), np.uint8)
    hash_numbers(_bytes(begin), np.ascontiguousarray(numbers), _bytes(end), _BEGIN, digests)
    return digests


def _by_hashlib(begin: bytes, numbers: Sequence[int], end: bytes) -> npt.NDArray[np.uint8]:
    shared, found = hashlib.sha256(begin), []
    for number in numbers:
        digest = shared.copy()
        digest.update(b"%d%s" % (number, end))
        found.append(digest.digest())
    return np.frombuffer(b"".join(found), np.uint8).reshape(-1, 32)


def _bytes(text: bytes) -> npt.NDArray[np.uint8]:
    return np.frombuffer(bytearray(text), np.uint8)
