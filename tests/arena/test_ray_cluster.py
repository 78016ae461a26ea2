"""A Ray cluster of several nodes: the same records whatever is killed, joins or leaves in the middle."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from turnier.agents.registry import make_agent
from turnier.arena.match import MatchRecord, MatchSpec
from turnier.arena.play import play_match
from turnier.arena.schedules.round_robin import round_robin
from turnier.arena.workers.cluster import head as ray_head
from turnier.arena.workers.cluster.executor import PlainRows, RayExecutor
from turnier.arena.workers.cluster.head import HeadMonitor
from turnier.arena.workers.cluster.machines.admission import examined
from turnier.arena.workers.executor import Executor
from turnier.arena.workers.local import SerialExecutor
from turnier.core.compilation.machine import machine_name
from turnier.core.errors import UserError
from turnier.games.registry import make_game
from turnier.runs.training import Training

# Nodes that are killed refuse connections, by which they are known to be gone after three seconds; busy ones only wait.
QUICK = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 1000,
    "health_check_timeout_ms": 60_000,
    "health_check_failure_threshold": 3,
}
LONGEST = 300.0  # seconds for what takes some, unless the machine is busy
SPECS = list(
    round_robin(
        make_game("2048"), [make_agent("mc(iterations=60,rollout_depth=30)"), make_agent("random")], games=20, seed=7
    )
)

SELF_PLAY = "puct(iterations=16,selection=gumbel,evaluator=ntuple(tuples=6,length=4))"
GENERATIONS = "self_play(generation=20,fast=4)"


def outcome(record: MatchRecord) -> tuple[Any, ...]:
    return record.scores, record.plies, record.decisions, record.nodes, record.facts, record.termination


@pytest.fixture(scope="module")
def expected() -> dict[MatchSpec, tuple[Any, ...]]:
    return {spec: outcome(play_match(spec)) for spec in SPECS}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head with two CPUs, and nothing of it left at the end."""
    from ray.cluster_utils import Cluster

    quiet = {"include_dashboard": False, "object_store_memory": 128 << 20}
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "_system_config": QUICK, **quiet})
    yield made
    made.shutdown()


def play(executor: RayExecutor, meanwhile: Callable[[], object] = lambda: None) -> dict[MatchSpec, tuple[Any, ...]]:
    """Plays everything; calls `meanwhile` after the first batch."""
    found: list[MatchRecord] = []
    for batch in executor.play(SPECS):
        found += batch
        if len(found) == len(batch):
            meanwhile()
    assert len(found) == len(SPECS), "every match exactly once"
    return {record.spec: outcome(record) for record in found}


def await_workers(executor: RayExecutor, workers: int) -> None:
    deadline = time.monotonic() + LONGEST
    while executor.actors.workers < workers:
        assert time.monotonic() < deadline, "a CPU got no worker"
        executor.actors.wait([])


def test_one_worker_plays_the_same_and_its_machine_is_named(cluster: Any, expected: dict[Any, Any]) -> None:
    with RayExecutor(1, cluster.address) as executor:
        assert play(executor) == expected
        assert executor.workers == 1 and not executor.actors.admission.unproven
        (records,) = executor.play(SPECS[:1])
    name = f"{machine_name()}/{cluster.address.partition(':')[0]}"
    assert records[0].worker == name and examined(cluster.address) == {name: ""}


@pytest.mark.parametrize("killed", [1, 2])
def test_killed_workers_of_two_are_replaced(cluster: Any, expected: dict[Any, Any], killed: int) -> None:
    with RayExecutor(2, cluster.address) as executor:
        import ray

        await_workers(executor, 2)
        victims = executor.actors.handles[:killed]
        pids = ray.get([victim.__ray_call__.remote(lambda _: os.getpid()) for victim in victims])
        assert play(executor, lambda: [os.kill(pid, signal.SIGKILL) for pid in pids]) == expected
        if set(victims) & set(executor.actors.handles):  # no work was left for it when it was killed
            assert play(executor) == expected
        assert not set(victims) & set(executor.actors.handles)


