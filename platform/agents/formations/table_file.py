"""Formation tables as a file: lookup arrays and values, mapped into memory and shared by all processes of a machine.

A file is a page-aligned array of 64-bit words: the head (magic, format, digest, sizes), a description as JSON, the
lookup arrays of every formation, the values of all layers, highest sums first, and a digest of every part.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import mmap
import os
import threading
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...core.errors import UserError, other_digest
from ...core.outputs import user_cache
from .formation import Formation, numbering

FORMAT = 3
MAGIC = int.from_bytes(b"trnforms", "little")
# Words of the head.
M_MAGIC, M_FORMAT, M_DIGEST, M_TABLES, M_TEXT, M_TEXT_BYTES, M_VALUES, M_VALUES_END, M_END, M_COUNT = range(10)
FIRST_TABLE, TABLE_WORDS = 16, 32
# Words of a table's head: facts, then the begins of its arrays (in words; BASES has numbers of values).
LIMITS_FOR, GOALS_FOR, FIXED, EDGE, FALLS, GOALS, WALLS, LOW_SUMS = range(8)
A_HIGH, A_LOW_SUMS, A_LOW_PLACES, A_LOW_START, A_OFFSETS, A_BASES, A_ROWS, A_GOALS = range(8, 16)
DIFFER, SHORT = 16, 17  # facts, too; SHORT: 1 - `enough`, in 1,000ths
PAGE_WORDS = 512
DIGEST_BYTES = 16
HINT = "solve some with `turnier tables 2048 --out FILE`"
Ints = npt.NDArray[np.int64]


class Layer(NamedTuple):
    table: int  # which formation
    total: int  # sum of its tiles, in units of a tile of 2
    first: int  # number of its first value in the file
    states: int


@dataclass(frozen=True)
class Plan:
    """A file before its values: its head, its layers in solving order, and its size."""

    formations: tuple[Formation, ...]
    words: Ints  # everything before the values
    layers: tuple[Layer, ...]
    values: int  # number of the first value, in units of two bytes

    @property
    def digests_at(self) -> int:
        """Bytes before the digests, which end the file."""
        return -(-2 * (self.values + sum(layer.states for layer in self.layers)) // 8) * 8

    @property
    def bytes(self) -> int:
        return self.digests_at + DIGEST_BYTES * (len(self.layers) + 1)


def plan(formations: tuple[Formation, ...]) -> Plan:
    """Lays out the file of some formations."""
    text = json.dumps([_facts(each) for each in formations], sort_keys=True).encode()
    heads, arrays = [], []
    at = FIRST_TABLE + TABLE_WORDS * len(formations)
    text_at = at
    at += -(-len(text) // 8)
    bases: list[Ints] = []
    for formation in formations:
        n = numbering(formation)
        head = np.zeros(TABLE_WORDS, np.int64)
        edge = sum(15 << 4 * cell for cell in formation.edge)
        tiles = formation.limits_for, formation.goals_for, n.fixed, edge, _pairs(formation.falls)
        facts = *tiles, len(n.goals), n.walls, len(n.low_start) - 1
        head[: LOW_SUMS + 1] = np.array(facts, np.uint64).view(np.int64)
        head[DIFFER], head[SHORT] = _pairs(formation.differ), round((1 - formation.enough) * 1000)
        base = np.zeros(len(n.sizes), np.int64)
        bases.append(base)
        own: list[Ints] = [n.high_words, n.low_sums, n.low_places, n.low_start, n.offsets.ravel(), base]
        own += [n.rows.ravel(), n.goals.ravel()]
        for i, array in enumerate(own):
            head[A_HIGH + i] = at
            at += len(array)
        heads.append(head)
        arrays.append(own)
    values = -(-at // PAGE_WORDS) * PAGE_WORDS * 4
    layers = []
    first = values
    for table, formation in enumerate(formations):
        sizes = numbering(formation).sizes
        for total in range(len(sizes) - 1, -1, -1):
            layers.append(Layer(table, total, first, int(sizes[total])))
            bases[table][total] = first
            first += int(sizes[total])
    words = np.zeros(values // 4, np.int64)
    words[: M_COUNT + 1] = MAGIC, FORMAT, 0, len(formations), text_at, len(text), values, first, 0, len(layers)
    for table, (head, own) in enumerate(zip(heads, arrays, strict=True)):
        words[FIRST_TABLE + TABLE_WORDS * table :][:TABLE_WORDS] = head
        for i, array in enumerate(own):
            words[head[A_HIGH + i] :][: len(array)] = array
    words.view(np.uint8)[8 * text_at :][: len(text)] = np.frombuffer(text, np.uint8)
    planned = Plan(formations, words, tuple(layers), values)
    words[M_END] = planned.bytes
    return planned


def _facts(formation: Formation) -> dict[str, Any]:
    """Returns the description of a formation in the file, without defaults, so that older files do not differ."""
    defaults = {each.name: each.default for each in fields(formation)}
    return {name: fact for name, fact in asdict(formation).items() if fact != defaults[name]}


def _pairs(cells: tuple[tuple[int, int], ...]) -> int:
    return sum((one << 4 | other) << 8 * i for i, (one, other) in enumerate(cells))


def digest_of(data: Any) -> bytes:
    return hashlib.sha256(data).digest()[:DIGEST_BYTES]


def digest_of_words(words: Ints) -> bytes:
    """Returns the digest of everything before the values, except the file's own digest."""
    without = words.copy()
    without[M_DIGEST] = 0
    return digest_of(without.data)


