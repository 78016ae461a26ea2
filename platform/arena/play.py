"""Playing matches: `play_match(spec)` is pure; whole batches of compiled agents run in compiled code."""

from __future__ import annotations

import contextlib
import functools
import itertools
import operator
import os
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.ensembles.pool import Pool, SerialPool, ThreadPool
from ..agents.registry import agent_of
from ..agents.seats.failure import Ending, SeatFailure
from ..agents.seats.outside import plays_outside
from ..agents.seats.seating import prepare_seat, seat_kernels, start_player
from ..core.compilation.progress import compiled_together
from ..core.errors import UserError
from ..core.kernel import compile_kernel
from ..core.outside import library
from ..games.game import Game, Position
from ..games.python.live_states import GameFailure
from ..games.registry import game_of
from .match import MatchRecord, MatchSpec, Termination, unpack_plies
from .play_compiled import match_kernel, no_returns, play_compiled
from .played import PlayedMatches, joined
from .schedules.spec_columns import SpecColumns
from .table import Table, first_position

_PLAYED_ALIKE = operator.attrgetter("game", "agents", "max_plies", "opening")
ATTEMPTS = 3  # at a match whose engine asks for another try when it fails; then it has lost


def check_spec(spec: MatchSpec) -> None:
    """Raises UserError if the match cannot be played: unknown names, wrong number of seats, unsuitable agents."""
    game = game_of(spec.game)
    if len(spec.agents) != game.num_seats:
        raise UserError(
            f"{game} has {_count(game.num_seats, 'seat')}, got {_count(len(spec.agents), 'agent')};"
            " name one agent per seat."
        )
    if spec.seed < 0:
        raise UserError(f"a seed must be 0 or larger, got {spec.seed}.")
    for agent in spec.agents:
        agent_of(agent).require(game)
    for text, made in ((spec.game, game), *((agent, agent_of(agent)) for agent in spec.agents)):
        if ":" in text and not library.digests_in([made.full_text()]) <= library.digests_in([text]):
            raise UserError(f"a match must name the version of code that is not ours, got {text}; use its full_text().")
    with contextlib.suppress(GameFailure):  # the match's record will contain it
        require_moves(_open(game, spec), spec.opening)


def require_moves(position: Position, opening: Sequence[int] = ()) -> None:
    """Raises UserError if a match is over after its opening or at the start of the game."""
    if position.over and opening:
        raise UserError(
            f"an opening must not end the game, got {list(opening)}, which ends {position.game}; shorten it."
        )
    if position.over:
        raise UserError(f"a match must start before the game is over, got {position.game}; choose another start.")


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' * (n != 1)}"


def prepare(spec: MatchSpec) -> None:
    """Checks a match and compiles its kernels, which workers then load from the cache."""
    check_spec(spec)
    game = game_of(spec.game)
    for agent in spec.agents:
        prepare_seat(agent_of(agent), game)
    seats = [seat_kernels(agent_of(agent), game) for agent in spec.agents]
    if all(seats) and game.kernels:
        compile_kernel(match_kernel([seat for seat in seats if seat], len(spec.opening)))


def prepare_matches(specs: Sequence[MatchSpec]) -> None:
    """Prepares matches, once for each combination of game and agents."""
    with compiled_together():
        some = specs.examples() if isinstance(specs, SpecColumns) else specs
        for spec in {(spec.game, spec.agents): spec for spec in some}.values():
            prepare(spec)


def play_match(spec: MatchSpec) -> MatchRecord:
    """Plays one match; the same spec gives the same record except for the seconds."""
    return play_matches([spec])[0]


def play_matches(
    specs: Sequence[MatchSpec],
    stop: npt.NDArray[np.int64] | None = None,
    python: bool = False,
    threads: int = 1,
    members: Pool | None = None,
) -> list[MatchRecord]:
    """Plays matches and returns their records in order, see `play_batch`."""
    return list(play_batch(specs, stop, python, threads, members))


def play_batch(
    specs: Sequence[MatchSpec],
    stop: npt.NDArray[np.int64] | None = None,
    python: bool = False,
    threads: int = 1,
    members: Pool | None = None,
) -> Sequence[MatchRecord]:
    """Plays matches and returns their records in order, as columns if compiled code has played them.

    Args:
        specs: any matches; those with the same game, agents and opening share one call into compiled code, except in
            games written in Python, where a failure must belong to one match.
        stop: [1]; once not 0, the remaining matches are left out.
        python: play move by move in Python even if compiled code could (for tests; the moves are the same).
        threads: for the members of ensembles in a match; their number never changes a move.
        members: pool for these members instead.
    """
    stop = np.zeros(1, np.int64) if stop is None else stop
    places: list[int] = []
    parts: list[Sequence[MatchRecord]] = []
    for numbers, batch in _alike(specs):
        check_spec(batch[0])
        game = game_of(batch[0].game)
        seats = [None if python else seat_kernels(agent_of(agent), game) for agent in batch[0].agents]
        if all(seat is not None for seat in seats):
            done, played = play_compiled(game, [s for s in seats if s is not None], batch, stop)
        else:
            own = ThreadPool(min(threads, os.cpu_count() or 1)) if threads > 1 else SerialPool()
            with contextlib.nullcontext(members) if members else own as pool:
                rest = itertools.takewhile(lambda _: not stop[0], enumerate(batch))
                found_here = ((i, _play_in_python(game, spec, pool, stop)) for i, spec in rest)
                known = {i: record for i, record in found_here if record is not None}
            done, played = list(known), list(known.values())
        places += [numbers[i] for i in done]
        parts.append(played)
        if stop[0]:
            break
    records, order = joined(parts), sorted(range(len(places)), key=places.__getitem__)
    if order == list(range(len(places))):
        return records
    return records.take(order) if isinstance(records, PlayedMatches) else [records[place] for place in order]


