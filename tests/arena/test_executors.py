"""Executors: the same records whatever runs them; lost workers, bad specs, batch sizes, unreachable clusters."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from turnier.agents.registry import make_agent
from turnier.arena.match import MatchRecord, MatchSpec
from turnier.arena.play import play_match, play_matches
from turnier.arena.schedules.round_robin import openings, plies_for_openings, round_robin, seat_orders
from turnier.arena.table import Table
from turnier.arena.workers import executor as executors
from turnier.arena.workers.batch_sizes import BatchSizer
from turnier.arena.workers.cluster import executor as ray_executor
from turnier.arena.workers.cluster import spread
from turnier.arena.workers.cluster.executor import PlainRows, _stop, _work_on
from turnier.arena.workers.cluster.luggage import Luggage
from turnier.arena.workers.executor import MATCHES, MAX_LOSSES, Done, Executor, Lost, Work, do_batch
from turnier.arena.workers.local import SerialExecutor
from turnier.arena.workers.make import make_executor
from turnier.arena.workers.where import Where
from turnier.core.errors import UserError
from turnier.games.registry import make_game

AGENTS = ["random", "mc(iterations=5,rollout_depth=5)", "mctse(iterations=20,rollout_depth=5)"]


def specs_2048(games: int) -> list[MatchSpec]:
    return list(round_robin(make_game("2048"), [make_agent(a) for a in AGENTS], games, seed=7))


def outcome(record: MatchRecord) -> tuple[Any, ...]:
    return record.scores, record.plies, record.decisions, record.nodes, record.facts, record.termination


def play_all(executor: Executor, specs: list[MatchSpec]) -> dict[str, tuple[Any, ...]]:
    with executor:
        played = [record for batch in executor.play(specs) for record in batch]
    assert len(played) == len(specs), "every match exactly once"
    return {record.spec.id: outcome(record) for record in played}


@pytest.fixture(scope="module")
def expected() -> dict[str, tuple[Any, ...]]:
    return {spec.id: outcome(play_match(spec)) for spec in specs_2048(6)}


EVERYWHERE = [("serial", None), ("threads", 1), ("threads", 3), ("ray", 2)]  # more of Ray: test_ray_cluster.py


@pytest.mark.parametrize(("name", "workers"), EVERYWHERE)
def test_serial_threads_and_ray_play_the_same(name: str, workers: int | None, expected: dict[str, Any]) -> None:
    assert play_all(make_executor(Where(name, workers)), specs_2048(6)) == expected


@pytest.mark.parametrize(("name", "workers"), [("serial", None), ("threads", 4), ("ray", 2)])
def test_one_match_of_an_ensemble_is_the_same_everywhere(
    name: str, workers: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are fewer matches than workers, members search in several workers, which changes nothing."""
    monkeypatch.setattr(spread, "WORTH_SECONDS", 0.0)
    agent = make_agent("majority(agent=mc(iterations=3,rollout_depth=3),members=3)")
    specs = round_robin(make_game("2048(size=3)"), [agent], games=1, seed=2)
    assert play_all(make_executor(Where(name, workers)), specs) == {
        spec.id: outcome(play_match(spec)) for spec in specs
    }


