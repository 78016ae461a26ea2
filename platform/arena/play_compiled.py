"""Matches of compiled agents, whole batches per call: one after another, or in step if that is faster."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.abi import (
    DECISIONS,
    END,
    FULL,
    ILLEGAL,
    LIMIT,
    NAN,
    NANOSECONDS,
    NODES,
    NORMAL,
    NUM_COUNTS,
    STATUS,
    WHOLE,
    SeatKernels,
    draws_evenly,
    plays_alone,
)
from ..agents.registry import agent_of
from ..core.kernel import compile_kernel, make_now
from ..core.rng import streams, streams_of
from ..games.game import MAX_SEATS, Game, Position
from .match import MatchRecord, MatchSpec, Termination, pack_plies
from .play_kernel import play_many
from .played import PlayedMatches, PlyColumn, joined
from .schedules.spec_columns import SpecColumns
from .step_kernel import ENOUGH, UNDER_WAY, play_in_step
from .table import NAN_VALUES, scores_at

ROOM_IN_STEP = 1 << 12  # plies of a match, at first
FIRST_ROOM = 1 << 17  # plies, more than a long game of 2048: a match that does not fit is played again
SECOND = 1e9  # nanoseconds; quotients have few digits, which are written for every game
TERMINATIONS = {
    NORMAL: Termination.NORMAL,
    LIMIT: Termination.LIMIT,
    ILLEGAL: Termination.ILLEGAL_MOVE,
    NAN: Termination.CRASHED,
}
ERRORS = {ILLEGAL: "played what is not legal here", NAN: NAN_VALUES}


def match_kernel(seats: Sequence[SeatKernels], plies_of_opening: int) -> Any:
    """Returns the kernel that plays such matches one after another."""
    return (len(seats) == 1 and plies_of_opening == 0 and plays_alone(seats[0])) or play_many


def play_compiled(
    game: Game, seats: list[SeatKernels], specs: Sequence[MatchSpec], stop: npt.NDArray[np.int64]
) -> tuple[list[int], Sequence[MatchRecord]]:
    """Plays matches with the same agents, opening and limit of plies; returns the indices of their specs, and records.

    A stop leaves some out.
    """
    n, num_seats = len(specs), game.num_seats
    opening, max_plies = np.array(specs[0].opening, np.int64), specs[0].max_plies
    states = np.tile(game.new_state(), (n, 1))
    seeds = specs.seed.tolist() if isinstance(specs, SpecColumns) else [spec.seed for spec in specs]
    rngs = streams_of(seeds, 1 + num_seats)
    returns, counts = np.zeros((n, num_seats)), np.zeros((n, NUM_COUNTS, num_seats), np.int64)
    padded = tuple(seats) + (seats[0],) * (MAX_SEATS - num_seats)
    _call_once(game, padded)
    if n >= ENOUGH and any(seat.in_step for seat in seats):
        return _play_in_step(game, padded, specs, (states, rngs, opening, max_plies, returns, counts), stop)
    play = match_kernel(seats, opening.size)
    drawing = np.array([draws_evenly(seat) for seat in seats], np.int64)
    parts: list[Sequence[MatchRecord]] = []
    room = max(FIRST_ROOM, 512 * n)
    done = 0
    while done < n and not stop[0]:
        plies, ends = np.empty(room, np.int64), np.zeros((n - done, 3), np.int64)
        arrays = (drawing, states[done:], rngs[done:], opening, max_plies, returns[done:], counts[done:])
        busy = BusyClock()
        played = play(game.kernels, padded, *arrays, plies, ends, stop)
        batch, last = slice(done, done + played), int(ends[played - 1, END]) if played else 0
        running = busy.share(ends[:played, WHOLE])
        packed = PlyColumn.of(plies[:last], ends[:played, END])
        parts.append(
            _records(game, specs[batch], states[batch], returns[batch], counts[batch], ends[:played], packed, running)
        )
        done += played
        if done < n:  # this match did not fit, or was stopped
            states[done], rngs[done] = game.new_state(), streams(seeds[done], 1 + num_seats)
            returns[done], counts[done] = 0.0, 0
        if played == 0:
            room *= 4
    return list(range(done)), joined(parts)


def _play_in_step(
    game: Game,
    seats: tuple[SeatKernels, ...],
    specs: Sequence[MatchSpec],
    arrays: tuple[Any, ...],
    stop: npt.NDArray[np.int64],
) -> tuple[list[int], Sequence[MatchRecord]]:
    """Plays matches side by side; `arrays` are the arguments of `play_in_step` without plies and ends."""
    states, _, _, _, returns, counts = arrays
    ends = np.full((len(specs), 3), (0, UNDER_WAY, 0), np.int64)
    plies = np.empty((len(specs), ROOM_IN_STEP), np.int64)
    in_step = max(seat.in_step for seat in seats)
    memory = np.empty((in_step, max(seat.memory_words for seat in seats)), np.int64)
    compile_kernel(play_in_step)
    make_now(game.kernels.playouts)
    for seat in seats:
        make_now(seat.act_together, seat.evaluator.evaluate_together)
    busy = BusyClock()
    play_in_step(game.kernels, seats, *arrays, plies, ends, memory, stop)
    while (full := ends[:, STATUS] == FULL).any():
        ends[full, STATUS] = UNDER_WAY
        plies = np.concatenate((plies, np.empty_like(plies)), axis=1)
        play_in_step(game.kernels, seats, *arrays, plies, ends, memory, stop)
    running = busy.share(ends[:, WHOLE])
    chosen = np.flatnonzero(ends[:, STATUS] != UNDER_WAY)
    over = chosen.tolist()
    if game.num_seats == 1:
        counts[:, NANOSECONDS, 0] = ends[:, WHOLE]
    packed = [pack_plies(plies[i, : ends[i, END]]) for i in over]
    played = specs.take(chosen) if isinstance(specs, SpecColumns) else [specs[i] for i in over]
    return over, _records(game, played, states[over], returns[over], counts[over], ends[over], packed, running)


class BusyClock:
    """Measures the CPU share of the thread during matches; measuring every decision would slow them down.

    Only the time in matches counts: back in Python, the thread may wait long for others.
    """

    def __init__(self) -> None:
        self._began = time.thread_time_ns()

    def share(self, whole: npt.NDArray[np.int64]) -> float:
        """Returns the share after matches that took `whole` nanoseconds each, [n]."""
        return min(1.0, (time.thread_time_ns() - self._began) / max(1, int(whole.sum())))


def _records(
    game: Game,
    specs: Sequence[MatchSpec],
    states: npt.NDArray[np.int64],
    returns: npt.NDArray[np.float64],
    counts: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    packed: Sequence[bytes],
    busy: float,
) -> Sequence[MatchRecord]:
    """Returns the records of matches that compiled code has played, one per row of the arrays."""
    spent, statuses = counts[:, NANOSECONDS], ends[:, STATUS].tolist()
    played = PlayedMatches(
        specs,
        [TERMINATIONS[status] for status in statuses],
        returns,
        counts[:, DECISIONS],
        counts[:, NODES],
        spent / SECOND,
        ends[:, WHOLE] / SECOND,
        packed,
        game.facts_of(states),
        np.rint(busy * spent) / SECOND,
    )
    broken = (ends[:, STATUS] == ILLEGAL) | (ends[:, STATUS] == NAN) | ~np.isfinite(returns).all(axis=1)
    if not broken.any():
        return played
    records = list(played)
    for row in np.flatnonzero(broken).tolist():
        _mark_broken(game, records[row], game.position(states[row], returns[row]), statuses[row])
    return records


def _mark_broken(game: Game, record: MatchRecord, end: Position, status: int) -> None:
    """Completes the record of a match that ended with the failure of a seat or of the rules."""
    if not np.isfinite(end.returns).all():
        record.termination, record.error = Termination.ERROR, no_returns(game, end.returns)
        return
    agent = agent_of(record.spec.agents[end.to_move])
    record.error = f"seat {end.to_move}, {agent}: {ERRORS[status]}"
    record.scores = scores_at(end, record.termination)


def no_returns(game: Game, returns: npt.NDArray[np.float64]) -> str:
    """Returns the sentence for a match that is void because its rules gave NaN or infinity."""
    return f"the rules of {game} must give every seat a finite return, got {returns.tolist()}; fix them."


_called = False


def _call_once(game: Game, seats: tuple[SeatKernels, ...]) -> None:
    """Makes a process's first call into compiled code, which is slow, before any clock starts."""
    global _called
    if _called:
        return
    _called = True
    states, none = np.zeros((0, game.state_words), np.int64), np.zeros(0, np.int64)
    rngs, returns = np.zeros((0, 1 + game.num_seats, 4), np.uint64), np.zeros((0, game.num_seats))
    counts, ends = np.zeros((0, NUM_COUNTS, game.num_seats), np.int64), np.zeros((0, 3), np.int64)
    drawing, stop = np.zeros(game.num_seats, np.int64), np.zeros(1, np.int64)
    play_many(game.kernels, seats, drawing, states, rngs, none, 0, returns, counts, none, ends, stop)
