"""Many played games as one row of the database: arrays of fixed form, texts in JSON, and one checksum.

A game in such a row has a result and no error; it belongs to one run. Its values are those of a match row and its
seats, to the bit: `rows` returns these.
"""

from __future__ import annotations

import json
from binascii import hexlify
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ...arena.match import Termination
from ...arena.played import PlayedMatches, PlyColumn
from ...arena.schedules.spec_columns import SpecColumns
from ...core.compilation.code_digest import release
from ...core.compilation.machine import machine_name
from ..integrity.checksums import CHANGED, checksum
from ..integrity.match_rows import MatchRows, facts_text
from ..store.columns import Array, MatchColumns, Texts

LEAST = 256  # games of a new row: reading or storing fewer is fast enough as rows of their own
MOST = 1 << 16
FIRST = 1 << 60  # numbers of packed games follow from their row and place, and are larger than those of match rows
_PLACES = 20  # bits of a place in a row
COLUMNS = ("run_id", "game", "matches", "ids", "games", "seats", "plies", "texts", "checksum")
_GAME = np.dtype(
    {
        "names": ["seed", "seconds", "facts", "plies", "opening", "termination", "seats"],
        "formats": ["<i8", "<f8", "<u4", "<u4", "<u2", "u1", "u1"],
    }
)
_SEAT = np.dtype(
    {
        "names": ["score", "seconds", "cpu_seconds", "nodes", "decisions", "agent"],
        "formats": ["<f8", "<f8", "<f8", "<i8", "<u4", "<u4"],
    }
)
_NO_FACTS = Texts.of([facts_text({})])
_TEXTS = ("agents", "facts", "terminations", "created", "release", "worker")


