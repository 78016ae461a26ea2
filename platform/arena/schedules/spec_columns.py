"""Specs of many matches at one game, as columns: making an object for each would take longer than a short game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np
import numpy.typing as npt

from ..match import MatchSpec, begin_of_id, end_of_id
from .digests import digests_of

Ints = npt.NDArray[np.int64]
Ids = npt.NDArray[np.void]
_FEW = 8  # specs of the same agents and opening whose ids are computed one by one


@dataclass(frozen=True, eq=False, slots=True)
class SpecColumns(Sequence[MatchSpec]):
    """Specs without a limit on plies; a MatchSpec is made when it is asked for."""

    game: str
    lineups: list[tuple[str, ...]]  # different ones: the agent in each seat
    openings: list[tuple[int, ...]]  # different ones
    seed: Ints  # [specs]
    lineup: Ints  # [specs] index
    opening: Ints  # [specs] index
    _ids: list[Ids] = field(default_factory=list, repr=False)  # filled on first use

    @classmethod
    def of(cls, game: str, specs: Sequence[MatchSpec]) -> SpecColumns:
        lineups = {agents: place for place, agents in enumerate(dict.fromkeys(spec.agents for spec in specs))}
        openings = {opening: place for place, opening in enumerate(dict.fromkeys(spec.opening for spec in specs))}
        columns = [(spec.seed, lineups[spec.agents], openings[spec.opening]) for spec in specs]
        return cls(game, list(lineups), list(openings), *np.array(columns, np.int64).reshape(-1, 3).T.copy())

    @classmethod
    def concatenated(cls, parts: Sequence[SpecColumns]) -> SpecColumns:
        """Returns the specs of all parts, at least one; all are of one game."""
        if len(parts) == 1:
            return parts[0]
        lineups: dict[tuple[str, ...], int] = {}
        openings: dict[tuple[int, ...], int] = {}
        seeds, of_lineup, of_opening = [], [], []
        for part in parts:
            known = [lineups.setdefault(agents, len(lineups)) for agents in part.lineups]
            begun = [openings.setdefault(opening, len(openings)) for opening in part.openings]
            seeds.append(part.seed)
            of_lineup.append(np.array(known, np.int64)[part.lineup])
            of_opening.append(np.array(begun, np.int64)[part.opening])
        seed, lineup, opening = map(np.concatenate, (seeds, of_lineup, of_opening))
        ids = [np.concatenate([part.ids for part in parts])] if all(part._ids for part in parts) else []
        return cls(parts[0].game, list(lineups), list(openings), seed, lineup, opening, ids)

    @property
    def ids(self) -> Ids:
        """The ids of the specs as 16 bytes each, [specs]."""
        if not self._ids:
            self._ids.append(self._computed_ids())
        return self._ids[0]

    def _computed_ids(self) -> Ids:
        found = np.zeros((len(self), 16), np.uint8)
        for places in self.alike():
            if len(places) <= _FEW:
                for place in places.tolist():
                    found[place] = np.frombuffer(bytes.fromhex(self[place].id), np.uint8)
                continue
            one = self[int(places[0])]
            begin, end = begin_of_id(one.game, one.agents), end_of_id(one.max_plies, one.opening)
            found[places] = digests_of(begin, self.seed[places], end)[:, :16]
        return found.view("V16")[:, 0]

    def alike(self) -> list[Ints]:
        """Returns the places of the specs that differ in the seed alone, for each such group."""
        key = self.lineup * len(self.openings) + self.opening
        order = np.argsort(key, kind="stable")
        return [part for part in np.split(order, np.flatnonzero(np.diff(key[order])) + 1) if len(part)]

    def examples(self) -> list[MatchSpec]:
        """Returns the first spec of each lineup that plays."""
        return [self[int(place)] for place in np.unique(self.lineup, return_index=True)[1]]

    def names(self) -> Counter[tuple[str, ...]]:
        """Returns the number of specs with the same `MatchSpec.names`."""
        counts = np.bincount(self.lineup, minlength=len(self.lineups)).tolist()
        return Counter({(self.game, *agents): n for agents, n in zip(self.lineups, counts, strict=True) if n})

    def take(self, places: Ints | slice) -> SpecColumns:
        """Returns these specs, in this order."""
        columns = self.seed[places], self.lineup[places], self.opening[places]
        return SpecColumns(self.game, self.lineups, self.openings, *columns, [ids[places] for ids in self._ids])

    def __len__(self) -> int:
        return len(self.seed)

    def __iter__(self) -> Iterator[MatchSpec]:
        for seed, lineup, opening in zip(self.seed.tolist(), self.lineup.tolist(), self.opening.tolist(), strict=True):
            yield MatchSpec(self.game, self.lineups[lineup], seed, opening=self.openings[opening])

    @overload
    def __getitem__(self, place: int) -> MatchSpec: ...

    @overload
    def __getitem__(self, place: slice) -> SpecColumns: ...

    def __getitem__(self, place: int | slice) -> MatchSpec | SpecColumns:
        if isinstance(place, slice):
            return self.take(place)
        lineup, opening = self.lineups[self.lineup[place]], self.openings[self.opening[place]]
        return MatchSpec(self.game, lineup, int(self.seed[place]), opening=opening)


class SpecQueue:
    """Specs that wait, in order; a deque of them without an object for each."""

    def __init__(self, parts: Sequence[SpecColumns] = ()) -> None:
        self._parts = [part for part in parts if len(part)]

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __iter__(self) -> Iterator[MatchSpec]:
        for part in self._parts:
            yield from part

    def __getitem__(self, place: int) -> MatchSpec:
        for part in self._parts:
            if place < len(part):
                return part[place]
            place -= len(part)
        raise IndexError(place)

    def extend(self, specs: SpecColumns) -> None:
        if len(specs):
            self._parts.append(specs)

    def put_back(self, specs: SpecColumns) -> None:
        """Makes specs the next ones."""
        self._parts[:0] = [specs]

    def take(self, count: int) -> SpecColumns:
        """Removes and returns the next specs, at least one, if so many wait."""
        taken = []
        while count and self._parts:
            part = self._parts.pop(0)
            taken.append(part[:count])
            if count < len(part):
                self._parts.insert(0, part[count:])
            count -= len(taken[-1])
        return SpecColumns.concatenated(taken)
