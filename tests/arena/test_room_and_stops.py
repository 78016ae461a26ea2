"""Compiled matches in little room, and stopped ones: whole or left out, wherever they are cut."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import numpy as np
import pytest

from tests.agents.small_games import LONG
from tests.arena.small_matches import SPECS, spec, timeless
from turnier.agents.abi import END, NORMAL, NUM_COUNTS
from turnier.agents.registry import make_agent
from turnier.arena import play as match
from turnier.arena import play_compiled
from turnier.arena.match import MatchSpec, Termination, unpack_plies
from turnier.arena.play import play_match, play_matches, replay
from turnier.arena.play_kernel import play_many
from turnier.core.kernel import JIT
from turnier.core.rng import streams
from turnier.games.game import MAX_SEATS
from turnier.games.registry import GAMES, make_game

# --- Buffers ------------------------------------------------------------------------------------------------------


@pytest.fixture
def tiny_room(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Gives compiled matches a 256th of the room for plies; returns the (room, matches played) of every call."""
    calls: list[tuple[int, int]] = []

    def play(game: Any, seats: Any, *arrays: Any) -> int:
        *before, plies, ends, stop = arrays
        room = plies[: plies.size // 256]
        played = int(play_many(game, seats, *before, room, ends, stop))
        calls.append((room.size, played))
        return played

    monkeypatch.setattr(play_compiled, "play_many", play)
    monkeypatch.setattr(play_compiled, "FIRST_ROOM", 4096)
    monkeypatch.setattr(match, "compile_kernel", lambda kernel: None)  # `play` is no kernel
    return calls


def test_matches_longer_than_the_room_are_complete(tiny_room: list[tuple[int, int]]) -> None:
    """Where a match does not fit, it is played again from its start with more room; nothing is lost or doubled."""
    many = [spec("2048(size=2)", "random", seed=seed) for seed in range(12)]
    many += [spec("2048(size=3)", "random", seed=seed) for seed in range(3)]
    records = [timeless(record) for record in play_matches(many)]
    assert any(played == 0 for _, played in tiny_room), "no match was longer than the room"
    assert any(0 < played < 12 for _, played in tiny_room), "no batch was cut in its middle"
    assert records == [timeless(record) for record in play_matches(many, python=True)]
    assert [record.spec for record in records] == many


def direct(room: int, stop: int) -> tuple[int, list[np.ndarray], list[np.ndarray], np.ndarray, np.ndarray]:
    """Calls `play_many` for two matches; returns how many it played, the arrays after and before, plies and ends."""
    game = make_game("2048(size=2)")
    seats = (make_agent("mc(iterations=2)").seat_kernels(game),) * MAX_SEATS
    states, rngs = np.tile(game.new_state(), (2, 1)), np.stack([streams(seed, 2) for seed in (3, 4)])
    returns, counts = np.zeros((2, 1)), np.zeros((2, NUM_COUNTS, 1), np.int64)
    arrays = [states, rngs, returns, counts]
    start = [array.copy() for array in arrays]
    plies, ends = np.full(room, -7, np.int64), np.full((2, 3), -7, np.int64)
    arguments = (plies[:0], 0, returns, counts, plies, ends, np.array([stop]))
    played = play_many(game.kernels, seats, np.zeros(1, np.int64), states, rngs, *arguments)
    return int(played), arrays, start, plies, ends


@pytest.mark.parametrize("room", range(40))
def test_what_does_not_fit_leaves_the_matches_after_it(room: int) -> None:
    """Whatever the room, `play_many` plays matches whole, and does not touch those after the one that does not fit."""
    played, arrays, start, plies, ends = direct(room, stop=0)
    expected = play_matches([spec("2048(size=2)", "mc(iterations=2)", seed=seed) for seed in (3, 4)])
    lengths = [len(unpack_plies(record.plies)) for record in expected]
    assert played == sum(room >= total for total in itertools.accumulate(lengths))
    for array, before in zip(arrays, start, strict=True):
        assert np.array_equal(array[played + 1 :], before[played + 1 :])
    for i in range(played):
        first = sum(lengths[:i])
        assert ends[i, :2].tolist() == [first + lengths[i], NORMAL]
        assert plies[first : ends[i, END]].tolist() == unpack_plies(expected[i].plies).tolist()
    assert (ends[played:] == -7).all()


def test_a_stop_leaves_the_matches_after_it() -> None:
    """With the flag set, compiled code makes no decision, and does not touch further matches."""
    played, arrays, start, _, ends = direct(4096, stop=1)
    assert played == 0 and (ends == -7).all() and not arrays[3].any()
    assert all(np.array_equal(array[1:], before[1:]) for array, before in zip(arrays, start, strict=True))
    played, arrays, start, _, ends = direct(4096, stop=0)
    assert played == 2 and not any(np.array_equal(a, before) for a, before in zip(arrays, start, strict=True))


def test_long_games_fit_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Games of 5,000 plies, more than the first buffer holds, are recorded whole and replay to their scores."""
    monkeypatch.setitem(GAMES.places, "long", "tests.agents.small_games:Long")
    many = [MatchSpec("long", ("random",), seed) for seed in range(3)]
    records = play_matches(many)
    assert [timeless(record) for record in records] == [timeless(record) for record in play_matches(many, python=True)]
    for record in records:
        plies = unpack_plies(record.plies)
        assert len(plies) == record.decisions[0] == LONG and record.scores == (plies.sum(),)
        assert tuple(replay(record.spec, record.plies).returns.tolist()) == record.scores
    assert len({record.scores for record in records}) > 1


# --- Stopping -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("python", [False, True])
def test_a_stop_flag_that_is_set_leaves_all_matches_out(python: bool) -> None:
    assert play_matches(SPECS, stop=np.ones(1, np.int64), python=python) == []


def test_a_stop_between_calls_keeps_what_is_done(
    tiny_room: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Matches that were done when the flag was set are returned whole, the others not at all."""
    many = [spec("2048(size=2)", "random", seed=seed) for seed in range(12)]
    stop = np.zeros(1, np.int64)
    tiny = play_compiled.play_many

    def stop_after_some(*arguments: Any) -> int:
        played = tiny(*arguments)
        stop[0] = sum(done for _, done in tiny_room) >= 3
        return int(played)

    monkeypatch.setattr(play_compiled, "play_many", stop_after_some)
    records = play_matches(many + SPECS, stop=stop)
    assert 3 <= len(records) < len(many)
    monkeypatch.undo()
    assert [timeless(record) for record in records] == [timeless(r) for r in play_matches(many[: len(records)])]


def test_a_stop_in_python_leaves_out_the_match_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """And no other begins, of this group or the next."""
    stop = np.zeros(1, np.int64)
    facts = type(make_game("tictactoe")).facts

    def stop_at_the_second(game: Any, state: Any) -> dict[str, float]:
        stop[0] |= len(ended) == 1
        ended.append(1)
        return facts(game, state)

    ended: list[int] = []
    monkeypatch.setattr(type(make_game("tictactoe")), "facts", stop_at_the_second)
    many = [spec("tictactoe", "random", seed=seed) for seed in range(4)] + [spec("2048(size=2)", "random")]
    records = play_matches(many, stop=stop, python=True)
    assert [record.spec for record in records] == many[:1] and len(ended) == 2
    assert records[0].termination is Termination.NORMAL


@pytest.mark.skipif(not JIT, reason="whole games of 2048")
def test_a_stop_from_another_thread_reaches_compiled_code() -> None:
    """Set while kernels run, the flag ends the batch at a decision: whole records of the first matches, no others."""
    many = [spec("2048", "greedy(evaluator=heuristics2048)", seed=seed) for seed in range(4000)]
    stop, records = np.zeros(1, np.int64), []
    play_matches(many[:1])
    thread = threading.Thread(target=lambda: records.extend(play_matches(many, stop=stop)))
    thread.start()
    thread.join(0.3)
    stop[0] = 1
    thread.join(60)
    assert not thread.is_alive()
    assert len(records) < len(many)
    count = min(len(records), 20)
    assert [timeless(record) for record in records[:count]] == [timeless(r) for r in play_matches(many[:count])]
    for record in records[-2:]:
        assert timeless(record) == timeless(play_match(record.spec))
    assert [record.spec for record in records] == many[: len(records)]