def test_idle_workers_leave_their_cores_to_members(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []

    def noting(specs: Any, stop: Any = None, threads: int = 1) -> list[MatchRecord]:
        given.append(threads)
        return play_matches(specs, stop, threads=threads)

    monkeypatch.setattr(executors, "play_batch", noting)
    for games, threads in ((1, 4), (2, 2), (3, 1), (9, 1)):
        given.clear()
        specs = round_robin(make_game("2048(size=2)"), [make_agent("majority(agent=random)")], games, seed=2)
        play_all(make_executor(Where("threads", 4)), specs)
        assert set(given) == {threads}


class Flaky(SerialExecutor):
    """Loses every other batch."""

    submitted = 0

    def wait(self, tickets: list[Any]) -> Iterator[tuple[Any, Done | Lost]]:
        for ticket, done in super().wait(tickets):
            self.submitted += 1
            yield ticket, Lost() if self.submitted % 2 else done


def test_lost_batches_are_played_again(expected: dict[str, Any]) -> None:
    assert play_all(Flaky(), specs_2048(6)) == expected


def test_work_waits_for_others_where_all_workers_are_lost_at_once(expected: dict[str, Any]) -> None:
    class Deserted(SerialExecutor):
        waits = 0

        def wait(self, tickets: list[Any]) -> list[tuple[Any, Done | Lost]]:
            done = list(super().wait(tickets))
            self.waits += 1
            self.workers = 1 - self.waits % 2  # at first there is nobody left
            return [(ticket, Lost()) for ticket, _ in done] if self.workers == 0 else done

    assert play_all(Deserted(), specs_2048(6)) == expected


def test_work_that_ends_every_worker_is_given_up() -> None:
    class Deadly(SerialExecutor):
        begun = 0

        def wait(self, tickets: list[Any]) -> Iterator[tuple[Any, Done | Lost]]:
            for ticket, _ in super().wait(tickets):
                self.begun += 1
                yield ticket, Lost()

    with Deadly() as executor:
        with pytest.raises(UserError, match="workers must survive their work, but 10 ended at MatchSpec"):
            list(executor.play([MatchSpec("tictactoe", ("random", "random"), 1)]))
        assert executor.begun == MAX_LOSSES + 1


def test_a_worker_loads_its_kernels_before_its_clock_starts() -> None:
    def prepare(specs: Any) -> None:
        time.sleep(0.2)

    done = do_batch(Work(lambda specs, stop: list(specs), prepare), [1, 2])
    assert done.records == [1, 2] and done.seconds < 0.2


def test_candidates_that_differ_in_numbers_are_prepared_once() -> None:
    specs = [MatchSpec("2048", (f"expectimax(depth=1,evaluator=rows2048(empty={i}.5e-1))",), i) for i in range(1, 4)]
    other = MatchSpec("2048", ("expectimax(depth=1)",), 1)
    assert MATCHES.one_of_each_kind([*specs, other]) == [specs[-1], other]


def test_batches_of_short_work_are_not_cut_to_nothing() -> None:
    sizer = BatchSizer(2)
    sizer.observe(64, 64 * 0.005)
    assert [sizer.size(left) for left in (640, 64, 12, 3, 1)] == [160, 16, 6, 2, 1]
    sizer.observe(64, 64 * 0.2)
    assert [sizer.size(left) for left in (640, 12, 3, 1)] == [5, 3, 1, 1]


def test_the_last_moments_of_work_are_one_batch() -> None:
    """Halved again and again, they would be a dozen batches, each of which takes longer to store than to play."""
    sizer = BatchSizer(2)
    sizer.observe(5000, 5000 * 2**-17)
    assert [sizer.size(left) for left in (2000, 1000, 900, 500, 3)] == [1000, 655, 655, 500, 3]


def test_a_bad_spec_is_refused_before_anything_is_played() -> None:
    bad = MatchSpec("2048", ("random", "random"), 1)
    with make_executor(Where("serial")) as executor, pytest.raises(UserError, match="2048 has 1 seat, got 2 agents"):
        list(executor.play([bad]))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("thread",), "There is no executor named 'thread'; did you mean threads?"),
        (("threads", 0), "at least 1 worker"),
        (("threads", 1, "auto"), "--address names a Ray cluster"),
        (("auto", None, None, ("zone=a",)), "--nodes chooses nodes of a Ray cluster, but none is named; add --address"),
        (("auto", None, None, (), 2.0), "--priority is a share of a Ray cluster, but none is named; add --address"),
        (("ray", None, "auto", ("zone=",)), "--nodes must be LABEL=VALUE or the name of a resource, got 'zone='"),
        (("ray", None, "auto", (), 0.0), "a priority must be from 0.01 to 100, got 0"),
        (("ray", None, "127.0.0.1:1"), "a Ray cluster must answer at 127.0.0.1:1"),
        (("ray", None, "nonsense"), "the address is not HOST:PORT or auto"),
    ],
)
def test_what_cannot_start_says_so(arguments: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        make_executor(Where(*arguments))


def test_a_local_ray_listens_on_loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    # As where somebody has imported Ray before us.
    monkeypatch.setattr(ray._private.ray_constants, "ENABLE_RAY_CLUSTER", True)

    def listening(pids: set[int]) -> set[str]:
        inodes = set()
        for pid in pids:
            with contextlib.suppress(OSError):  # the process has ended
                for fd in os.scandir(f"/proc/{pid}/fd"):
                    with contextlib.suppress(OSError):
                        inodes.add(os.readlink(fd.path))
        addresses = set()
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            for line in Path(table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
                    addresses.add(fields[1].split(":")[0])
        return addresses

    def descendants() -> set[int]:
        parents = {}
        for folder in os.scandir("/proc"):
            if folder.name.isdigit():
                with contextlib.suppress(OSError):  # another test's process that ends meanwhile
                    stat = Path(f"/proc/{folder.name}/stat").read_text()
                    parents[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
        found, new = set(), {os.getpid()}
        while new:
            new = {pid for pid, parent in parents.items() if parent in new}
            found |= new
        return found

    before = descendants()  # a cluster of other tests may listen elsewhere
    with make_executor(Where("ray", 1)):
        addresses = listening({os.getpid()} | descendants() - before)
    assert addresses
    loopback = {"0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F"}
    assert addresses <= loopback, addresses


def test_batches_grow_to_a_second_and_shrink_at_the_end() -> None:
    sizer = BatchSizer(2)
    assert sizer.size(10_000) == 1
    sizer.observe(1, 0.001)
    assert sizer.size(10_000) == 8
    sizer.observe(8, 0.008)
    sizer.observe(64, 0.064)
    sizer.observe(512, 0.512)
    assert sizer.size(1_000_000) == 1000
    assert sizer.size(100) == 50  # less than 0.05 s of work costs more to send than to do
    sizer.observe(1, 10.0)
    assert sizer.size(1_000_000) == 1


def test_batches_of_many_workers_are_longer_for_the_sake_of_the_driver() -> None:
    sizer = BatchSizer(1000)
    sizer.observe(5000, 5000 * 0.1)
    assert sizer.size(10_000_000) == 100


def test_work_in_step_is_shared_equally_until_more_comes() -> None:
    sizer = BatchSizer(4)
    assert sizer.size(300, 64) == 16  # at first, as others may join
    assert BatchSizer(4, more_may_join=False).size(300, 64) == 38
    sizer.observe(1, 1.0)
    assert [sizer.size(left, 64) for left in (300, 262, 224)] == [38, 38, 38]  # two rounds
    assert [sizer.size(left, 64) for left in (256, 192, 128, 64)] == [64] * 4
    sizer.workers = 2
    assert [sizer.size(left, 64) for left in (64, 32)] == [32, 32]
    assert sizer.size(30, 64) == 1  # so few are not faster side by side


def test_a_fast_worker_gets_larger_batches() -> None:
    def sizes(speed: float) -> list[int]:
        class Fast(SerialExecutor):
            def next_speed(self) -> float:
                return speed

        work: Work[int, int] = Work(lambda specs, stop: list(specs), lambda specs: None)
        with Fast() as executor:
            return [len(batch) for batch in executor.run(work, range(1000))][:2]

    usual, fast, slow = sizes(1.0), sizes(3.0), sizes(0.4)
    assert (usual[0], fast[0], slow[0]) == (1, 3, 1) and slow[1] < usual[1] < fast[1]


def test_a_match_in_python_ends_before_its_next_decision_once_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    decide, stop, decisions = Table.decide, np.zeros(1, np.int64), []

    def counted(table: Table) -> Any:
        decisions.append(table)
        stop[0] = len(decisions) == 12
        return decide(table)

    monkeypatch.setattr(Table, "decide", counted)
    specs = [MatchSpec("tictactoe", ("random", "random"), seed) for seed in range(5)]
    records = play_matches(specs, stop, python=True)
    assert len(decisions) == 12 and [record.spec for record in records] == specs[: len(records)]
    assert len(records) in (1, 2)


def test_a_batch_that_is_withdrawn_in_an_actor_returns_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_executor, "place", lambda: ("", ""))  # there is no Ray
    specs = [MatchSpec("tictactoe", ("random", "random"), seed) for seed in range(4)]
    record = play_match(specs[2])
    nobody = Luggage([], [], False)

    def do(batch: Any, stop: Any) -> Done:
        return Done([record] if stop[0] else [play_match(spec) for spec in batch], 0.5)

    _stop(8)  # before it has begun
    for number, left_out in ((7, set()), (8, {0, 1, 3})):
        result = _work_on(do, nobody, None, number, PlainRows.of(specs))
        assert (result.left_out, len(result.records.rows)) == (left_out, 4 - len(left_out))


def test_a_round_robin_competes_in_all_roles_on_the_same_seeds() -> None:
    game = make_game("tictactoe")
    agents = [make_agent(a) for a in AGENTS]
    specs = round_robin(game, agents, games=4, seed=3)
    assert len(specs) == 3 * 4
    by_group: dict[frozenset[str], list[MatchSpec]] = {}
    for spec in specs:
        by_group.setdefault(frozenset(spec.agents), []).append(spec)
    for group in by_group.values():
        assert len({spec.agents for spec in group}) == 2
        for order in {spec.agents for spec in group}:
            assert [s.seed for s in group if s.agents == order] == list(dict.fromkeys(s.seed for s in group))
    assert {s.seed for s in round_robin(game, agents, 4, 3)} != {s.seed for s in round_robin(game, agents, 4, 4)}


def test_an_agent_against_itself_plays_no_match_twice() -> None:
    specs = round_robin(make_game("tictactoe"), [make_agent("random")] * 2, games=10, seed=1)
    assert len({spec.id for spec in specs}) == len(specs) == 10


def test_seat_orders() -> None:
    assert seat_orders(1) == [(0,)]
    assert seat_orders(2) == [(0, 1), (1, 0)]
    assert len(seat_orders(3)) == 6
    assert seat_orders(4) == [(0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2)]


@pytest.mark.parametrize(
    ("games", "seed", "agents", "sentence"),
    [(0, 1, 2, "at least 1 game"), (1, -1, 2, "0 or larger"), (1, 1, 1, "needs at least 2 agents")],
)
def test_senseless_tournaments_are_refused(games: int, seed: int, agents: int, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        round_robin(make_game("tictactoe"), [make_agent("random")] * agents, games, seed)


def test_records_of_a_thread_pool_equal_one_call() -> None:
    specs = specs_2048(3)
    whole = {r.spec.id: outcome(r) for r in play_matches(specs)}
    assert play_all(make_executor(Where("threads", 2)), list(reversed(specs))) == whole


def test_openings_play_from_every_start_in_all_roles() -> None:
    """DiffStarts: the empty board and every first stone, each in both seat orders, repetition by repetition."""
    game, agents = make_game("tictactoe"), [make_agent("random"), make_agent("mc(iterations=2)")]
    assert openings(game, 0) == [()]
    assert openings(game, 1) == [(), *((cell,) for cell in range(9))]
    assert len(openings(game, 2)) == 1 + 9 + 72
    assert all(len(opening) < 9 for opening in openings(make_game("tictactoe"), 5))
    assert [plies_for_openings(game, wanted) for wanted in (0, 1, 2, 10, 11, 82, 83)] == [0, 0, 1, 1, 2, 2, 3]
    assert plies_for_openings(make_game("nim(piles=1;1)"), 100) == 1  # no more
    specs = round_robin(game, agents, games=21, seed=3, opening_plies=1)
    assert len(specs) == 40 and len({spec.id for spec in specs}) == 40
    for opening in openings(game, 1):
        orders = [spec.agents for spec in specs if spec.opening == opening]
        assert len(orders) == 4 and len(set(orders)) == 2
    assert list(specs)[:2] == list(
        round_robin(game, agents, games=2, seed=3)
    )  # the start is played as without openings
    with pytest.raises(UserError, match="without chance"):
        round_robin(make_game("2048"), agents, 1, 1, opening_plies=1)
