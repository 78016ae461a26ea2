"""Solves formation tables into a file, layer by layer; a stopped solver resumes."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.errors import UserError
from ...core.kernel import compile_kernel
from ...core.outputs import only_writer
from .formation import Formation, Numbering, numbering
from .solve_kernels import fill_expectations, fill_values
from .table_file import DIGEST_BYTES, M_DIGEST, Layer, Plan, digest_of, digest_of_words, digest_text, file_digest, plan

Values = npt.NDArray[np.uint16]
CHUNKS = 8  # of a layer for each thread, since some take longer
FEW = 20_000  # states; fewer are not worth several threads


class Solver:
    """Solves the tables of a plan into `path`; until they are finished they are in a hidden file next to it."""

    def __init__(self, path: Path, formations: tuple[Formation, ...], workers: int) -> None:
        if workers < 1:
            raise UserError(f"there must be at least 1 worker, got {workers}.")
        self.path, self.workers = path, workers
        self.plan: Plan = plan(formations)
        self.part = path.with_name(f".{path.name}.part")
        self.journal = path.with_name(f".{path.name}.layers")  # a digest of the head and of every solved layer

    @functools.cached_property
    def head(self) -> bytes:
        """The digest of everything before the values, which depends on the tables' size and version."""
        return digest_of_words(self.plan.words)

    @property
    def states(self) -> int:
        return sum(layer.states for layer in self.plan.layers)

    def solve(self, skipped: Callable[[int], None], advance: Callable[[int], None]) -> str:
        """Solves the missing layers and returns the file's digest.

        Args:
            skipped: called with the number of states that were solved earlier.
            advance: called with the number of states solved since the last call.
        """
        for each in (fill_expectations, fill_values):
            compile_kernel(each)
        with only_writer(self.path, "solves formation tables"), self._files() as (part, journal):
            digests = self._done(part, journal)
            done = len(digests) // DIGEST_BYTES - 1
            skipped(sum(layer.states for layer in self.plan.layers[:done]))
            with ThreadPoolExecutor(self.workers, "layer") as threads:
                kept: dict[tuple[int, int], Values] = {}
                for at in range(done, len(self.plan.layers)):
                    layer = self.plan.layers[at]
                    kept = {
                        (layer.table, total): self._values(part, at, layer.total - total, kept)
                        for total in (layer.total + 1, layer.total + 2)
                    }
                    values = self._solve(threads, layer, kept)
                    _write(part, values.data, 2 * layer.first)
                    digests += digest_of(values.data)
                    _write(journal, digests[-DIGEST_BYTES:], len(digests) - DIGEST_BYTES)
                    kept[layer.table, layer.total] = values
                    advance(layer.states)
            return self._finish(part, bytes(digests))

    @contextlib.contextmanager
    def _files(self) -> Iterator[tuple[int, int]]:
        opened: list[int] = []
        try:
            for path in (self.part, self.journal):
                opened.append(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644))
            self._require_own(opened[1])
            os.ftruncate(opened[0], self.plan.bytes)  # remains without a journal may be longer
            os.posix_fallocate(opened[0], 0, self.plan.bytes)
            yield opened[0], opened[1]
        except OSError as failure:
            raise UserError(
                f"formation tables need {self.plan.bytes / 2**30:.1f} GiB, which cannot be written to {self.path}:"
                f" {failure.strerror}; make room or choose another folder, and repeat the command."
            ) from None
        finally:
            for file in opened:
                os.close(file)

    def _require_own(self, journal: int) -> None:
        """Raises UserError if tables of another plan are being solved into the file."""
        if os.pread(journal, DIGEST_BYTES, 0) not in (b"", self.head):
            raise UserError(
                f"tables of another size are being solved into {self.path}; give their"
                f" size, choose another file, or delete {self.part} and {self.journal}."
            )

    def _done(self, part: int, journal: int) -> bytearray:
        """Returns the digests of the head and of the layers that were solved earlier and are undamaged."""
        digests = bytearray(os.pread(journal, DIGEST_BYTES * (len(self.plan.layers) + 1), 0))
        if not digests:
            _write(part, self.plan.words.data, 0)
            _write(journal, self.head, 0)
            return bytearray(self.head)
        done = len(digests) // DIGEST_BYTES
        for i in range(1, done):
            layer = self.plan.layers[i - 1]
            if digest_of(_read(part, layer)) != digests[DIGEST_BYTES * i :][:DIGEST_BYTES]:
                done = i  # lost when the power went out
                break
        os.ftruncate(journal, DIGEST_BYTES * done)
        return digests[: DIGEST_BYTES * done]

    def _values(self, part: int, at: int, back: int, kept: dict[tuple[int, int], Values]) -> Values:
        """Returns the values of the layer whose sum is larger by -back; none if no state has that sum."""
        layer = self.plan.layers[at]
        total = layer.total - back
        if (layer.table, total) in kept:
            return kept[layer.table, total]
        if at + back < 0 or self.plan.layers[at + back].table != layer.table:
            return np.zeros(1, np.uint16)
        return np.frombuffer(_read(part, self.plan.layers[at + back]), np.uint16).copy()

    def _solve(self, threads: ThreadPoolExecutor, layer: Layer, later: dict[tuple[int, int], Values]) -> Values:
        n: Numbering = numbering(self.plan.formations[layer.table])
        # Only high numbers of these sums have states in the layer.
        lowest = max(0, layer.total - (len(n.low_start) - 2))
        highest = min(len(n.high_start) - 2, layer.total)
        begin, end = int(n.high_start[lowest]), int(n.high_start[highest + 1])
        chunks = 1 if layer.states < FEW else CHUNKS * self.workers
        cuts = np.linspace(begin, end, chunks + 1).astype(np.int64).tolist()
        after, second = (later[layer.table, layer.total + step] for step in (1, 2))
        expected, values = np.zeros((2, layer.states), np.uint16)

        def expectations(i: int) -> None:
            fill_expectations(n, layer.total, cuts[i], cuts[i + 1], after, second, expected)

        def best(i: int) -> None:
            fill_values(n, layer.total, cuts[i], cuts[i + 1], expected, values)

        for share in (expectations, best):
            if chunks == 1:
                share(0)
            else:
                list(threads.map(share, range(chunks)))
        return values

    def _finish(self, part: int, digests: bytes) -> str:
        _write(part, digests, self.plan.digests_at)
        os.fsync(part)
        words = self.plan.words
        words[M_DIGEST] = file_digest(digests)
        _write(part, words[: M_DIGEST + 1].data, 0)
        os.fsync(part)
        os.replace(self.part, self.path)
        self.journal.unlink()
        return digest_text(words)


def _read(part: int, layer: Layer) -> bytes:
    data, at = bytearray(), 2 * layer.first
    while len(data) < 2 * layer.states:
        piece = os.pread(part, 2 * layer.states - len(data), at + len(data))
        if not piece:
            break
        data += piece
    return bytes(data)


def _write(file: int, data: Any, at: int) -> None:
    """Writes all of the data; raises OSError if the disk is full."""
    left = memoryview(data).cast("B")
    while left:
        written = os.pwrite(file, left, at)
        left, at = left[written:], at + written
