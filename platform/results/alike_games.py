"""The games of a large run, with alike ones kept once: ten million games in the memory of their seeds.

Games of one seed are not independent, so seeds are counted: those on which the same agents, in the same seats, got the
same scores. Every estimate depends on these numbers only. A run is read game by game if this saves little
(single-player games, whose scores differ) or if games may repeat others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..arena.schedules.repeats import declared_draws, only_moves_differ
from .frames.matches import PLAYED, as_frame, matches_frame
from .outage import outlasting
from .store.columns import Array, MatchColumns, Texts
from .store.store import Store

LARGE = 1 << 17  # games of a run from which it is read in this way
MOST_KINDS = 4096  # of kinds of games
SAVED = 4  # factor by which this must reduce the games
_RANGE = 2**62


@outlasting
def results_frame(store: Store, run: str | None = None, large: int = LARGE) -> pd.DataFrame:
    """Returns `matches_frame` without ids, for a large run with a row per seat of alike games.

    It then has a column `times`, the number of games of a row; decisions, nodes and times are sums, each in one of the
    rows that differ only by seed. `seed` and `match` are arbitrary numbers.

    Args:
        store: where the run is.
        run: its id; None = all tournaments and single games.
        large: number of games from which a run is large.
    """
    chosen = [run] if run else [one.id for one in store.runs() if one.kind in PLAYED]
    if len(chosen) == 1:
        with store.database.reading() as connection:
            is_large = store.blocks.games_of_run(connection, chosen[0]) >= large
            found = _alike(store.blocks.parts_of_run(connection, chosen[0]), chosen[0]) if is_large else None
        if found is not None:
            return found
    return matches_frame(store, run=run, ids=False)


@outlasting
def extreme_games(store: Store, run: str, count: int) -> pd.DataFrame:
    """Returns the rows of `matches_frame`, without ids, of the games with the largest and the smallest scores of a run.

    For each of its games (rules), these are the first `count` seats at either end, with all seats of their matches.
    """
    found = list[MatchColumns]()
    with store.database.reading() as connection:
        for part in store.blocks.parts_of_run(connection, run):
            columns = part.in_order()
            match_of = np.repeat(np.arange(len(columns.number)), columns.seats)
            chosen = np.zeros(len(columns.number), np.bool_)
            for game in range(len(columns.game.values)):
                seats = np.flatnonzero(columns.game.codes[match_of] == game)
                for scores in (columns.score[seats], -columns.score[seats]):
                    chosen[match_of[seats[_first_largest(scores, count)]]] = True
            found.append(columns.take(np.flatnonzero(chosen)))
    columns = MatchColumns.concatenated(found).in_order()
    n = len(columns.number)
    return as_frame(columns, np.zeros(n, np.int64), [run], False, np.zeros(n, np.bool_))


def _first_largest(values: Array, count: int) -> Array:
    """Returns the indices of the `count` largest values, the first ones of equal values; sorting takes longer."""
    if len(values) <= count:
        return np.arange(len(values))
    least = np.partition(values, -count)[-count]
    larger = np.flatnonzero(values > least)
    return np.append(larger, np.flatnonzero(values == least)[: count - len(larger)])


def _alike(parts: Iterator[MatchColumns], run: str) -> pd.DataFrame | None:
    """Returns the frame of a run; None if it must be read game by game."""
    kinds, seeds, numbers = _Kinds(), list[Array](), list[Array]()
    for part in parts:
        found = kinds.add(part)
        if found is None:
            return None
        seeds.append(part.seed)
        numbers.append(found)
    if not seeds or kinds.may_repeat():
        return None
    kinds, places = kinds.in_order()
    fields = _fields(np.concatenate(seeds), places[np.concatenate(numbers)], len(places))
    return None if fields is None else kinds.frame(fields, run)


class _Fields(NamedTuple):
    """Games, ordered by seed."""

    kind: Array  # [games]
    seed: Array  # [games] a number
    times: Array  # [games] number of seeds with the same games


def _fields(seed: Array, kind: Array, kinds: int) -> _Fields | None:
    """Returns the games of all seeds, alike ones once; None if too few are alike.

    Args:
        seed, kind: [games].
        kinds: their number.
    """
    order = np.argsort(seed)
    seed = seed[order]
    first = np.flatnonzero(np.append(True, seed[1:] != seed[:-1]))
    sizes = np.diff(np.append(first, len(seed)))
    # By seed and kind as one number: sorting by two keys takes five times as long.
    kind = np.sort(np.repeat(np.arange(len(first)), sizes) * kinds + kind[order]) % kinds
    found, before, left = list[_Fields](), 0, len(seed) // SAVED
    for size in np.unique(sizes).tolist():
        begin = first[sizes == size]
        code, most = np.zeros(len(begin), np.int64), 1
        for place in range(size):
            if most * kinds > _RANGE:
                different, code = np.unique(code, return_inverse=True)
                most = len(different)
            code, most = code * kinds + kind[begin + place], most * kinds
        _, example, times = np.unique(code, return_index=True, return_counts=True)
        left -= size * len(example)
        if left < 0:
            return None
        rows = kind[begin[example][:, None] + np.arange(size)]
        numbers = before + np.arange(len(example))
        found.append(_Fields(rows.ravel(), np.repeat(numbers, size), np.repeat(times, size)))
        before += len(example)
    return _Fields(*map(np.concatenate, zip(*found, strict=True)))


class _Kind(NamedTuple):
    """The common properties of games of two seats that differ only by seed."""

    game: str
    first: str
    second: str
    scores: tuple[float, float]
    termination: str
    facts: str
    unknown: int  # bits: unknown ones of seat_seconds and then seat_cpu_seconds, of both seats


class _Kinds:
    """The different kinds of games, and sums of the measurements of each kind."""

    def __init__(self) -> None:
        self._known: dict[_Kind, int] = {}
        self._sums = np.zeros((0, 9))  # [kinds] decisions, nodes, seat_seconds, seat_cpu_seconds of both; seconds

    def add(self, columns: MatchColumns) -> Array | None:
        """Returns the kind of each game; None if they differ too much, or do not have two seats."""
        if not len(columns.number) or (columns.seats != 2).any():
            return None
        agents, scores = columns.agent.codes.reshape(-1, 2), columns.score.reshape(-1, 2)
        values, score = np.unique(scores, return_inverse=True)
        measured = (columns.decisions, columns.nodes, columns.seat_seconds, columns.seat_cpu_seconds)
        each = np.column_stack([*(some.reshape(-1, 2) for some in measured), columns.seconds]).astype(np.float64)
        unknown = np.isnan(each[:, 4:8]) @ (1 << np.arange(4))
        score = score.reshape(-1, 2)
        texts = columns.game, columns.termination, columns.facts
        parts = [*agents.T, *score.T, *(text.codes for text in texts), unknown]
        sizes = [*[len(columns.agent.values)] * 2, *[len(values)] * 2, *(len(text.values) for text in texts), 16]
        if math.prod(sizes) > _RANGE:
            return None
        key = np.zeros(len(unknown), np.int64)
        for codes, size in zip(parts, sizes, strict=True):
            key = key * size + codes
        _, example, place = np.unique(key, return_index=True, return_inverse=True)
        if len(self._known) + len(example) > 2 * MOST_KINDS:
            return None
        numbers = [self._known.setdefault(self._kind(columns, i, int(unknown[i])), len(self._known)) for i in example]
        kind = np.array(numbers, np.int32)[place]
        added = np.zeros((len(self._known), each.shape[1]))
        added[: len(self._sums)] = self._sums
        for column in range(each.shape[1]):
            added[:, column] += np.bincount(kind, np.nan_to_num(each[:, column]), len(added))
        self._sums = added
        return kind if len(self._known) <= MOST_KINDS else None

    @staticmethod
    def _kind(columns: MatchColumns, i: int, unknown: int) -> _Kind:
        first, second = (str(columns.agent.values[columns.agent.codes[2 * i + seat]]) for seat in (0, 1))
        game, termination, facts = (
            str(text.values[text.codes[i]]) for text in (columns.game, columns.termination, columns.facts)
        )
        scores = float(columns.score[2 * i]), float(columns.score[2 * i + 1])
        return _Kind(game, first, second, scores, termination, facts, unknown)

    def may_repeat(self) -> bool:
        """Whether games may repeat others by construction, which needs their moves."""
        lineups = {(kind.game, kind.first, kind.second) for kind in self._known}
        return any(
            not any(declared_draws(game, agent) is True for agent in agents) and only_moves_differ(game)
            for game, *agents in lineups
        )

    def in_order(self) -> tuple[_Kinds, Array]:
        """Returns the kinds in an order independent of that of the games, and the new number of each."""
        kinds = sorted(self._known)
        ordered = _Kinds()
        ordered._known = {kind: i for i, kind in enumerate(kinds)}
        ordered._sums = self._sums[[self._known[kind] for kind in kinds]]
        return ordered, np.array([ordered._known[kind] for kind in self._known], np.int32)

    def frame(self, games: _Fields, run: str) -> pd.DataFrame:
        """Returns the frame of games of these kinds."""
        kinds, n = list(self._known), len(games.kind)
        sums = np.zeros((n, self._sums.shape[1]))
        known, first = np.unique(games.kind, return_index=True)
        sums[first] = self._sums[known]
        unknown = np.array([kind.unknown for kind in kinds])[games.kind]
        sums[:, 4:8][(unknown[:, None] >> np.arange(4)) & 1 == 1] = np.nan
        ids = np.zeros((n, 2), ">u8")
        ids[:, 0] = np.arange(n) << 4
        texts = zip(*((kind.game, kind.termination, kind.facts) for kind in kinds), strict=True)
        game, termination, facts = (Texts.of(some).take(games.kind) for some in texts)
        agents = Texts.of([agent for kind in kinds for agent in (kind.first, kind.second)])
        columns = MatchColumns(
            np.arange(n),
            np.frombuffer(ids.tobytes(), "V16"),
            game,
            games.seed,
            termination,
            sums[:, 8],
            facts,
            np.full(n, 2, np.uint8),
            agents.take((2 * games.kind[:, None] + np.arange(2)).ravel()),
            np.array([kind.scores for kind in kinds])[games.kind].ravel(),
            sums[:, 0:2].ravel().astype(np.int64),
            sums[:, 2:4].ravel().astype(np.int64),
            sums[:, 4:6].ravel(),
            sums[:, 6:8].ravel(),
        )
        frame = as_frame(columns, np.zeros(n, np.int64), [run], False, np.zeros(n, np.bool_))
        return frame.assign(times=np.repeat(games.times, 2))
