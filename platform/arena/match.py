"""Matches before and after they are played: MatchSpec and MatchRecord, plain data with a content hash."""

from __future__ import annotations

import enum
import functools
import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.seats.failure import Ending
from ..core.errors import UserError

NO_ACTION = -1  # of a failed search: worse than any action, and equal to none
_compact = json.JSONEncoder(separators=(",", ":")).encode


class Termination(enum.StrEnum):
    """The ways in which matches end; a failing seat ends its match, never the tournament."""

    NORMAL = "normal"
    LIMIT = "limit"  # max_plies reached
    UNFINISHED = "unfinished"  # a person has left, and may continue
    # Void: the game or the machine broke; it is played again.
    ERROR = "error"
    ILLEGAL_ACTION = "illegal_action"  # only in stored matches: illegal moves were void once
    # Forfeits: the seat to move has lost, regardless of the moves.
    CRASHED = "crashed"
    STALLED = "stalled"
    TIMEOUT = "timeout"
    ILLEGAL_MOVE = "illegal_move"
    RESIGNED = "resigned"  # a result like any other

    @property
    def is_forfeit(self) -> bool:
        """Whether the seat to move at the end has lost, regardless of the moves."""
        return self in _FORFEITS

    @property
    def is_failure(self) -> bool:
        """Whether the seat to move at the end has lost by failing."""
        return self.is_forfeit and self is not Termination.RESIGNED

    @property
    def has_result(self) -> bool:
        """Whether the scores are a result: by the moves, by a limit of plies, or by a forfeit."""
        return self in (Termination.NORMAL, Termination.LIMIT) or self.is_forfeit


_FORFEITS = frozenset(Termination(ending.value) for ending in Ending)


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """Everything that decides a match: the same spec always gives the same moves."""

    game: str  # full text form
    agents: tuple[str, ...]  # full text form of the agent in each seat
    seed: int
    max_plies: int = 0  # maximum actions of all seats together (chance does not count), 0 = no limit
    opening: tuple[int, ...] = ()  # plies played before the agents decide; they are nobody's decisions
    _id: str = field(default="", init=False, repr=False, compare=False)  # filled on first use

    @property
    def id(self) -> str:
        """The content hash of the fields as JSON, 32 hexadecimal digits."""
        if not self._id:
            digest = _players(self.game, self.agents).copy()
            digest.update(b"%d%s" % (self.seed, end_of_id(self.max_plies, self.opening)))
            object.__setattr__(self, "_id", digest.hexdigest()[:32])
        return self._id

    @property
    def names(self) -> tuple[str, ...]:
        """The text forms of the game and the agents."""
        return (self.game, *self.agents)

    def to_json(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self) if each.init}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> MatchSpec:
        """Returns the match described by such data; raises one of MALFORMED if they do not describe one."""
        spec = cls(data["game"], tuple(data["agents"]), data["seed"], data["max_plies"], tuple(data["opening"]))
        if not spec.agents or not all(isinstance(text, str) for text in (spec.game, *spec.agents)):
            raise ValueError(f"a match must have a game and agents, got {spec.game!r} and {spec.agents!r}")
        for number in (spec.seed, spec.max_plies, *spec.opening):
            if type(number) is not int or number < 0:
                raise ValueError(f"seed, max_plies and opening must be whole numbers from 0, got {number!r}")
        return spec


def begin_of_id(game: str, agents: tuple[str, ...]) -> bytes:
    """Returns what is hashed for a match's id before its seed, which many matches share."""
    return f"{_compact([game, agents])[:-1]},".encode()


def end_of_id(max_plies: int, opening: tuple[int, ...]) -> bytes:
    """Returns what is hashed for a match's id after its seed."""
    return f",{max_plies}{f',{_compact(opening)}' if opening else ''}]".encode()


@functools.lru_cache(maxsize=1 << 12)
def _players(game: str, agents: tuple[str, ...]) -> Any:
    """Returns the hash of the beginning of the text; to be copied."""
    return hashlib.sha256(begin_of_id(game, agents))


@dataclass(slots=True)
class MatchRecord:
    """A played match. `plies` has actions and chance outcomes in order: a replay needs no random numbers.

    Records are never changed, but not frozen: making one would take four times as long, as long as a short game.
    """

    spec: MatchSpec
    termination: Termination
    scores: tuple[float, ...]  # return of each seat
    decisions: tuple[int, ...]  # actions of each seat
    nodes: tuple[int, ...]  # evaluations (rollouts) by each seat
    seat_seconds: tuple[float, ...]  # wall clock of each seat's decisions; NaN if not measured
    seconds: float  # wall clock of the whole match
    plies: bytes  # pack_plies
    facts: dict[str, float]  # the game's facts about the final state
    error: str = ""  # a sentence: the failure or the reason for voiding; otherwise a note, if any
    # CPU time of each seat's decisions; empty if not measured. Like all times, it does not count in comparisons.
    seat_cpu_seconds: tuple[float, ...] = field(default=(), compare=False)
    release: str = field(default="", compare=False)  # of Turnier that played it, filled in when it is stored
    worker: str = field(default="", compare=False)  # its machine, filled in likewise: HOST, on clusters HOST/ADDRESS

    @property
    def failed_seat(self) -> int | None:
        """The seat that has lost by failing; it alone has the least score."""
        return self.scores.index(min(self.scores)) if self.termination.is_failure else None

    @property
    def moved_before_failing(self) -> bool:
        """Whether the seat that failed had made a move."""
        return self.failed_seat is not None and self.decisions[self.failed_seat] > 0

    @property
    def played(self) -> list[tuple[str, bool]]:
        """The agents of the seats, and whether they failed; empty if the match is void."""
        return (
            []
            if not self.termination.has_result
            else [(agent, seat == self.failed_seat) for seat, agent in enumerate(self.spec.agents)]
        )

    @property
    def points(self) -> tuple[float, ...]:
        """The points of each seat: 1 for the largest score, shared equally among the seats with it."""
        best = max(self.scores)
        return tuple((score == best) / self.scores.count(best) for score in self.scores)