def _alike(specs: Sequence[MatchSpec]) -> Iterator[tuple[list[int], Sequence[MatchSpec]]]:
    """Yields the specs of each group that shares game, agents, limit of plies and opening, and their numbers."""
    if isinstance(specs, SpecColumns):
        for places in specs.alike():
            yield places.tolist(), specs.take(places)
        return
    batches: dict[tuple[Any, ...], list[int]] = {}
    for number, key in enumerate(map(_PLAYED_ALIKE, specs)):
        batches.setdefault(key, []).append(number)
    for numbers in batches.values():
        yield numbers, [specs[number] for number in numbers]


def matches_in_step(spec: MatchSpec) -> int:
    """Returns the number of matches like this one that a worker should have at once, to play side by side."""
    return _in_step(spec.game, spec.agents)


@functools.lru_cache(maxsize=1 << 12)
def _in_step(game_text: str, agents: tuple[str, ...]) -> int:
    game = game_of(game_text)
    seats = [seat_kernels(agent_of(agent), game) for agent in agents]
    return max(seat.in_step for seat in seats if seat) or 1 if all(seats) else 1


@functools.lru_cache(maxsize=256)
def _warm_up(agent: str, game_text: str) -> None:
    """Asks an agent once per process before any clock starts, which loads or compiles its kernels.

    A failure is ignored here; the match records it.
    """
    game = game_of(game_text)
    with contextlib.suppress(Exception):
        if agent_of(agent).runs_program or plays_outside(agent_of(agent)):
            return  # no kernels here; it learns when its clock starts
        position = game.start()
        player = start_player(agent_of(agent), game, position.to_move, 0, None)
        if not game.in_python:  # its searches are too slow for a warm-up
            player.act(position)


def _play_in_python(game: Game, spec: MatchSpec, pool: Pool, stop: npt.NDArray[np.int64]) -> MatchRecord | None:
    """Plays move by move unless stopped; a seat that fails ends the match, and the record names it and the reason."""
    for agent in dict.fromkeys(spec.agents):
        _warm_up(agent, spec.game)
    for _ in range(ATTEMPTS):
        record, failure = _play_once(game, spec, pool, stop)
        if stop[0]:
            return None
        if failure is None or failure.on_failure == "lose" or failure.ending is Ending.RESIGNED:
            break
        if failure.on_failure == "stop":
            raise UserError(f"every engine must play to the end, but {failure}; fix it and repeat the command.")
    return record


def _play_once(
    game: Game, spec: MatchSpec, pool: Pool, stop: npt.NDArray[np.int64]
) -> tuple[MatchRecord, SeatFailure | None]:
    """Plays a match, or its beginning; returns its record, and the failure if a seat has lost by one."""
    began = time.perf_counter()
    termination, error, forfeit = Termination.NORMAL, "", None
    agents = [agent_of(agent) for agent in spec.agents]
    here = isinstance(pool, SerialPool) and all(agent.one_thread or plays_outside(agent) for agent in agents)
    table = Table(game, agents, spec.seed, pool=pool)
    try:
        for ply in spec.opening:  # legal plies, see check_spec
            table.push(ply)
        for _ in table.turns(stop, spec.max_plies):
            pass
        if not table.position.over:
            termination = Termination.LIMIT
    except SeatFailure as failure:
        termination, error, forfeit = Termination(failure.ending.value), str(failure), failure
    except GameFailure as failure:
        termination, error = Termination.ERROR, str(failure)
    finally:
        table.close()
    if not np.isfinite(table.position.returns).all():
        termination, error = Termination.ERROR, no_returns(game, table.position.returns)
    said = " | ".join([*([error] if error else []), *table.notes()])
    return table.record(spec, termination, said, time.perf_counter() - began, here), forfeit


def replay_positions(spec: MatchSpec, plies: bytes) -> Iterator[Position]:
    """Yields every position of a played match, including afterstates; raises UserError if a ply is not legal."""
    position = first_position(game_of(spec.game), spec.seed)
    yield position
    for ply in unpack_plies(plies):
        position = position.play(int(ply), draw_chance=False)
        yield position


def replay(spec: MatchSpec, plies: bytes) -> Position:
    """Returns the final position of a played match."""
    *_, last = replay_positions(spec, plies)
    return last


def _open(game: Game, spec: MatchSpec) -> Position:
    """Returns the position after the match's opening; raises UserError if one of its plies is not legal."""
    position = first_position(game, spec.seed)
    for ply in spec.opening:
        position = position.play(ply, draw_chance=False)
    return position
