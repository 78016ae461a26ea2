"""Checksums of stored rows: any flipped bit changes them, and SQLite has none of its own."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Row

MARKS = 1 << 60  # upper limit of marks of rows
CHANGED = "it differs from its checksum"
_DIGITS = 15  # hexadecimal digits of an id


def checksum(*values: Any) -> int:
    """Returns the checksum, 32 bits, of numbers, texts, bytes and None as the database returns them.

    The database returns 0.0 for -0.0, and a float for an integer in a column of floats.
    """
    plain = [zlib.crc32(value) if type(value) is bytes else value for value in values]
    return checksum_of(ascii(plain))  # not repr, which depends on the version of Unicode


def checksum_of(written: str) -> int:
    """Returns `checksum` of values written as a list of Python, by `ascii`, with the CRC-32 of bytes in their place."""
    return zlib.crc32(written.encode("ascii"))


def differs(row: Row[Any], *values: Any) -> bool:
    """Whether a stored row's checksum is missing or differs from that of these values."""
    return bool(checksum(*values) != row.checksum)


def mark_of(row_id: str) -> int:
    """Returns the number that a match or a search adds to the total of its run."""
    try:
        return int(row_id[:_DIGITS], 16)
    except (ValueError, TypeError):
        return checksum(row_id)  # a damaged id, which changes the total


def marks_of(ids: bytes) -> npt.NDArray[np.int64]:
    """Returns `mark_of` ids of 16 bytes each."""
    return (np.frombuffer(ids, ">u8")[::2] >> np.uint64(4)).astype(np.int64)


def sum_of(marks: Iterable[int]) -> int:
    """Returns the sum of marks as kept in totals: independent of order, and within the integers of a database."""
    return sum(marks) % MARKS