def require_results(records: Iterable[MatchRecord], what: str) -> None:
    """Raises UserError if a match is void; `what` names all the games, such as "a study"."""
    failed = next((record for record in records if not record.termination.has_result), None)
    if failed:
        raise UserError(
            f"every game of {what} must have a result, got {failed.termination} ({failed.error or failed.spec}); fix"
            " the game and repeat the command."
        )


_PLY_TYPES = ("<u1", "<u2", "<u4")
_COMPRESSED = 128  # added to the first byte
_NOT_KEPT = 64  # the first byte if the moves were not kept
MIN_COMPRESSED = 1024  # bytes; compressing fewer takes longer than playing a short game


def pack_plies(plies: npt.NDArray[np.int64]) -> bytes:
    """Returns non-negative plies as bytes: their width (index into _PLY_TYPES), then the data, compressed if long."""
    largest = int(plies.max(initial=0))
    width = 0 if largest < 1 << 8 else 1 if largest < 1 << 16 else 2
    data = plies.astype(_PLY_TYPES[width]).tobytes()
    if len(data) < MIN_COMPRESSED:
        return bytes((width,)) + data
    return bytes((width + _COMPRESSED,)) + zlib.compress(data, 1)


def pack_many(plies: npt.NDArray[np.int64], ends: Sequence[int]) -> list[bytes]:
    """Returns `pack_plies` of each match; `plies` has them in sequence, ending at `ends`."""
    if plies.max(initial=0) >= 1 << 8:
        return [pack_plies(part) for part in np.split(plies, ends[:-1])]
    data, first, encoded = plies.astype(_PLY_TYPES[0]).tobytes(), 0, []
    for end in ends:
        part, first = data[first:end], end
        long = len(part) >= MIN_COMPRESSED
        encoded.append(bytes((_COMPRESSED,)) + zlib.compress(part, 1) if long else b"\0" + part)
    return encoded


def without_moves(plies: int, opening: Sequence[int]) -> bytes:
    """Returns the replacement for `pack_plies` without moves: the number of plies, and the opening."""
    return bytes((_NOT_KEPT,)) + plies.to_bytes(4, "little") + pack_plies(np.array(opening, np.int64))


def moves_kept(encoded: bytes) -> bool:
    return encoded[:1] != bytes((_NOT_KEPT,))


def count_plies(encoded: bytes) -> int:
    """Returns the number of plies of a match, even if its moves were not kept."""
    return len(unpack_plies(encoded)) if moves_kept(encoded) else int.from_bytes(encoded[1:5], "little")


def opening_of(encoded: bytes, length: int) -> tuple[int, ...]:
    """Returns the first plies of a match, at most those of its opening if its moves were not kept."""
    return tuple(unpack_plies(encoded if moves_kept(encoded) else encoded[5:])[:length].tolist()) if length else ()


def unpack_plies(encoded: bytes) -> npt.NDArray[np.int64]:
    """Returns the plies of a match; raises UserError if they were not kept."""
    if not moves_kept(encoded):
        raise UserError(
            "this game cannot be replayed, because it was imported without its moves; `turnier"
            " play` with its agents and seed plays it again, unless they search by the clock."
        )
    width, data = encoded[0], encoded[1:]
    if width >= _COMPRESSED:
        width, data = width - _COMPRESSED, zlib.decompress(data)
    return np.frombuffer(data, _PLY_TYPES[width]).astype(np.int64)


def derive_seed(*parts: int | str) -> int:
    """Returns a seed of 63 bits that depends only on the parts, not on the order of calls, workers or time."""
    return _seed_of(hashlib.sha256(_compact(parts).encode()).digest())


def seeds_after(*parts: int | str) -> Callable[..., int]:
    """Returns `derive_seed` with its first parts fixed; further numbers are then cheap."""
    begin = hashlib.sha256(begin_of_seeds(*parts))

    def seed_of(*numbers: int) -> int:
        digest = begin.copy()
        digest.update(f"{','.join(map(str, numbers))}]".encode())
        return _seed_of(digest.digest())

    return seed_of


def begin_of_seeds(*parts: int | str) -> bytes:
    """Returns what is hashed for seeds before the numbers that follow their first parts."""
    return f"{_compact(parts)[:-1]},".encode()


def _seed_of(digest: bytes) -> int:
    return int.from_bytes(digest[:8], "little") >> 1
