"""Matches and their seats as columns, the basis of frames, since a million rows take seconds."""

from __future__ import annotations

import io
import itertools
from binascii import hexlify, unhexlify
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ...core.array_files import read_arrays

if TYPE_CHECKING:
    import pandas as pd

Array = npt.NDArray[Any]
# The first values of rows of matches and of seats, in this order, see `from_rows`.
MATCH_FIELDS = ("number", "id", "game", "seed", "termination", "seconds", "facts")
SEAT_FIELDS = ("match_number", "seat", "agent", "score", "decisions", "nodes", "seconds", "cpu_seconds")


class Texts(NamedTuple):
    """Many equal texts: the distinct ones, and the index of each text among them."""

    values: Array  # [different] str
    codes: Array  # int32

    @classmethod
    def of(cls, texts: Sequence[str]) -> Self:
        known = {text: code for code, text in enumerate(dict.fromkeys(texts))}
        return cls(np.array(list(known), str), np.fromiter(map(known.__getitem__, texts), np.int32, len(texts)))

    def times(self, count: int) -> Texts:
        """Returns the first text `count` times."""
        return Texts(self.values[:1], np.zeros(count, np.int32))

    def take(self, rows: Array) -> Texts:
        return Texts(self.values, self.codes[rows])

    def are(self, some: Sequence[str]) -> Array:
        """Returns a mask of the texts that are among `some`."""
        return np.isin(self.values, list(some))[self.codes]

    def categories(self) -> pd.Categorical:
        """Returns the texts as pandas categories, sorted as texts."""
        import pandas as pd  # without it, `turnier runs` is twice as fast

        names, places = np.unique(self.values, return_inverse=True)
        return pd.Categorical.from_codes(places[self.codes] if len(places) else self.codes, names.astype(object))

    @staticmethod
    def concatenated(parts: Sequence[Texts]) -> Texts:
        known: dict[str, int] = {}
        codes = []
        for part in parts:
            new_codes = np.array([known.setdefault(text, len(known)) for text in part.values.tolist()], np.int32)
            codes.append(new_codes[part.codes] if len(new_codes) else part.codes)
        return Texts(np.array(list(known), str), np.concatenate(codes) if codes else np.empty(0, np.int32))


