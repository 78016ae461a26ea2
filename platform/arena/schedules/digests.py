"""SHA-256 of texts that differ in one number, many at once: the ids and seeds of matches.

Source: FIPS 180-4. The part that all texts share is hashed once, the others in lanes; calling hashlib takes many times
as long.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

from ...core.kernel import JIT, kernel, types

FEW = 20_000  # texts of a process for which hashlib is fast enough: nothing is compiled for smaller tournaments
LANES = 16  # texts side by side, each in a lane of the processor's vector registers
_U1, _W1, _W2 = types.Array(types.uint8, 1, "C"), types.Array(types.uint32, 1, "C"), types.Array(types.uint32, 2, "C")
_DIGITS = 19  # of the largest number
_so_far = 0  # texts of this process


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


@kernel(types.void(_W2, _W2, types.int64, _W2))
def _add_block(states, words, first, all_words):
    """Hashes sixteen words of every lane, from `first` on, into its state, [8, LANES]; [64, LANES] is scratch space."""
    for i in range(16):
        for lane in range(LANES):
            all_words[i, lane] = words[first + i, lane]
    for i in range(16, 64):
        for lane in range(LANES):
            old, new = all_words[i - 15, lane], all_words[i - 2, lane]
            low = _turned(old, np.uint32(7)) ^ _turned(old, np.uint32(18)) ^ np.uint32(old >> np.uint32(3))
            high = _turned(new, np.uint32(17)) ^ _turned(new, np.uint32(19)) ^ np.uint32(new >> np.uint32(10))
            all_words[i, lane] = np.uint32(all_words[i - 16, lane] + low + all_words[i - 7, lane] + high)
    before = states.copy()
    for i in range(0, 64, 4):  # so many rounds are short enough to be made into vector instructions
        for lane in range(LANES):
            a, b, c, d = states[0, lane], states[1, lane], states[2, lane], states[3, lane]
            e, f, g, h = states[4, lane], states[5, lane], states[6, lane], states[7, lane]
            for j in range(4):
                high = _turned(e, np.uint32(6)) ^ _turned(e, np.uint32(11)) ^ _turned(e, np.uint32(25))
                one = np.uint32(h + high + ((e & f) ^ (~e & g)) + _ROUNDS[i + j] + all_words[i + j, lane])
                low = _turned(a, np.uint32(2)) ^ _turned(a, np.uint32(13)) ^ _turned(a, np.uint32(22))
                two = np.uint32(low + ((a & b) ^ (a & c) ^ (b & c)))
                h, g, f, e = g, f, e, np.uint32(d + one)
                d, c, b, a = c, b, a, np.uint32(one + two)
            states[0, lane], states[1, lane], states[2, lane], states[3, lane] = a, b, c, d
            states[4, lane], states[5, lane], states[6, lane], states[7, lane] = e, f, g, h
    for i in range(8):
        for lane in range(LANES):
            states[i, lane] = np.uint32(states[i, lane] + before[i, lane])


@kernel(types.void(_U1, types.int64, types.int64, _W2, types.int64))
def _read_words(text, first, last, words, lane):
    """Makes bytes of a text the words of a lane, from one word to another."""
    for i in range(first, last):
        words[i, lane] = np.uint32(
            (np.uint32(text[4 * i]) << np.uint32(24))
            | (np.uint32(text[4 * i + 1]) << np.uint32(16))
            | (np.uint32(text[4 * i + 2]) << np.uint32(8))
            | np.uint32(text[4 * i + 3])
        )


@kernel(types.int64(types.int64))
def _blocks(length):
    """Returns the blocks of a text with its padding, of at least 9 bytes."""
    return (length + 9 + 63) // 64


@kernel(types.void(_U1, types.int64, types.int64, _U1))
def _end_text(text, length, before, end):
    """Writes the end of a text from its `length` on, and the padding; `before`: bytes of the blocks before the text."""
    for i in range(end.size):
        text[length + i] = end[i]
    length += end.size
    bits, last = 8 * (before + length), 64 * _blocks(length)
    text[length] = 128
    for i in range(length + 1, last):
        text[i] = (bits >> (8 * (last - 1 - i))) & 255 if i >= last - 8 else 0


@kernel(types.void(_U1, types.Array(types.int64, 1, "C"), _U1, _W1, _W2))
def hash_numbers(begin, numbers, end, first, digests):
    """Fills [n, 8] with the SHA-256 of begin + number + end for n numbers from 0; `first`, [8], begins every hash."""
    rest = begin.size % 64
    before, most = begin.size - rest, _blocks(rest + _DIGITS + end.size)
    text, lengths = np.zeros(64 * most, np.uint8), np.zeros(LANES, np.int64)  # of the numbers, in digits
    words, scratch = np.zeros((16 * most, LANES), np.uint32), np.empty((64, LANES), np.uint32)
    shared, states = np.empty((8, LANES), np.uint32), np.empty((8, LANES), np.uint32)
    for lane in range(LANES):
        for i in range(8):
            shared[i, lane] = first[i]
    for block in range(before // 64):
        for lane in range(LANES):
            _read_words(begin[64 * block :], 0, 16, words, lane)
        _add_block(shared, words, 0, scratch)
    for i in range(rest):
        text[i] = begin[before + i]
    digits, written = np.empty(_DIGITS, np.uint8), 0  # digits of the number in the text
    for n in range(0, numbers.size, LANES):
        blocks = 0
        for lane in range(LANES):  # those beyond the last number do its work again
            number, length = np.uint64(numbers[min(n + lane, numbers.size - 1)]), 0
            while length == 0 or number > np.uint64(0):
                digits[length] = np.uint64(48) + number % np.uint64(10)
                number //= np.uint64(10)
                length += 1
            for i in range(length):
                text[rest + i] = digits[length - 1 - i]
            if length != written:
                _end_text(text, rest + length, before, end)
                written = length
            if length == lengths[lane]:
                _read_words(text, rest // 4, (rest + length + 3) // 4, words, lane)
            else:
                _read_words(text, 0, 16 * _blocks(rest + length + end.size), words, lane)
                lengths[lane] = length
            blocks = max(blocks, _blocks(rest + length + end.size))
            for i in range(8):
                states[i, lane] = shared[i, lane]
        for block in range(blocks):
            _add_block(states, words, 16 * block, scratch)
            for lane in range(LANES):
                if block + 1 == _blocks(rest + lengths[lane] + end.size):
                    for i in range(8):
                        digests[min(n + lane, numbers.size - 1), i] = states[i, lane]


def digests_of(begin: bytes, numbers: npt.NDArray[np.int64], end: bytes) -> npt.NDArray[np.uint8]:
    """Returns the SHA-256 of begin + number + end, [n, 32], for whole numbers from 0, [n]."""
    global _so_far
    _so_far += len(numbers)
    return (by_hashlib if _so_far <= FEW or not JIT else by_kernel)(begin, numbers, end)


def by_hashlib(begin: bytes, numbers: npt.NDArray[np.int64], end: bytes) -> npt.NDArray[np.uint8]:
    shared, found = hashlib.sha256(begin), []
    for number in numbers.tolist():
        digest = shared.copy()
        digest.update(b"%d%s" % (number, end))
        found.append(digest.digest())
    return np.frombuffer(b"".join(found), np.uint8).reshape(-1, 32)


def by_kernel(begin: bytes, numbers: npt.NDArray[np.int64], end: bytes) -> npt.NDArray[np.uint8]:
    digests = np.empty((len(numbers), 8), np.uint32)
    hash_numbers(_bytes(begin), np.ascontiguousarray(numbers), _bytes(end), _BEGIN, digests)
    return digests.astype(">u4").view(np.uint8)


def _bytes(text: bytes) -> npt.NDArray[np.uint8]:
    return np.frombuffer(bytearray(text), np.uint8)
