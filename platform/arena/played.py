"""Matches that compiled code has played, as columns: a short game takes less time than making its record."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from .match import MIN_COMPRESSED, MatchRecord, MatchSpec, Termination, pack_many
from .schedules.spec_columns import SpecColumns

R = TypeVar("R")


class PlyColumn(Sequence[bytes]):
    """The plies of many short matches as `pack_plies` returns them, one after another in one array."""

    def __init__(self, data: npt.NDArray[np.uint8], lengths: npt.NDArray[np.int64]) -> None:
        self.data, self.lengths = data, lengths
        self._ends = np.cumsum(lengths)

    @classmethod
    def of(cls, plies: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> Sequence[bytes]:
        """Returns the plies of each match, which `plies` has in sequence, ending at `ends`; as a list if some need
        more than a byte or a match is long.
        """
        lengths = np.diff(ends, prepend=0)
        if plies.max(initial=0) >= 1 << 8 or lengths.max(initial=0) >= MIN_COMPRESSED:
            return pack_many(plies, ends.tolist())
        data, body = np.zeros(len(plies) + len(ends), np.uint8), np.ones(len(plies) + len(ends), np.bool_)
        body[ends - lengths + np.arange(len(ends))] = False  # where the width of a match stands: 0
        data[body] = plies
        return cls(data, lengths + 1)

    @classmethod
    def concatenated(cls, parts: Sequence[PlyColumn]) -> PlyColumn:
        return cls(np.concatenate([part.data for part in parts]), np.concatenate([part.lengths for part in parts]))

    def take(self, places: npt.NDArray[np.int64]) -> PlyColumn:
        """Returns the plies of these matches, in this order."""
        lengths = self.lengths[places]
        begins = np.repeat(self._ends[places] - np.cumsum(lengths), lengths)
        return PlyColumn(self.data[begins + np.arange(len(begins))], lengths)

    def __len__(self) -> int:
        return len(self.lengths)

    @overload
    def __getitem__(self, place: int) -> bytes: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[bytes]: ...

    def __getitem__(self, place: int | slice) -> bytes | Sequence[bytes]:
        if isinstance(place, slice):
            return self.take(np.arange(len(self))[place])
        end = int(self._ends[place])
        return self.data[end - int(self.lengths[place]) : end].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        whole, begin = self.data.tobytes(), 0
        for end in self._ends.tolist():
            yield whole[begin:end]
            begin = end


@dataclass(frozen=True, eq=False, slots=True)
class PlayedMatches(Sequence[MatchRecord]):
    """Matches of the same number of seats that ended without an error; records are made when they are asked for."""

    specs: Sequence[MatchSpec]  # as columns if they were asked for so
    terminations: list[Termination]
    scores: npt.NDArray[np.float64]  # [matches, seats]
    decisions: npt.NDArray[np.int64]  # [matches, seats]
    nodes: npt.NDArray[np.int64]  # [matches, seats]
    seat_seconds: npt.NDArray[np.float64]  # [matches, seats]
    seconds: npt.NDArray[np.float64]  # [matches]
    plies: Sequence[bytes]  # pack_plies
    facts: list[dict[str, float]]
    seat_cpu_seconds: npt.NDArray[np.float64]  # [matches, seats]

    @classmethod
    def concatenated(cls, parts: Sequence[PlayedMatches]) -> PlayedMatches:
        return cls(*map(_in_one, zip(*(part.columns for part in parts), strict=True)))

    @property
    def columns(self) -> list[Any]:
        return [getattr(self, field.name) for field in fields(self)]

    def take(self, places: Sequence[int]) -> PlayedMatches:
        """Returns these matches, in this order."""
        chosen, which = np.array(places, np.int64), list(map(int, places))
        return PlayedMatches(*(_taken(some, chosen, which) for some in self.columns))

    def __len__(self) -> int:
        return len(self.specs)

    def __iter__(self) -> Iterator[MatchRecord]:
        seats = [_tuples(some) for some in (self.scores, self.decisions, self.nodes, self.seat_seconds)]
        others = self.seconds.tolist(), self.plies, self.facts, itertools.repeat(""), _tuples(self.seat_cpu_seconds)
        return map(MatchRecord, self.specs, self.terminations, *seats, *others)

    @overload
    def __getitem__(self, place: int) -> MatchRecord: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[MatchRecord]: ...

    def __getitem__(self, place: int | slice) -> MatchRecord | Sequence[MatchRecord]:
        places = range(len(self))[place]
        return next(iter(self.take([places]))) if isinstance(places, int) else self.take(places)


def _in_one(parts: Sequence[Any]) -> Any:
    """Returns the values of all parts of a column."""
    if all(isinstance(part, PlyColumn) for part in parts):
        return PlyColumn.concatenated(parts)
    if all(isinstance(part, SpecColumns) for part in parts):
        return SpecColumns.concatenated(parts) if len({part.game for part in parts}) == 1 else [*_flat(parts)]
    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else [*_flat(parts)]


def _taken(column: Any, chosen: npt.NDArray[np.int64], places: Sequence[int]) -> Any:
    if isinstance(column, SpecColumns | PlyColumn):
        return column.take(chosen)
    return column[chosen] if isinstance(column, np.ndarray) else [column[place] for place in places]


_flat = itertools.chain.from_iterable


def _tuples(rows: npt.NDArray[Any]) -> Iterator[tuple[Any, ...]]:
    """Returns the rows of an array as tuples."""
    return zip(*rows.T.tolist(), strict=True)


def joined(parts: Sequence[Sequence[R]]) -> Sequence[R]:
    """Returns the records of all parts: as columns if all parts are."""
    if len(parts) == 1:
        return parts[0]
    played: list[Any] = [part for part in parts if isinstance(part, PlayedMatches)]
    if parts and len(played) == len(parts) and len({part.scores.shape[1] for part in played}) == 1:
        return PlayedMatches.concatenated(played)  # type: ignore[return-value]
    return list(itertools.chain.from_iterable(parts))


def specs_of(records: Iterable[Any]) -> Sequence[Any]:
    """Returns the specs of records, which need not be made for that."""
    return records.specs if isinstance(records, PlayedMatches) else [record.spec for record in records]


def names_of(specs: Iterable[Any]) -> Counter[tuple[str, ...]]:
    """Returns the number of specs with the same `names`."""
    return specs.names() if isinstance(specs, SpecColumns) else Counter(spec.names for spec in specs)