class MatchColumns(NamedTuple):
    """Matches in the order of their numbers, and their seats match by match."""

    number: Array  # [matches] int64, the key in the store
    id: Array  # [matches] V16: 32 hexadecimal digits as 16 bytes
    game: Texts  # [matches]
    seed: Array  # [matches] int64
    termination: Texts  # [matches]
    seconds: Array  # [matches] float64
    facts: Texts  # [matches] JSON
    seats: Array  # [matches] uint8, the number of seats
    agent: Texts  # [all seats]
    score: Array  # [all seats] float64
    decisions: Array  # [all seats] int64
    nodes: Array  # [all seats] int64
    seat_seconds: Array  # [all seats] float64, NaN if not measured
    seat_cpu_seconds: Array  # [all seats] float64, NaN if not measured

    @classmethod
    def from_rows(cls, matches: Iterable[tuple[Any, ...]], seats: Iterable[tuple[Any, ...]]) -> MatchColumns:
        """Makes columns from rows that begin with MATCH_FIELDS and SEAT_FIELDS, both in the order of their keys."""
        rows = list(matches)
        number, ids, game, seed, termination, seconds, facts = _transposed(rows, len(MATCH_FIELDS))
        of_match, _, agent, score, decisions, nodes, seconds_of, cpu_of = _transposed(list(seats), len(SEAT_FIELDS))
        numbers = np.array(number, np.int64)
        counts = np.bincount(np.searchsorted(numbers, np.array(of_match, np.int64)), minlength=len(rows))
        of_matches = number, ids, game, seed, termination, seconds, facts
        return cls.of(of_matches, counts.tolist(), (agent, score, decisions, nodes, seconds_of, cpu_of))

    @classmethod
    def of(cls, matches: Sequence[Sequence[Any]], sizes: Sequence[int], seats: Sequence[Sequence[Any]]) -> MatchColumns:
        """Makes columns from those of MATCH_FIELDS, numbers of seats, and those of SEAT_FIELDS from the agent on."""
        number, ids, game, seed, termination, seconds, facts = matches
        agent, score, decisions, nodes, seconds_of, cpu_of = seats
        return cls(
            np.array(number, np.int64),
            np.frombuffer(unhexlify("".join(ids)), "V16"),
            Texts.of(game),
            np.array(seed, np.int64),
            Texts.of(termination),
            np.array(seconds, np.float64),
            Texts.of(facts),
            np.array(sizes, np.uint8),
            Texts.of(agent),
            np.array(score, np.float64),
            np.array(decisions, np.int64),
            np.array(nodes, np.int64),
            np.array(seconds_of, np.float64),
            np.array(cpu_of, np.float64),
        )

    def ids(self) -> Array:
        """Returns the ids as texts [matches]."""
        text = hexlify(self.id.tobytes()).decode()
        return np.array([text[i : i + 32] for i in range(0, len(text), 32)], object)

    def short_ids(self) -> Array:
        """Returns the first 15 hexadecimal digits of the ids as int64 [matches]."""
        return (np.frombuffer(self.id.tobytes(), ">u8")[::2] >> 4).astype(np.int64)

    def take(self, matches: Array) -> MatchColumns:
        """Returns these matches (indices) with their seats, in this order."""
        ends = np.cumsum(self.seats, dtype=np.int64)
        counts = self.seats[matches].astype(np.int64)
        first = np.repeat(ends[matches] - counts - (np.cumsum(counts) - counts), counts)
        seats = first + np.arange(len(first))
        split = self._fields.index("agent")
        values: Sequence[Any] = self
        parts: list[Any] = [value.take(matches if i < split else seats) for i, value in enumerate(values)]
        return MatchColumns(*parts)

    @staticmethod
    def concatenated(parts: Sequence[MatchColumns]) -> MatchColumns:
        if not parts:
            return MatchColumns.from_rows([], [])
        joined: list[Any] = [
            Texts.concatenated(values) if isinstance(values[0], Texts) else np.concatenate(values)
            for values in zip(*parts, strict=True)
        ]
        return MatchColumns(*joined)

    def in_order(self) -> MatchColumns:
        """Returns the matches in the order of their numbers."""
        if (np.diff(self.number) > 0).all():
            return self
        return self.take(np.argsort(self.number, kind="stable"))

    def to_bytes(self) -> bytes:
        """Returns numpy's npz format without pickles; `from_bytes` reads it."""
        arrays: dict[str, Array] = {}
        value: Any
        for name, value in zip(self._fields, self, strict=True):
            if isinstance(value, Texts):
                arrays[f"{name}.values"], arrays[f"{name}.codes"] = value
            elif name == "id":
                arrays[name] = np.frombuffer(value.tobytes(), np.uint8)
            else:
                arrays[name] = value
        file = io.BytesIO()
        np.savez(file, allow_pickle=False, **arrays)
        return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> MatchColumns:
        """Reads the bytes of `to_bytes`; raises ValueError with the reason if it is damaged."""
        stored = read_arrays(io.BytesIO(data), _stored_names(), len(data))
        stored["id"] = stored["id"].view("V16")
        fields: list[Any] = [
            stored[name] if name in stored else Texts(stored[f"{name}.values"], stored[f"{name}.codes"])
            for name in cls._fields
        ]
        columns = cls(*fields)
        lengths = [len(field.codes if isinstance(field, Texts) else field) for field in fields]
        split = cls._fields.index("agent")
        if set(lengths[:split]) != {len(columns.number)} or set(lengths[split:]) != {int(columns.seats.sum())}:
            raise ValueError("columns must have the same length")
        return columns


def each_once(numbers: Array) -> Array:
    """Returns the different numbers, sorted; `numpy.unique` hashes them, which takes a hundred times as long."""
    ordered = np.sort(numbers)
    found: Array = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return found


def _stored_names() -> tuple[str, ...]:
    """Returns the names of the arrays that `to_bytes` writes."""
    texts = ("game", "termination", "facts", "agent")
    plain = tuple(name for name in MatchColumns._fields if name not in texts)
    return (*plain, *(f"{name}.{part}" for name in texts for part in Texts._fields))


def _transposed(rows: Sequence[tuple[Any, ...]], width: int) -> Iterable[Sequence[Any]]:
    """Returns the first `width` columns of rows."""
    return itertools.islice(zip(*rows, strict=True), width) if rows else [()] * width
