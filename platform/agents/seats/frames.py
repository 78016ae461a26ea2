"""The protocol of the referee and a seat's process: frames of a length, a kind and bytes, never pickles.

The referee trusts nothing that it reads: lengths are bounded, and an answer counts only with its question's number.

| kind | from | holds |
| --- | --- | --- |
| LOAD | referee | JSON: the folder to work in, the user's cache, and the code of the agent and the game |
| BEGIN | referee | JSON: game, agent, seat and the seed that the seat is told |
| READY | seat | a byte: whether the player follows the match, so that it must be told all plies |
| ASK | referee | a question's number, and as arrays: a stream of chance, plies, a state and its returns |
| ANSWER | seat | the question's number, action and nodes, then visits and values unless all are zero |
| TELL, TOLD | referee, seat | JSON: a question about the classes in the code, and its answer, see `standins` |
| FAILED | seat | text: the exception, with the line of the user's file |
"""

from __future__ import annotations

import select
import socket
import struct
import time
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..agent import Decision

LOAD, BEGIN, READY, ASK, ANSWER, FAILED, TELL, TOLD = range(8)
LONGEST_TEXT = 4_000  # bytes of a failure
MOST_NODES = 1 << 40  # of a decision: sums of them are stored in 64 bits
LONGEST_TOLD = 1 << 22  # bytes of a class's description
_HEADER = struct.Struct("<IB")
_ASK = struct.Struct("<qqq")  # number, plies, words of a state
_ANSWER = struct.Struct("<qqqq")  # number, action, nodes, whether visits and values follow
_CHUNK = 1 << 13  # bytes: most frames are shorter, and memory for more takes time


class Broken(Exception):
    """The bytes read are not a frame of the other side."""


class Ended(Broken):
    """The other side has closed the connection."""


class Question(NamedTuple):
    """A question to a seat: the plies to follow, if any, and its view of the position."""

    number: int
    rng: npt.NDArray[np.uint64]  # [4], other than the match's
    plies: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]  # [state_words] before the first ply
    state: npt.NDArray[np.int64]  # [state_words]
    returns: npt.NDArray[np.float64]  # [seats]

    def packed(self) -> bytes:
        head = _ASK.pack(self.number, len(self.plies), len(self.state))
        return b"".join((head, *(part.tobytes() for part in self[1:])))

    @classmethod
    def of(cls, data: bytearray) -> Question:
        number, plies, words = _ASK.unpack_from(data)
        numbers = np.frombuffer(data, np.int64, -1, _ASK.size)
        first, state, end = 4 + plies, 4 + plies + words, 4 + plies + 2 * words
        rng, returns = numbers[:4].view(np.uint64), numbers[end:].view(np.float64)
        return cls(number, rng, numbers[4:first], numbers[first:state], numbers[state:end], returns)


def packed_answer(number: int, decision: Decision) -> bytes:
    """Returns a decision as bytes; raises an exception for one of another shape."""
    told = bool(decision.visits.any() or decision.values.any())  # true for NaN
    head = _ANSWER.pack(number, int(decision.action), int(decision.nodes), told)
    return head + np.asarray([decision.visits, decision.values], np.float64).tobytes() if told else head


def answer_of(data: bytearray, actions: int) -> tuple[int, Decision]:
    """Returns the number of the question and the decision; raises Broken for anything else."""
    if len(data) < _ANSWER.size:
        raise Broken("an answer too short")
    number, action, nodes, told = _ANSWER.unpack_from(data)
    if len(data) != _ANSWER.size + (16 * actions if told else 0):
        raise Broken("visits and values of another number of actions")
    found = np.frombuffer(data, np.float64, -1, _ANSWER.size) if told else np.zeros(2 * actions)
    return number, Decision(action, found[:actions], found[actions:], min(max(0, nodes), MOST_NODES), 0.0)


class Line:
    """One end of the connection."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self._read = bytearray()
        self._seconds = 0.0
        self._poll = select.poll()
        self._poll.register(end, select.POLLIN)

    def wait(self, seconds: float) -> None:
        """Sets the timeout of reads and writes from now on."""
        if seconds != self._seconds:  # each setting is a system call
            self.end.settimeout(seconds)
            self._seconds = seconds

    def send(self, kind: int, data: bytes) -> None:
        """Sends a frame; raises OSError, such as TimeoutError, if it is not read."""
        self.end.sendall(_HEADER.pack(len(data), kind) + data)

    def receive(self, largest: int, deadline: float | None = None) -> tuple[int, bytearray]:
        """Returns the next frame; raises Broken for anything else, Ended, TimeoutError if it is late.

        Args:
            largest: bytes.
            deadline: of `time.monotonic`, for frames in pieces; `wait` sets the timeout of each piece.
        """
        while True:
            if len(self._read) >= _HEADER.size:
                size, kind = _HEADER.unpack_from(self._read)
                if size > largest:
                    raise Broken(f"a frame of {size:,} bytes")
                if len(self._read) >= _HEADER.size + size:
                    data = self._read[_HEADER.size : _HEADER.size + size]
                    del self._read[: _HEADER.size + size]
                    return kind, data
            if deadline is not None and self._late(deadline):
                raise TimeoutError  # even if single bytes come in time
            self._fill()

    def _late(self, deadline: float) -> bool:
        """Whether an incomplete frame is late; one that is waiting to be read came in time, however late we look."""
        return bool(self._read) and time.monotonic() > deadline

    def _fill(self) -> None:
        data = self.end.recv(_CHUNK)
        if not data:
            raise Ended
        self._read += data

    def ended(self) -> bool:
        """Whether the other side has closed the connection, with nothing left to read."""
        if not self._poll.poll(0):
            return False
        try:
            return not self.end.recv(1, socket.MSG_PEEK)  # a byte, or the end
        except OSError:
            return True

    def close(self) -> None:
        self.end.close()
