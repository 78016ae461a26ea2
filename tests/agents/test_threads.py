"""Several threads search one decision: nothing is lost between them, they search as well as one, and they end."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

from tests.agents import naive_search as oracle
from tests.agents.mctse.mctse_trees import BOTH, LIMITS, POSITIONS, UNLIMITED, check_invariants, mctse
from tests.agents.positions import board_position, marks_position
from tests.playing import played
from turnier.agents.agent import Decision
from turnier.agents.mctse.agent import MctsePlayer
from turnier.agents.mctse.tree import DONE, ME, SHARE
from turnier.agents.registry import make_agent
from turnier.arena.match import MatchSpec, Termination
from turnier.arena.play import play_matches
from turnier.contract.agents import same
from turnier.core.kernel import JIT
from turnier.games.game import Position

needs_jit = pytest.mark.skipif(not JIT, reason="thousands of iterations")
SEARCHES = 12 if JIT else 1  # of every kind; races need many tries


def start(agent: Any, position: Position, seed: int = 1) -> Any:
    return agent.start(position.game, position.to_move, seed)


@BOTH
@pytest.mark.parametrize("threads", [2, 4])
def test_shared_trees_keep_the_invariants(where: str, limits: str, threads: int) -> None:
    """Visits add up along every edge to exactly the iterations, no child is there twice, and limits hold."""
    position = POSITIONS[where]
    iterations = 300 if JIT else 40
    agent = mctse(rollout_depth=10, iterations=iterations, threads=threads, **LIMITS[limits])
    player = start(agent, position)
    for _ in range(SEARCHES):
        decision = player.act(position)
        check_invariants(agent, position, player.tree, iterations)
        assert decision.nodes == iterations
        if agent.maxnodes >= len(position.legal_actions()):  # else rollouts start at the root, too
            assert decision.visits.sum() == iterations


@needs_jit
def test_threads_really_share_a_search() -> None:
    """Every thread makes iterations of one and the same tree."""
    position = POSITIONS["2048 4x4"]
    player = start(mctse(iterations=20_000, threads=2), position)
    shares = np.zeros(2)
    for _ in range(10):
        player.act(position)
        shares += [(own := tree.counts[ME]) * tree.counts[SHARE] + 1 < tree.next_node[own] for tree in player.trees]
    assert (shares > 0).all()


def test_a_full_shared_tree_stays_inside_its_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MctsePlayer, "TIMED_NODES", 50)
    position = POSITIONS["2048 4x4"]
    agent = mctse(maxnodes=UNLIMITED, rollout_depth=5, milliseconds=20, threads=3)
    player = start(agent, position)
    for _ in range(SEARCHES):
        decision = player.act(position)
        assert 0 < decision.visits.sum() <= decision.nodes == player.tree.counts[DONE]
        check_invariants(agent.replace(iterations=1), position, player.tree, decision.nodes)


@needs_jit
@pytest.mark.parametrize("final", ["max", "robust", "robust_max", "secure"])
def test_final_rules_hold_for_shared_trees(final: str) -> None:
    """robust_max continues in rounds on the same tree; the others stop at the iterations."""
    position = POSITIONS["2048 4x4"]
    for seed in range(8):
        decision = start(mctse(iterations=400, final=final, threads=2, rollout_depth=20), position, seed).act(position)
        rounds = (decision.nodes - 400) / 40
        assert decision.visits.sum() == decision.nodes and rounds == int(rounds)
        assert 0 <= rounds <= (10 if final == "robust_max" else 0)
        if final == "max":
            assert decision.values[decision.action] == decision.values[decision.visits > 0].max()
        if final == "robust":
            assert decision.visits[decision.action] == decision.visits.max()


@needs_jit
@pytest.mark.parametrize("threads", [2, 5])
@pytest.mark.parametrize("selection", ["uct", "uctn"])
def test_shared_trees_find_what_one_thread_finds(threads: int, selection: str) -> None:
    """Tic-tac-toe is played perfectly in every position with empty cells enough for a mistake."""
    agent = mctse(iterations=4000, selection=selection, exploration=1.4, threads=threads)
    boards = [marks for marks in oracle.all_marks() if marks.count(".") in (5, 6)][::4]
    assert len(boards) > 30
    players = [agent.start(marks_position(boards[0]).game, seat, 1) for seat in (0, 1)]
    for marks in boards:
        position = marks_position(marks)
        sign = 1 if position.to_move == 0 else -1
        mark = "XO"[position.to_move]
        action = players[position.to_move].act(position).action
        after = marks[:action] + mark + marks[action + 1 :]
        assert sign * oracle.minimax(after) == sign * oracle.minimax(marks), marks


@needs_jit
def test_shared_trees_value_actions_alike() -> None:
    """Over many decisions visits and means of 1 and 2 threads agree within sampling error."""
    position = board_position(((0, 16, 8, 32), (4, 64, 4, 4), (16, 0, 8, 16), (128, 32, 2, 16)), score=1200.0)
    found = {}
    for threads in (1, 2):
        player = start(mctse(threads=threads), position, 3)
        runs = [player.act(position) for _ in range(40)]
        found[threads] = [np.array([getattr(run, name) for run in runs]) for name in ("visits", "values")]
    for one, two in zip(*found.values(), strict=True):
        error = np.sqrt((one.var(axis=0, ddof=1) + two.var(axis=0, ddof=1)) / len(one))
        assert (np.abs(one.mean(axis=0) - two.mean(axis=0)) < 5 * error + 0.02 * one.mean(axis=0)).all()


# --- mc ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("iterations", [1, 124, 125, 126, 300])
@pytest.mark.parametrize("where", ["2048 4x4", "tictactoe"])
def test_mc_decides_the_same_with_any_number_of_threads(where: str, iterations: int) -> None:
    """Two or more threads give one result, bit for bit, decision after decision."""
    position = POSITIONS[where]
    runs: list[list[Decision]] = []
    for threads in (2, 3, 5):
        player = start(make_agent("mc").replace(iterations=iterations, rollout_depth=4, threads=threads), position, 9)
        runs.append([player.act(position) for _ in range(3 if JIT else 1)])
    legal = position.legal_actions()
    assert (runs[0][0].visits[legal] == iterations).all() and runs[0][0].nodes == iterations * len(legal)
    assert all(same(*pair) for run in runs[1:] for pair in zip(runs[0], run, strict=True))
    if iterations > 1 and JIT:
        assert not same(runs[0][0], runs[0][1])  # other random numbers in the next decision


@needs_jit
def test_mc_on_threads_has_the_same_expectations() -> None:
    """Means of 2 threads and of one agree within sampling error, and both have one."""
    position = POSITIONS["2048 4x4"]
    values = []
    for threads in (1, 2):
        player = start(make_agent("mc").replace(iterations=1000, threads=threads), position, 4)
        values.append(np.array([player.act(position).values for _ in range(60)]))
    error = np.sqrt(sum(v.var(axis=0, ddof=1) for v in values) / 60)
    legal = position.legal_actions()
    assert (error[legal] > 0).all()
    assert (np.abs(values[0].mean(axis=0) - values[1].mean(axis=0)) <= 5 * error + 1e-15).all()


# --- Threads come and go -------------------------------------------------------------------------------------------


def helpers() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "turnier search"}


@pytest.mark.parametrize("agent", ["mc(iterations=5,threads=3)", "mctse(iterations=5,threads=3)"])
def test_helpers_end_with_their_player(agent: str) -> None:
    """They start with the first decision, serve the next ones, and end when nobody has the player any more."""
    before, position = helpers(), POSITIONS["2048 3x3"]
    player = start(make_agent(agent), position)
    assert not helpers() - before
    for _ in range(3):
        player.act(position)
        mine = helpers() - before
        assert len(mine) == 2  # the third is the one that calls
    del player
    gc.collect()
    for thread in mine:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in mine)


@pytest.mark.parametrize("agent", ["mc(iterations=20,threads=2)", "mctse(iterations=20,threads=2)"])
def test_both_seats_have_their_own_helpers(agent: str) -> None:
    text = make_agent(agent).full_text()
    records = play_matches([MatchSpec("tictactoe", (text, text), seed) for seed in range(3)])
    assert all(record.termination is Termination.NORMAL for record in records)
    assert all(sum(record.nodes) > 20 for record in records)


def test_players_decide_at_the_same_time_in_threads_of_their_own() -> None:
    position, results = POSITIONS["2048 4x4"], []

    def decide() -> None:
        player = start(make_agent("mc(iterations=100,rollout_depth=3,threads=2)"), position, 5)
        results.append([player.act(position) for _ in range(3)])

    threads = [threading.Thread(target=decide) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all(same(*pair) for run in results for pair in zip(results[0], run, strict=True))


@pytest.mark.parametrize("agent", ["mc(iterations=10,threads=2)", "mctse(iterations=40,threads=2)"])
def test_an_error_in_a_helper_is_no_endless_wait(agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A player whose helper thread failed says so, in this decision and in every other."""
    monkeypatch.setattr(threading, "excepthook", lambda failure: None)
    before, position = helpers(), POSITIONS["2048 4x4"]
    player = start(make_agent(agent), position)
    monkeypatch.setattr(player.helpers, "_arguments", ["no game"])
    for _ in range(2):
        with pytest.raises(RuntimeError, match="helper thread"):
            player.act(position)
    mine = helpers() - before
    del player
    gc.collect()
    for thread in mine:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in mine)