def test_a_node_gets_work_when_it_joins_and_loses_only_its_batches_when_it_is_killed(
    cluster: Any, expected: dict[Any, Any]
) -> None:
    with RayExecutor(None, cluster.address) as executor:
        await_workers(executor, 2)
        node = cluster.add_node(num_cpus=2, object_store_memory=128 << 20)
        assert play(executor, lambda: await_workers(executor, 4)) == expected
        assert executor.workers == 4
        assert play(executor) == expected
        raylet = node.all_processes["raylet"][0].process.pid
        assert play(executor, lambda: os.kill(raylet, signal.SIGKILL)) == expected
        deadline = time.monotonic() + LONGEST
        while executor.actors.workers > 2:  # the games may have been over before it was noticed
            assert time.monotonic() < deadline, "workers of a dead node are kept"
            executor.actors._check_workers()  # `wait` returns for results only, and there may be none left
            time.sleep(0.1)


def test_self_play_learns_the_same_though_a_worker_is_killed(cluster: Any, tmp_path: Path) -> None:
    def learned(name: str, executor: Executor, report: Callable[[int], object] = lambda games: None) -> bytes:
        training = Training("tictactoe", SELF_PLAY, out=tmp_path / name, games=60, learning=GENERATIONS)
        training.plan.loop(training.out, training.games, pool=executor).run(report)
        return training.out.read_bytes()

    with SerialExecutor() as alone, RayExecutor(2, cluster.address) as executor:
        victims = iter(executor.actors.handles[:1])

        def kill(games: int) -> None:
            for victim in victims:
                import ray

                os.kill(ray.get(victim.__ray_call__.remote(lambda _: os.getpid())), signal.SIGKILL)

        assert learned("cluster.npz", executor, kill) == learned("alone.npz", alone)


def test_rows_come_back_as_they_were(expected: dict[Any, Any]) -> None:
    for items in (SPECS, [play_match(spec) for spec in SPECS[:2]], []):
        rows = PlainRows.of(items)
        assert [rows.kind(*row) for row in rows.rows] == items
    records = [play_match(spec) for spec in SPECS[:2]]
    assert [MatchRecord(r.spec, *row) for r, row in zip(records, PlainRows.of(records, 1).rows, strict=True)] == records
    single = [Single((1, 2)), Single((3,))]
    rows = PlainRows.of(single)
    assert [rows.kind(*row) for row in rows.rows] == single


@dataclass(frozen=True)
class Single:
    """Work that is said by one field."""

    words: tuple[int, ...]


@pytest.fixture
def head() -> Iterator[socket.socket]:
    """A port that answers as the head of a cluster does, until it is closed."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def port(server: socket.socket) -> str:
    return f"127.0.0.1:{server.getsockname()[1]}"


def test_a_silent_head_is_reported_in_one_sentence(head: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_head, "PROBE_SECONDS", 0.02)
    monkeypatch.setattr(ray_head, "HEAD_SECONDS", 0.5)
    monitor = HeadMonitor("auto", port(head))
    time.sleep(0.7)
    monitor.require()  # it answers
    head.close()
    deadline = time.monotonic() + LONGEST
    while not monitor.is_gone():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    with pytest.raises(UserError, match=r"^the head of the Ray cluster at auto must answer, but it has been.*\.$"):
        monitor.require()
    monitor.stop()


def test_a_driver_that_waits_for_a_silent_head_is_ended(head: socket.socket) -> None:
    code = (
        "import time; from turnier.arena.workers.cluster import head as h; h.PROBE_SECONDS = 0.02;"
        f"h.HEAD_SECONDS = 0.1; h.GRACE_SECONDS = 0.1; h.HeadMonitor('auto', '{port(head)}');"
        "print('up', flush=True); time.sleep(60)"
    )
    driver = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert driver.stdout is not None and driver.stdout.readline() == "up\n"
    head.close()
    _, errors = driver.communicate(timeout=LONGEST)
    assert driver.returncode == 2
    assert (
        errors.strip().startswith("Error: the head of the Ray cluster at auto must answer") and errors.count("\n") == 2
    )


def test_a_driver_that_was_stopped_does_not_take_the_head_for_silent(
    head: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After Ctrl-Z and `fg` the clock has gone on, but no probe has failed."""
    monkeypatch.setattr(ray_head, "PROBE_SECONDS", 0.02)
    monitor, now = HeadMonitor("auto", port(head)), time.monotonic
    time.sleep(0.1)
    with monkeypatch.context() as later:
        later.setattr(ray_head.time, "monotonic", lambda: now() + 1000)
        monitor.require()
        time.sleep(0.1)
        monitor.require()
    monitor.stop()
