"""Playing matches: pure, replayable, alike in any batch, with and without the compiler."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.arena.small_matches import SPECS, TTT_FLAT, spec, timeless
from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchSpec, Termination, pack_plies, unpack_plies
from turnier.arena.play import check_spec, play_match, play_matches, replay, replay_positions
from turnier.core.errors import UserError
from turnier.core.kernel import JIT
from turnier.core.rng import streams
from turnier.games.abi import CHANCE
from turnier.games.game import Position
from turnier.games.registry import GAMES, make_game

ROOT = Path(__file__).resolve().parents[2]
needs_jit = pytest.mark.skipif(not JIT, reason="whole games of 2048")


def fingerprint() -> str:
    """Returns a hash of all that the records of SPECS say, but for the seconds."""
    text = "\n".join(
        repr((r.spec.id, r.termination.value, r.scores, r.decisions, r.nodes, unpack_plies(r.plies).tolist(), r.facts))
        for r in play_matches(SPECS)
    )
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_match_is_pure() -> None:
    """The same spec gives the same record, alone or after other matches, and is not changed."""
    for one in SPECS:
        before = dataclasses.replace(one)
        first = play_match(one)
        play_match(SPECS[0])
        again = play_match(one)
        assert timeless(first) == timeless(again) and first.spec == before == one
        assert first.seconds > 0


def test_cpu_time_is_known_of_decisions_in_one_thread() -> None:
    """Also of ensembles and agents that play by the clock, but not where other threads help."""
    inner = "mcts(iterations=50)"
    known = (f"majority(agent={inner},members=3)", "mcts(milliseconds=1)")
    for agent in known:
        (record,) = play_matches([MatchSpec("tictactoe", (agent, "random"), 1)])
        assert 0 < record.seat_cpu_seconds[0] <= record.seat_seconds[0] and len(record.seat_cpu_seconds) == 2
    helped = [MatchSpec("tictactoe", (f"majority(agent={inner},members=3)", "random"), 1)]
    assert play_matches(helped, threads=2)[0].seat_cpu_seconds == ()
    several = MatchSpec("tictactoe", ("mc(iterations=50,threads=2)", "random"), 1)
    assert play_match(several).seat_cpu_seconds == ()


def test_records_are_complete() -> None:
    """One decision an action, zero-sum scores in tic-tac-toe, the largest tile of 2048, no error where none was."""
    for record in play_matches(SPECS):
        game = make_game(record.spec.game)
        plies = unpack_plies(record.plies)
        opening = len(record.spec.opening)
        assert tuple(plies[:opening]) == record.spec.opening
        position = replay(record.spec, record.plies)
        assert len(record.scores) == len(record.decisions) == len(record.nodes) == game.num_seats
        assert 0 < min(record.seat_seconds) <= sum(record.seat_seconds) <= record.seconds < 100
        busy = [cpu / wall for cpu, wall in zip(record.seat_cpu_seconds, record.seat_seconds, strict=False)]
        assert all(0 < share <= 1 for share in busy)
        assert record.error == ""
        if game.num_seats == 2:
            assert sum(record.scores) == 0 and len(plies) - opening == sum(record.decisions)
            assert opening % 2 + record.decisions[0] - record.decisions[1] in (0, 1)
            assert record.facts == {}
        else:
            chances = len(plies) - record.decisions[0]
            assert chances == 2 + record.decisions[0]  # two tiles at the start, one after every move
            assert record.facts == {"max_tile": 2 ** int(game.cell_values(position.state).max())}
        if record.spec.max_plies and not position.over:
            assert record.termination is Termination.LIMIT
            assert sum(record.decisions) == record.spec.max_plies
        else:
            assert record.termination is Termination.NORMAL and position.over


@pytest.mark.parametrize("python", [False, True])
def test_records_replay_to_the_same_scores(python: bool) -> None:
    """The plies alone lead to the recorded scores: a replay draws nothing."""
    for record in play_matches(SPECS, python=python):
        position = replay(record.spec, record.plies)
        assert tuple(position.returns.tolist()) == record.scores
        other_seed = dataclasses.replace(record.spec, seed=record.spec.seed + 1)
        again = replay(other_seed, record.plies)
        assert again.state.tolist() == position.state.tolist() and again.returns.tolist() == position.returns.tolist()
        assert position.over == (record.termination is Termination.NORMAL)


@pytest.mark.parametrize(("opening", "sentence"), [((4, 4), "must be legal"), ((0, 3, 1, 4, 2), "must not end")])
def test_an_impossible_opening_is_refused(opening: tuple[int, ...], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        check_spec(dataclasses.replace(spec("tictactoe", "random"), opening=opening))


def test_a_replay_refuses_an_illegal_ply() -> None:
    record = play_match(spec("tictactoe", "random"))
    plies = unpack_plies(record.plies)
    plies[-1] = plies[0]
    with pytest.raises(UserError, match="must be legal"):
        replay(record.spec, pack_plies(plies))
    with pytest.raises(UserError, match="game is over"):
        replay(record.spec, pack_plies(np.append(unpack_plies(record.plies), plies[0])))


def test_python_and_compiled_matches_are_equal() -> None:
    assert [timeless(r) for r in play_matches(SPECS)] == [timeless(r) for r in play_matches(SPECS, python=True)]


@pytest.mark.parametrize("python", [False, True])
@pytest.mark.parametrize("game", ["tictactoe", "2048(size=3)"])
def test_a_limit_cuts_the_same_match(game: str, python: bool) -> None:
    """With `max_plies` = n a match is the unlimited one up to its n-th action, and LIMIT unless it was over by then."""
    whole = play_match(spec(game, "random"))
    actions = sum(whole.decisions)
    assert whole.termination is Termination.NORMAL
    for limit in (1, 2, actions - 1, actions, actions + 1):
        record = play_matches([spec(game, "random", max_plies=limit)], python=python)[0]
        plies = unpack_plies(record.plies).tolist()
        assert plies == unpack_plies(whole.plies).tolist()[: len(plies)]
        assert sum(record.decisions) == min(limit, actions)
        assert record.termination is (Termination.LIMIT if limit < actions else Termination.NORMAL)
        assert tuple(replay(record.spec, record.plies).returns.tolist()) == record.scores


SMALL_SPECS = [one for one in SPECS if one.game != "2048(size=4)"]


@given(st.permutations(range(len(SMALL_SPECS))), st.integers(1, len(SMALL_SPECS)))
@settings(max_examples=30 if JIT else 5)
def test_neighbours_and_order_change_no_record(order: list[int], count: int) -> None:
    """A match's record does not depend on which matches share its batch, in which order, or on how many."""
    expected = {one: timeless(record) for one, record in zip(SMALL_SPECS, play_matches(SMALL_SPECS), strict=True)}
    chosen = [SMALL_SPECS[i] for i in order[:count]]
    records = play_matches([*chosen, chosen[0]])
    assert [record.spec for record in records] == [*chosen, chosen[0]]
    assert [timeless(record) for record in records] == [expected[one] for one in [*chosen, chosen[0]]]