@needs_jit
def test_idle_helpers_use_no_processor_time() -> None:
    position = POSITIONS["2048 4x4"]
    player = start(make_agent("mc(iterations=10,threads=8)"), position)
    player.act(position)
    time.sleep(0.05)
    before = time.process_time()
    time.sleep(0.2)
    assert time.process_time() - before < 0.1


SCRIPT = """
import os, sys
from turnier import make_agent, make_game
game = make_game("2048(size=3)")
players = [make_agent(agent).start(game) for agent in ("mc(iterations=70,threads=2)", "mctse(iterations=9,threads=2)")]
print([player.act(game.start()).action for player in players], flush=True)
if "fork" in sys.argv:
    child = os.fork()
    assert all(player.act(game.start()).nodes > 0 for player in players)
    if child:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    os._exit(7)
"""


@pytest.mark.parametrize(("arguments", "code"), [((), 0), (("fork",), 7)])
def test_a_process_ends_and_forks_with_helpers_waiting(arguments: tuple[str, ...], code: int) -> None:
    """Waiting helpers do not keep an interpreter from its end; a forked child, which has none, starts its own."""
    shown = subprocess.run([sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, timeout=120)
    assert shown.returncode == code, shown.stderr
    assert shown.stdout.startswith("[")


def test_agents_with_threads_decide_in_python() -> None:
    game = POSITIONS["2048 4x4"].game
    for name in ("mc", "mctse"):
        assert make_agent(name).seat_kernels(game) is not None
        agent = make_agent(name).replace(threads=2, iterations=5)
        assert agent.seat_kernels(game) is None
        record = played(game, agent, max_plies=5)
        assert record.termination is Termination.LIMIT and sum(record.decisions) == 5


@pytest.mark.parametrize("agent", ["mc(iterations=5,threads=4)", "mctse(iterations=5,threads=4)"])
def test_a_search_without_all_its_threads_fails_and_can_be_repeated(
    agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system gives no more threads: those that have started end, and later decisions start them anew."""
    before, position, start_thread = helpers(), POSITIONS["2048 3x3"], threading.Thread.start
    player, started = start(make_agent(agent), position), list[threading.Thread]()

    def refuse_the_third(thread: threading.Thread) -> None:
        if len(started) == 2:
            raise RuntimeError("can't start new thread")
        start_thread(thread)
        started.append(thread)

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse_the_third)
        with pytest.raises(RuntimeError, match="can't start"):
            player.act(position)
    for thread in started:
        thread.join(timeout=60)
    assert len(started) == 2 and not helpers() - before
    assert player.act(position).nodes > 0
