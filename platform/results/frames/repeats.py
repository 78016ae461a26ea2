"""Which stored matches repeat earlier ones by construction. Only moves that matter for this are read.

A match with a smaller seed is earlier, or with a smaller id if seeds are equal: so the order of playing does not
matter, and games of one seed in several orders of seats repeat those of one other seed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from ...arena.match import Termination
from ...arena.schedules.repeats import Played, Repeats, declared_draws, only_moves_differ
from ..store.columns import Array, MatchColumns
from ..store.match_blocks import MatchBlocks
from ..store.schema import matches

FIRST_PART = 500  # matches whose moves are read first; each further part has as many as all before
MOST_SHOWN = 10_000  # matches with drawing agents that are searched for other drawing agents
_WITH_RESULT = [termination.value for termination in Termination if termination.has_result]
Bools = npt.NDArray[np.bool_]


def repeats_among(blocks: MatchBlocks, connection: Connection, columns: MatchColumns) -> Bools:
    """Returns for each match, [matches], whether it repeats an earlier one of these by construction.

    Raises Damaged if the moves of a match cannot be read.
    """
    repeated = np.zeros(len(columns.number), np.bool_)
    if len(repeated):
        seats = _Seats.of(columns)
        for code, game in enumerate(columns.game.values.tolist()):
            of_game = np.flatnonzero((columns.game.codes == code) & columns.termination.are(_WITH_RESULT))
            drawn = seats.drawing(game, of_game)
            if not drawn.all() and only_moves_differ(game):
                with blocks.database.decoding(f"the moves of {game}"):
                    found = _GameRepeats(blocks, connection, columns, seats, game)
                    repeated[found.among(of_game[~drawn], of_game[drawn])] = True
    return repeated


class _Seats(NamedTuple):
    """The agents of all matches, as codes."""

    names: list[str]
    codes: Array  # [all seats]
    first: Array  # [matches] of the first seat
    counts: Array  # [matches]

    @classmethod
    def of(cls, columns: MatchColumns) -> _Seats:
        counts = columns.seats.astype(np.int64)
        return cls(columns.agent.values.tolist(), columns.agent.codes, np.cumsum(counts) - counts, counts)

    def rows(self, some: Array) -> Array:
        """Returns the seats of some matches, [all their seats]."""
        counts = self.counts[some]
        begin = np.repeat(self.first[some] - (np.cumsum(counts) - counts), counts)
        return begin + np.arange(len(begin))

    def drawing(self, game: str, some: Array) -> Bools:
        """Returns for some matches of a game, at least one, whether an agent declares that it draws random numbers."""
        if not len(some):
            return np.zeros(0, np.bool_)
        codes = self.codes if len(some) == len(self.first) else self.codes[self.rows(some)]
        draws = np.ones(len(self.names), np.bool_)
        for code in np.flatnonzero(np.bincount(codes, minlength=len(self.names))).tolist():
            draws[code] = declared_draws(game, self.names[code]) is True
        if draws.all():
            return np.ones(len(some), np.bool_)
        counts = self.counts[some]
        return np.logical_or.reduceat(draws[codes], np.cumsum(counts) - counts)

    def agents(self, some: Array) -> list[tuple[str, ...]]:
        """Returns the agents of some matches by seat."""
        names = iter([self.names[code] for code in self.codes[self.rows(some)].tolist()])
        return [tuple(itertools.islice(names, count)) for count in self.counts[some].tolist()]


class _GameRepeats:
    """Finds the repeats among the matches of one game."""

    def __init__(
        self, blocks: MatchBlocks, connection: Connection, columns: MatchColumns, seats: _Seats, game: str
    ) -> None:
        self._blocks, self._connection, self._columns, self._seats = blocks, connection, columns, seats
        self._repeats = Repeats(game)

    def among(self, some: Array, others: Array) -> Array:
        """Returns the repeats among some matches; `others`, with a drawing agent, show whether the rest draws."""
        ordered = self._ordered(some)
        added: list[int] = []
        while len(ordered):
            part, rest = np.split(ordered, [max(FIRST_PART, len(added))])
            self._repeats.add(self._played(part))
            added += part.tolist()
            drawing = self._repeats.look()
            ordered = self._where(rest, drawing.isdisjoint) if drawing else rest
        if suspects := self._repeats.suspects():
            others = self._where(others, lambda agents: not suspects.isdisjoint(agents))
            for part in self._parts(self._ordered(others)[:MOST_SHOWN]):
                self._repeats.add(self._played(part))
                if suspects <= self._repeats.look():
                    break
        found = self._repeats.found()[: len(added)]
        return np.array(list(itertools.compress(added, found)), np.int64)

    def _where(self, some: Array, condition: Callable[[tuple[str, ...]], bool]) -> Array:
        """Returns those of some matches whose agents meet a condition."""
        kept: Array = some[np.fromiter(map(condition, self._seats.agents(some)), np.bool_, len(some))]
        return kept

    @staticmethod
    def _parts(ordered: Array) -> Iterator[Array]:
        done, size = 0, FIRST_PART
        while done < len(ordered):
            yield ordered[done : done + size]
            done, size = done + size, 2 * size

    def _ordered(self, some: Array) -> Array:
        """Returns matches in an order independent of that of playing."""
        high, low = np.frombuffer(self._columns.id[some].tobytes(), ">u8").reshape(-1, 2).T
        return some[np.lexsort((low, high, self._columns.seed[some]))]

    def _played(self, some: Array) -> list[Played]:
        """Reads matches."""
        columns = self._columns
        moves = self._blocks.values(self._connection, columns.number[some].tolist(), ("opening", "plies"))
        if len(moves) < len(some):
            raise self._blocks.database.damaged(f"{len(some) - len(moves):,} games have no row in {matches.name}")
        ended = columns.termination.values[columns.termination.codes[some]].tolist()
        scores = iter(columns.score[self._seats.rows(some)].tolist())
        return [
            Played(agents, moves[number][0], moves[number][1], (termination, *itertools.islice(scores, len(agents))))
            for number, termination, agents in zip(
                columns.number[some].tolist(), ended, self._seats.agents(some), strict=True
            )
        ]
