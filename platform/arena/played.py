"""Matches that compiled code has played, as columns: a short game takes less time than making its record."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from .match import MatchRecord, MatchSpec, Termination

R = TypeVar("R")


@dataclass(frozen=True, eq=False, slots=True)
class PlayedMatches(Sequence[MatchRecord]):
    """Matches of the same number of seats that ended without an error; records are made when they are asked for."""

    specs: list[MatchSpec]
    terminations: list[Termination]
    scores: npt.NDArray[np.float64]  # [matches, seats]
    decisions: npt.NDArray[np.int64]  # [matches, seats]
    nodes: npt.NDArray[np.int64]  # [matches, seats]
    seat_seconds: npt.NDArray[np.float64]  # [matches, seats]
    seconds: npt.NDArray[np.float64]  # [matches]
    plies: list[bytes]
    facts: list[dict[str, float]]
    seat_cpu_seconds: npt.NDArray[np.float64]  # [matches, seats]

    @classmethod
    def concatenated(cls, parts: Sequence[PlayedMatches]) -> PlayedMatches:
        columns: list[Any] = [
            np.concatenate(some) if isinstance(some[0], np.ndarray) else list(itertools.chain.from_iterable(some))
            for some in zip(*(part.columns for part in parts), strict=True)
        ]
        return cls(*columns)

    @property
    def columns(self) -> list[Any]:
        return [getattr(self, field.name) for field in fields(self)]

    def take(self, places: Sequence[int]) -> PlayedMatches:
        """Returns these matches, in this order."""
        chosen = np.array(places, np.int64)
        columns: list[Any] = [
            some[chosen] if isinstance(some, np.ndarray) else [some[place] for place in places] for some in self.columns
        ]
        return PlayedMatches(*columns)

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


def specs_of(records: Iterable[Any]) -> list[Any]:
    """Returns the specs of records, which need not be made for that."""
    return records.specs if isinstance(records, PlayedMatches) else [record.spec for record in records]