class PackedGames(NamedTuple):
    """The games of a row; `texts` has what codes in the arrays stand for, and what is the same for all games."""

    number: int  # of the row, 0 if it is not stored
    run_id: str
    game: str
    ids: npt.NDArray[np.void]  # [games] V16
    games: Array  # [games] _GAME
    seats: Array  # [all seats] _SEAT
    plies: bytes  # of all games, as match rows have them
    texts: Mapping[str, Any]  # _TEXTS

    @classmethod
    def of(cls, run_id: str, played: PlayedMatches, specs: SpecColumns, created: str) -> Self:
        """Packs games that compiled code has played; `specs` are theirs."""
        n, num_seats = played.scores.shape
        terminations = Texts.of(played.terminations)
        facts = Texts.of([facts_text(some) for some in played.facts]) if any(played.facts) else _NO_FACTS.times(n)
        used = np.unique(specs.lineup).tolist()
        code = {agent: i for i, agent in enumerate(dict.fromkeys(a for place in used for a in specs.lineups[place]))}
        codes = np.zeros((len(specs.lineups), num_seats), np.uint32)
        for place in used:
            codes[place] = [code[agent] for agent in specs.lineups[place]]
        games, seats = np.empty(n, _GAME), np.empty((n, num_seats), _SEAT)
        games["seed"], games["seconds"], games["facts"] = specs.seed, played.seconds, facts.codes
        plies = played.plies.data.tobytes() if isinstance(played.plies, PlyColumn) else b"".join(played.plies)
        games["plies"] = played.plies.lengths if isinstance(played.plies, PlyColumn) else [*map(len, played.plies)]
        games["opening"] = np.array([len(opening) for opening in specs.openings], np.uint16)[specs.opening]
        games["termination"], games["seats"] = terminations.codes, num_seats
        seats["agent"] = codes[specs.lineup]
        seats["score"] = played.scores + 0.0  # never -0.0, as in rows
        seats["decisions"], seats["nodes"] = played.decisions, played.nodes
        seats["seconds"], seats["cpu_seconds"] = played.seat_seconds, played.seat_cpu_seconds
        known = (list(code), facts.values.tolist(), terminations.values.tolist(), created, release(), machine_name())
        texts = dict(zip(_TEXTS, known, strict=True))
        return cls(0, run_id, specs.game, specs.ids, games, seats.ravel(), plies, texts)

    @classmethod
    def from_row(cls, row: Any) -> Self:
        """Reads a stored row; raises ValueError with the reason if it is not as it was stored."""
        if checksum(*(getattr(row, name) for name in COLUMNS[1:-1])) != row.checksum:  # not the run, which may move
            raise ValueError(CHANGED)
        ids, games, seats = (
            np.frombuffer(data, kind) for data, kind in ((row.ids, "V16"), (row.games, _GAME), (row.seats, _SEAT))
        )
        packed = cls(row.number, row.run_id, row.game, ids, games, seats, row.plies, json.loads(row.texts))
        if not len(ids) == len(games) == row.matches or int(games["seats"].sum(dtype=np.int64)) != len(seats):
            raise ValueError("columns must have the same length")
        if int(games["plies"].sum(dtype=np.int64)) != len(row.plies) or set(packed.texts) != set(_TEXTS):
            raise ValueError("it lacks plies or texts")
        coded = (seats["agent"], "agents"), (games["facts"], "facts"), (games["termination"], "terminations")
        for codes, name in coded:
            if int(codes.max(initial=0)) >= len(packed.texts[name]):
                raise ValueError(f"it lacks {name}")
        return packed

    def values(self) -> tuple[Any, ...]:
        """Returns the values of COLUMNS."""
        arrays = self.ids.tobytes(), self.games.tobytes(), self.seats.tobytes(), self.plies
        content = self.game, len(self.ids), *arrays, json.dumps(self.texts)
        return (self.run_id, *content, checksum(*content))

    @property
    def numbers(self) -> range:
        """The numbers of the games."""
        return numbers_in(self.number, len(self.ids))

    def id_texts(self) -> list[str]:
        text = hexlify(self.ids.tobytes()).decode()
        return [text[i : i + 32] for i in range(0, len(text), 32)]

    def with_agents(self, agents: Sequence[str]) -> Array:
        """Returns the places of the games in which all of some agents play."""
        known, n = self.texts["agents"], len(self.ids)
        plays = np.ones(n, np.bool_)
        of_seat = np.repeat(np.arange(n), self.games["seats"])
        for agent in agents:
            own = known.index(agent) if agent in known else -1
            plays &= np.bincount(of_seat[self.seats["agent"] == own], minlength=n) > 0
        return np.flatnonzero(plays)

    def ends_of_agents(self, suitable: Sequence[bool], seconds: float) -> list[int]:
        """Returns the places of the first and the last game of each agent in each seat, among those of suitable agents
        (by their codes) that took at most some seconds.
        """
        begins = np.cumsum(self.games["seats"], dtype=np.int64) - self.games["seats"]
        fits = np.logical_and.reduceat(np.array(suitable, np.bool_)[self.seats["agent"]], begins)
        short = np.repeat(fits & (self.games["seconds"] <= seconds), self.games["seats"])
        of_seat = np.repeat(np.arange(len(self.ids)), self.games["seats"])
        agent_in_seat = self.seats["agent"].astype(np.int64) << 8 | (np.arange(len(of_seat)) - begins[of_seat])
        some, places = agent_in_seat[short], of_seat[short]
        firsts = np.unique(some, return_index=True)[1]
        lasts = len(some) - 1 - np.unique(some[::-1], return_index=True)[1]
        return sorted({*places[firsts].tolist(), *places[lasts].tolist()})

    def columns(self) -> MatchColumns:
        games, seats, n = self.games, self.seats, len(self.ids)
        return MatchColumns(
            np.array(self.numbers, np.int64),
            self.ids,
            Texts.of([self.game]).times(n),
            games["seed"].astype(np.int64),
            self._coded("terminations", games["termination"]),
            games["seconds"].astype(np.float64),
            self._coded("facts", games["facts"]),
            games["seats"].copy(),
            self._coded("agents", seats["agent"]),
            seats["score"].astype(np.float64),
            seats["decisions"].astype(np.int64),
            seats["nodes"].astype(np.int64),
            seats["seconds"].astype(np.float64),
            seats["cpu_seconds"].astype(np.float64),
        )

    def _coded(self, name: str, codes: Array) -> Texts:
        return Texts(np.array(self.texts[name], str), codes.astype(np.int32))

    def rows(self, places: Sequence[int] | None = None) -> MatchRows:
        """Returns the rows of the games at some places, of all by default, with their checksums."""
        n, texts = len(self.ids), self.texts
        chosen = range(n) if places is None else places
        ends = np.cumsum(self.games["plies"], dtype=np.int64)
        begins = (ends - self.games["plies"]).tolist()
        of_seats = np.cumsum(self.games["seats"], dtype=np.int64)
        some = self.games[list(chosen)]
        seats = np.concatenate(
            [np.arange(end - count, end) for end, count in zip(of_seats[list(chosen)], some["seats"], strict=True)]
            or [np.empty(0, np.int64)]
        )
        ids, last, k = self.id_texts(), ends.tolist(), len(some)
        own, seat = self.seats[seats], [i for count in some["seats"].tolist() for i in range(count)]
        matches = [
            [ids[place] for place in chosen],
            [self.game] * k,
            some["seed"].tolist(),
            [0] * k,
            some["opening"].tolist(),
            [texts["terminations"][code] for code in some["termination"].tolist()],
            some["seconds"].tolist(),
            [self.plies[begins[place] : last[place]] for place in chosen],
            [texts["facts"][code] for code in some["facts"].tolist()],
            [""] * k,
            *([texts[name]] * k for name in ("created", "release", "worker")),
        ]
        agents = [texts["agents"][code] for code in own["agent"].tolist()]
        numbers = (own[name].tolist() for name in ("score", "decisions", "nodes", "seconds", "cpu_seconds"))
        rows = MatchRows(matches, some["seats"].tolist(), [seat, agents, *numbers])
        return rows._replace(matches=[*matches, rows.checksums()])


def numbers_in(row: int, games: int) -> range:
    """Returns the numbers of the games of a row, given by its number."""
    first = FIRST + (row << _PLACES)
    return range(first, first + games)


def places_of(numbers: Sequence[int]) -> dict[int, list[int]]:
    """Returns the places of packed games in their rows by the numbers of the rows; others are left out."""
    found: dict[int, list[int]] = {}
    for number in numbers:
        if number >= FIRST:
            found.setdefault((number - FIRST) >> _PLACES, []).append((number - FIRST) & ((1 << _PLACES) - 1))
    return found


def can_be_packed(played: PlayedMatches) -> bool:
    """Whether games fit into a row: few plies in openings, and decisions that are counted by 32 bits."""
    specs = played.specs
    if not isinstance(specs, SpecColumns) or not LEAST <= len(specs) <= MOST:
        return False
    if not {*played.terminations} <= {Termination.NORMAL, Termination.LIMIT}:
        return False
    longest = max(map(len, specs.openings), default=0)
    return longest < 1 << 16 and int(played.decisions.max(initial=0)) < 1 << 32