def test_a_batch_is_its_matches() -> None:
    """Thirty matches in one call into compiled code equal thirty calls; their seeds make them differ."""
    many = [spec("2048(size=2)", "random", seed=seed) for seed in range(30)]
    records = [timeless(record) for record in play_matches(many)]
    assert records == [timeless(play_match(one)) for one in many]
    assert len({record.plies for record in records}) > 25


@needs_jit
def test_threads_play_the_same_matches() -> None:
    """Kernels run side by side without the GIL and without sharing anything."""
    expected = [timeless(record) for record in play_matches(SPECS)]
    with ThreadPoolExecutor(2) as threads:
        for records in threads.map(play_matches, [SPECS] * 4):
            assert [timeless(record) for record in records] == expected


# --- Seats and streams ----------------------------------------------------------------------------------------------


def test_each_seat_has_its_own_agent_and_counts() -> None:
    """Nodes and decisions are counted for the seat that made them; swapping the agents swaps the counts' kinds."""
    for agents in (("random", TTT_FLAT), (TTT_FLAT, "random")):
        record = play_match(spec("tictactoe", *agents, seed=4))
        for seat, agent in enumerate(agents):
            assert record.decisions[seat] >= 2
            assert (record.nodes[seat] > 0) == (agent == TTT_FLAT)


def test_a_seats_stream_does_not_depend_on_the_other_agent() -> None:
    """Seat 0's first move is the same whoever sits opposite, and both seats of one agent draw different numbers."""
    firsts = set()
    for seed in range(20):
        plies = [
            unpack_plies(play_match(spec("tictactoe", "random", other, seed=seed)).plies).tolist()
            for other in ("random", "greedy", TTT_FLAT)
        ]
        assert len({line[0] for line in plies}) == 1
        firsts.add(plies[0][0])
    assert len(firsts) > 4
    rngs = streams(7, 3)
    assert len({tuple(rng) for rng in rngs.tolist()}) == 3
    assert streams(7, 2).tolist() == rngs[:2].tolist()  # more seats do not change the streams of the first