def file_digest(parts: bytes) -> int:
    """Returns the file's identity, from the digests of its parts."""
    return int.from_bytes(hashlib.sha256(parts).digest()[:8], "little", signed=True)


def digest_text(words: Ints) -> str:
    return f"{int(words[M_DIGEST]) & (1 << 64) - 1:016x}"


def read_digest(path: Path) -> str:
    """Returns the identity of a file of tables as 16 hexadecimal digits; reads only its head."""
    return digest_text(_head(path))


def required_digest(owner: str, table: str, digest: str) -> str:
    """Returns the identity required of the table of an agent or a method: the one given, otherwise that of the file.

    Raises UserError if a digest is given without a table, or if there is no such file.
    """
    if digest and not table:
        raise UserError(f"{owner}: a digest must belong to a table, got none; leave the digest out.")
    return digest if digest or not table else read_digest(Path(table))


def _head(path: Path) -> Ints:
    """Returns the first words of a file; raises UserError if it is no finished file of tables."""
    if not os.path.isfile(path):
        raise UserError(f"there is no file {path} with formation tables; {HINT}.")
    try:
        with path.open("rb") as file:
            head = np.frombuffer(file.read(8 * FIRST_TABLE), np.int64)
        size = path.stat().st_size
    except OSError as failure:
        raise UserError(f"formation tables in {path} cannot be read: {failure.strerror}.") from None
    if len(head) < FIRST_TABLE or head[M_MAGIC] != MAGIC or head[M_FORMAT] != FORMAT:
        raise UserError(f"{path} has no formation tables of this version of Turnier; {HINT}.")
    if head[M_DIGEST] == 0:
        raise _damaged(path, "they are not finished; repeat the command that solves them")
    if head[M_END] != size:
        raise _damaged(path, f"they must have {head[M_END]:,} bytes, but have {size:,}")
    return head


def _damaged(path: Path, reason: str) -> UserError:
    return UserError(f"the formation tables in {path} cannot be used: {reason}; otherwise delete it, and {HINT}.")


def check(path: Path, advance: Any = None) -> bytes:
    """Checks a whole file and returns the digest of everything before its values, which identifies its tables.

    Raises UserError if a part differs from its digest.

    Args:
        path: of the file.
        advance: called with the number of bytes checked since the last call.
    """
    head = _head(path)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        view = memoryview(mapped)
        try:
            return _check_parts(path, head, view, advance or (lambda done: None))
        finally:
            view.release()


def _check_parts(path: Path, head: Ints, view: memoryview, advance: Any) -> bytes:
    values, end, count = int(head[M_VALUES]), int(head[M_VALUES_END]), int(head[M_COUNT])
    at = -(-2 * end // 8) * 8
    if not 0 < 2 * values <= 2 * end <= at or at + DIGEST_BYTES * (count + 1) != len(view):
        raise _damaged(path, "their sizes do not fit")
    parts = bytes(view[at:])
    words = np.frombuffer(bytes(view[: 2 * values]), np.int64)
    if file_digest(parts) != int(head[M_DIGEST]) or digest_of_words(words) != parts[:DIGEST_BYTES]:
        raise _damaged(path, "they differ from their digest")
    advance(2 * values)
    for i, (first, states) in enumerate(_layers(words), 1):
        if digest_of(view[2 * first : 2 * (first + states)]) != parts[DIGEST_BYTES * i :][:DIGEST_BYTES]:
            raise _damaged(path, "they differ from their digest")
        advance(2 * states)
    advance(len(view) - 2 * end)
    return parts[:DIGEST_BYTES]


def _layers(words: Ints) -> list[tuple[int, int]]:
    """Returns the first value and the number of values of every layer, in the order of the file."""
    firsts: list[int] = []
    for table in range(int(words[M_TABLES])):
        head = words[FIRST_TABLE + TABLE_WORDS * table :][:TABLE_WORDS]
        firsts += words[head[A_BASES] : head[A_ROWS]][::-1].tolist()
    return [(a, b - a) for a, b in zip(firsts, [*firsts[1:], int(words[M_VALUES_END])], strict=True)]


_opened: dict[tuple[str, str], Ints] = {}  # never closed: kernels have its address
_opening = threading.Lock()


def open_tables(path: Path, digest: str) -> Ints:
    """Returns a file as words, mapped and shared; raises UserError if it has another digest or is damaged.

    The whole file is checked once on a machine, and again if it has changed.
    """
    key = str(path.resolve()), digest
    with _opening:
        if key not in _opened:
            _require_undamaged(path, key)
            _opened[key] = _map(path)
        return _opened[key]


def _require_undamaged(path: Path, key: tuple[str, str]) -> None:
    digest = key[1]
    head = _head(path)
    if digest_text(head) != digest:
        raise other_digest("the formation tables", path, digest, digest_text(head))
    state = path.stat()
    seen = json.dumps([key[0], state.st_size, state.st_mtime_ns, state.st_ino])
    note = user_cache() / "formations" / f"{digest}.json"
    with contextlib.suppress(OSError):
        if note.read_text() == seen:
            return
    check(path)
    with contextlib.suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(seen)


class _Mapped:
    """Words of a file as a writable array, which kernels ask for, although none writes.

    The mapping is read-only; a writable one would have to fit into memory as a whole.
    """

    def __init__(self, words: Ints) -> None:
        self.words = words
        self.__array_interface__ = words.__array_interface__ | {"data": (words.ctypes.data, False)}


def _map(path: Path) -> Ints:
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if hasattr(mmap, "MADV_RANDOM"):
        mapped.madvise(mmap.MADV_RANDOM)
    return np.asarray(_Mapped(np.frombuffer(mapped, np.int64)))