def test_the_same_seed_gives_the_same_chance_to_every_agent() -> None:
    """Chance has stream 0 to itself: as long as two agents play the same moves, they see the same tiles."""
    starts = {}
    for agent in ("random", "greedy", "mc(iterations=3)"):
        starts[agent] = unpack_plies(play_match(spec("2048", agent, seed=11, max_plies=1)).plies).tolist()
    assert len({tuple(line[:2]) for line in starts.values()}) == 1
    others = {
        tuple(unpack_plies(play_match(spec("2048", "random", seed=s, max_plies=1)).plies).tolist()[:2])
        for s in range(20)
    }
    assert len(others) > 12


def test_chance_in_a_match_is_the_games_own() -> None:
    """Every ply of chance in a record is one of the outcomes that the game names there, fours about one in ten."""
    records = play_matches([spec("2048(size=3)", "random", seed=seed) for seed in range(25)])
    tiles = []
    for record in records:
        game = make_game(record.spec.game)
        position = Position(game, game.new_state(), np.zeros(1), streams(0, 1)[0])
        game.kernels.init(position.state, streams(0, 1)[0])
        for ply in unpack_plies(record.plies).tolist():
            if position.to_move == CHANCE:
                assert ply in [outcome for outcome, _ in position.outcomes()]
                tiles.append(ply % 2)
            position = position.play(ply, draw_chance=False)
    share, n = np.mean(tiles), len(tiles)
    assert n > 500 and abs(share - 0.1) < 5 * (0.09 / n) ** 0.5


@pytest.mark.parametrize("python", [False, True])
def test_an_agent_sees_what_its_seat_may_know(python: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a game hides something, agents get the view of `observe`: their own secret, 0 for the other one."""
    monkeypatch.setitem(GAMES.places, "secrets", "tests.agents.small_games:Secrets")
    monkeypatch.setitem(AGENTS.places, "tells", "tests.agents.small_games:Tells")
    seen = set()
    for seed in range(10):
        one = MatchSpec("secrets", ("tells", "tells"), seed)
        start = next(replay_positions(one, pack_plies(np.zeros(0, np.int64))))
        own = [int(secret) for secret in start.state[1:]]
        assert min(own) > 0
        record = play_matches([one], python=python)[0]
        assert unpack_plies(record.plies).tolist() == [10 * own[0], own[1]]
        seen.add(tuple(own))
    assert len(seen) > 5


# --- What cannot be played --------------------------------------------------------------------------------------------

MATE = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"


@pytest.mark.parametrize(
    ("one", "sentence"),
    [
        (MatchSpec("tictactoe", ("random",), 1), "has 2 seats, got 1 agent; name one agent per seat"),
        (MatchSpec("2048(size=4)", ("random", "random"), 1), "has 1 seat, got 2 agents"),
        (MatchSpec("tictactoo", ("random", "random"), 1), "did you mean tictactoe"),
        (MatchSpec("tictactoe", ("random", "randon"), 1), "did you mean random"),
        (MatchSpec("2048(size=9)", ("random",), 1), "size must be from 2 to 4"),
        (MatchSpec(f'chess(fen="{MATE}")', ("random", "random"), 1), "must start before the game is over, got chess"),
        (MatchSpec("2048(size=3)", ("mc(evaluator=heuristics2048())",), 1), "heuristics2048 evaluates the 4x4 board"),
    ],
)
def test_a_match_that_cannot_be_played_is_refused_in_a_sentence(one: MatchSpec, sentence: str) -> None:
    for act in (check_spec, play_match):
        refuse: Callable[[MatchSpec], Any] = act
        with pytest.raises(UserError, match=sentence):
            refuse(one)


def test_no_matches_are_no_records() -> None:
    assert play_matches([]) == []


def test_the_compiler_changes_nothing() -> None:
    """Another process with NUMBA_DISABLE_JIT turned around (and another hash seed) gives the same records exactly."""
    environment = os.environ | {
        "NUMBA_DISABLE_JIT": "1" if JIT else "0",
        "PYTHONHASHSEED": "321",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src"), *filter(None, sys.path)]),
    }
    code = (
        "from turnier.core.kernel import JIT\n"
        "from tests.arena.test_play import fingerprint\n"
        f"assert JIT is {not JIT}\n"
        "print(fingerprint())"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split()[-1] == fingerprint()
