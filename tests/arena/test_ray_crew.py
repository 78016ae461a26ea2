"""The workers of a driver, the machines that it may use, and its share of them, without Ray."""

from __future__ import annotations

import concurrent.futures
import itertools
from types import SimpleNamespace
from typing import Any

import pytest

from turnier.arena.workers.cluster import actors as ray_actors
from turnier.arena.workers.cluster import shares as ray_shares
from turnier.arena.workers.cluster.crew import Crew, Piece, Worker
from turnier.arena.workers.cluster.machines import nodes as ray_nodes
from turnier.arena.workers.cluster.machines.nodes import Compiling, Nodes, Selection, Waiting
from turnier.arena.workers.cluster.shares import Claim, Shares, divide
from turnier.arena.workers.cluster.worker import NotBegun, RayWorker


def crew_of(count: int) -> tuple[Crew, list[Worker]]:
    crew, workers = Crew(), [Worker(None, node=f"n{i}") for i in range(count)]
    for worker in workers:
        crew.add(worker)
    return crew, workers


def piece_of(count: int = 1) -> Piece:
    return Piece(len, (), count)


def test_the_least_busy_worker_gets_the_next_work() -> None:
    crew, workers = crew_of(3)
    pieces = [piece_of() for _ in range(7)]
    for piece in pieces:
        crew.give(crew.least_busy(), piece)
    assert [len(worker.pieces) for worker in workers] == [3, 2, 2] and crew.idle == 0
    for piece in pieces[1::3]:
        crew.take(workers[1], piece)
    assert crew.idle == 1 and crew.least_busy() is workers[1]
    crew.remove(workers[1])
    assert len(crew) == 2 and workers[1] not in crew and list(crew) == [workers[2], workers[0]]
    crew.take(workers[1], pieces[1])  # it has left: nothing happens
    assert len(crew) == 2


def test_the_speed_of_a_worker_is_relative_to_the_mean_and_follows_it() -> None:
    crew, (slow, fast, new) = crew_of(3)
    for _ in range(40):
        crew.observe(slow, 10, 2.0)
        crew.observe(fast, 30, 2.0)
    assert fast.speed / slow.speed == pytest.approx(3.0, rel=0.1) and slow.speed < new.speed == 1.0 < fast.speed
    for _ in range(40):  # all games take ten times as long now
        crew.observe(slow, 1, 2.0)
        crew.observe(fast, 3, 2.0)
    assert fast.speed / slow.speed == pytest.approx(3.0, rel=0.1) and slow.speed < 1.0 < fast.speed
    crew.observe(slow, 0, 0.0)  # nothing is learned from nothing


def node_of(key: str, cpus: float, alive: bool = True, **more: Any) -> dict[str, Any]:
    named = {"NodeManagerHostname": key, "NodeManagerAddress": f"10.0.0.{ord(key[-1]) % 10}"}
    resources = {"CPU": cpus} | more.pop("resources", {})
    return {"NodeID": key, "Alive": alive, "Resources": resources, "Labels": more, **named}


@pytest.mark.parametrize(
    ("selection", "workers"),
    [
        (Selection(), 4),
        (Selection({"slot": 1.0}), 3),
        (Selection({"slot": 0.1}), 4),
        (Selection({"GPU": 1.0}), 0),
        (Selection({"GPU": 0.0}), 4),
        (Selection(labels={"kind": "big"}), 4),
        (Selection(labels={"kind": "!big"}), 0),
        (Selection(labels={"kind": "in(small,big)"}), 4),
        (Selection(labels={"kind": "!in(small,big)"}), 0),
        (Selection(labels={"zone": "a"}), 0),
        (Selection(labels={"zone": "!a", "kind": "big"}), 4),
    ],
)
def test_only_nodes_that_fit_count(selection: Selection, workers: int) -> None:
    assert selection.workers_on(node_of("w", 4.0, resources={"slot": 3.0}, kind="big")) == workers


def test_machines_that_leave_and_join_are_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    nodes = Nodes(Selection())
    assert nodes.look([node_of("h", 0.0), node_of("w1", 2.0), node_of("w2", 2.0)]) == {"w1": 2, "w2": 2}
    assert capsys.readouterr().err == "", "machines that are there at the start are no news"
    nodes.note_lost("w1", 1200)
    nodes.look([node_of("h", 0.0), node_of("w1", 2.0, alive=False), node_of("w2", 2.0)])
    nodes.look([node_of("h", 0.0), node_of("w2", 2.0)])
    said = "w1 (10.0.0.9) has left the cluster: 1,200 games or searches in flight are done again.\n"
    assert capsys.readouterr().err == said
    nodes.look([node_of(f"w{i}", 1.0) for i in range(2, 9)])
    names = "w3 (10.0.0.1), w4 (10.0.0.2), w5 (10.0.0.3) and 3 more"
    assert capsys.readouterr().err == f"{names} have joined the cluster: 6 more CPUs.\n"


def test_a_machine_that_compiles_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    nodes = Nodes(Selection())
    nodes.look([node_of("w1", 2.0), node_of("w2", 2.0), node_of("w3", 2.0)])
    asked: list[concurrent.futures.Future[bool]] = []

    def remote() -> SimpleNamespace:
        asked.append(concurrent.futures.Future())
        return SimpleNamespace(future=lambda: asked[-1])

    compiles = SimpleNamespace(options=lambda **_: SimpleNamespace(remote=remote))
    names = ("w1", "w1", "w2", "w3")
    workers = [Worker(SimpleNamespace(compiles=compiles), node, last_answer=0.0) for node in names]
    for worker in workers:
        worker.pieces[piece_of()] = None
    compiling = Compiling(nodes)
    compiling.check(workers, ray_nodes.COMPILE_SECONDS - 1)
    assert not asked, "it is early"
    compiling.is_over("w2")
    compiling.check(workers, ray_nodes.COMPILE_SECONDS + 1)
    assert len(asked) == 2, "one worker of each machine that has returned nothing"
    asked[0].set_result(True)
    for _ in range(ray_nodes.MOST_QUESTIONS):
        asked[-1].set_result(False)
        compiling.check(workers, ray_nodes.COMPILE_SECONDS + 1)
    said = "w1 (10.0.0.9) compiles kernels, which takes some ten seconds at first.\n"
    assert capsys.readouterr().err == said and len(asked) == 1 + ray_nodes.MOST_QUESTIONS


def test_waiting_is_said_once_until_it_is_over(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ray_nodes, "WARN_SECONDS", -1.0)
    waiting = Waiting()
    for _ in range(2):
        waiting.go_on(lambda: ray_nodes.missing("auto", "10.0.0.1:6379", 1, 0, Selection({}, {"kind": "big"})))
    assert capsys.readouterr().err == (
        "Waiting: no worker with kind=big has joined the Ray cluster at auto (1 machine without a CPU for it);"
        " start one with `ray start --address=10.0.0.1:6379`, unless an autoscaler does.\n"
    )


@pytest.mark.parametrize(
    ("nodes", "claims", "expected"),
    [
        ({"a": 8}, {"x": Claim(1, 8), "y": Claim(3, 8)}, {"x": 2, "y": 6}),
        ({"a": 3, "b": 2}, {"x": Claim(1, 5), "y": Claim(1, 5)}, {"x": 3, "y": 2}),
        ({"a": 8}, {"x": Claim(1, 8), "y": Claim(1, 2)}, {"x": 6, "y": 2}),  # y wants no more
        ({"a": 10}, {"x": Claim(1, 10), "y": Claim(0.01, 10)}, {"x": 9, "y": 1}),  # nobody starves
        ({"a": 2}, {"x": Claim(1, 2), "y": Claim(1, 2), "z": Claim(1, 2)}, {"x": 1, "y": 1, "z": 1}),
        ({}, {"x": Claim(1, 1), "y": Claim(1, 1)}, {"x": 1, "y": 1}),  # an autoscaler sees both
        ({"a": 4, "b": 4}, {"x": Claim(1, 8), "y": Claim(1, 8, ["b"])}, {"x": 6, "y": 2}),
        ({"a": 4, "b": 4}, {"x": Claim(1, 8, ["a"]), "y": Claim(1, 8, ["b"])}, {"x": 4, "y": 4}),
    ],
)
def test_workers_are_divided_by_priority(
    nodes: dict[str, int], claims: dict[str, Claim], expected: dict[str, int]
) -> None:
    assert divide(nodes, claims) == expected


class Keys:
    """Ray's store of keys."""

    def __init__(self) -> None:
        self.stored: dict[bytes, bytes] = {}

    def _internal_kv_put(self, key: bytes, word: bytes, overwrite: bool, namespace: bytes) -> None:
        self.stored[key] = word

    def _internal_kv_list(self, prefix: bytes, namespace: bytes) -> list[bytes]:
        return [key for key in self.stored if key.startswith(prefix)]

    def _internal_kv_get(self, key: bytes, namespace: bytes) -> bytes | None:
        return self.stored.get(key)

    def _internal_kv_del(self, key: bytes, namespace: bytes) -> None:
        self.stored.pop(key, None)


@pytest.fixture
def two_drivers(monkeypatch: pytest.MonkeyPatch) -> tuple[Shares, Shares]:
    """Drivers with priorities 1 and 3, for whom a second passes whenever they look at the clock."""
    import ray.experimental

    monkeypatch.setattr(ray.experimental, "internal_kv", Keys())
    now = itertools.count()
    monkeypatch.setattr(ray_shares, "time", SimpleNamespace(monotonic=lambda: float(next(now))))
    return Shares(1.0), Shares(3.0)


def test_drivers_know_each_other_and_take_back_what_a_dead_one_had(two_drivers: tuple[Shares, Shares]) -> None:
    one, two = two_drivers
    crew, everywhere = Crew(), True
    assert one.of_this({"a": 8}, 8, crew, everywhere) == 8
    assert two.of_this({"a": 8}, 8, crew, everywhere) == 6
    assert one.of_this({"a": 8}, 8, crew, everywhere) == 2
    two.leave()
    assert one.of_this({"a": 8}, 8, crew, everywhere) == 8
    assert two.of_this({"a": 8}, 8, crew, everywhere) == 6  # then it is killed
    shares = [one.of_this({"a": 8}, 8, crew, everywhere) for _ in range(12)]
    assert shares[0] == 2 and shares[-1] == 8


def test_workers_that_have_long_been_idle_are_for_others(
    two_drivers: tuple[Shares, Shares], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = two_drivers
    crew, workers = crew_of(2)
    crew.give(crew.least_busy(), piece_of())
    two.note_all_busy()
    assert two.of_this({"a": 8}, 8, crew, True) == 8, "it has had work for all lately"
    assert one.of_this({"a": 8}, 8, Crew(), True) == 2
    monkeypatch.setattr(ray_shares, "SPARE_SECONDS", -1.0)
    assert two.of_this({"a": 8}, 8, crew, True) == 1, "one worker is busy"
    assert one.of_this({"a": 8}, 8, Crew(), True) == 7
    crew.give(workers[1], piece_of())
    assert two.of_this({"a": 8}, 8, crew, True) == 2, "all are busy, but with what was there"
    two.note_all_busy()
    assert two.of_this({"a": 8}, 8, crew, True) == 6
    one.leave()
    crew.take(workers[1], next(iter(workers[1].pieces)))
    assert two.of_this({"a": 8}, 8, crew, True) == 8, "nobody else is there"


def test_a_worker_that_is_to_leave_begins_nothing() -> None:
    worker = RayWorker()
    assert worker.work(len, "abc") == 3
    worker.leave()
    assert isinstance(worker.work(len, "abc"), NotBegun)


class Pretended:
    """An actor whose answers the test gives."""

    def __init__(self) -> None:
        self.calls: list[concurrent.futures.Future[Any]] = []
        self.left = self.killed = False
        self.work = SimpleNamespace(remote=self._begin)
        self.leave = SimpleNamespace(options=lambda **_: SimpleNamespace(remote=self._leave))

    def _begin(self, *_: Any) -> SimpleNamespace:
        self.calls.append(concurrent.futures.Future())
        return SimpleNamespace(future=lambda: self.calls[-1])

    def _leave(self) -> SimpleNamespace:
        self.left = True
        return SimpleNamespace(future=concurrent.futures.Future)


@pytest.fixture
def actors(monkeypatch: pytest.MonkeyPatch) -> ray_actors.RayActors:
    """Two workers on a cluster of two CPUs."""

    def connect(self: ray_actors.RayActors) -> None:
        def kill(actor: Pretended) -> None:
            actor.killed = True

        found = [node_of("w1", 2.0)]
        ray = SimpleNamespace(
            kill=kill, nodes=lambda: found, exceptions=SimpleNamespace(RayTaskError=ZeroDivisionError)
        )
        self._ray, self._local, self._gcs_address = ray, None, "10.0.0.1:6379"
        self._head: Any = SimpleNamespace(require=lambda: None, is_gone=lambda: False, stop=lambda: None)
        self._nodes = Nodes(self._selection)
        self._compiling = Compiling(self._nodes)

    monkeypatch.setattr(ray_actors.RayActors, "_connect", connect)
    monkeypatch.setattr(ray_actors.RayActors, "_await_first_workers", lambda _: None)
    made = ray_actors.RayActors(None, "auto")
    made._checked_at = float("inf")
    for _ in range(2):
        made._ready.add(Worker(Pretended(), "w1"))
    return made


def test_all_that_is_ready_is_taken_at_once(actors: ray_actors.RayActors) -> None:
    one, two = (worker.actor for worker in actors._ready)
    sent = [actors.send(len, "a") for _ in range(4)]
    assert len(one.calls) == len(two.calls) == 2 and actors.idle == 0
    for number, call in enumerate((*one.calls, two.calls[0])):
        call.set_result(number)
    assert dict(actors.wait(sent[:3])) == {sent[0]: 0, sent[2]: 1, sent[1]: 2} and actors.idle == 1


def test_a_worker_that_others_have_a_claim_to_ends_with_its_batch_and_hands_the_next_on(
    actors: ray_actors.RayActors,
) -> None:
    one, two = (worker.actor for worker in actors._ready)
    sent = [actors.send(len, "a", 5) for _ in range(4)]
    actors._reach(1)
    assert one.left and actors.workers == 1 and not one.killed, "never in mid-game"
    one.calls[0].set_result("done")
    assert actors.wait(sent) == [(sent[0], "done")] and not one.killed
    one.calls[1].set_result(NotBegun())
    two.calls[0].set_result("done, too")
    assert actors.wait(sent[1:]) == [(sent[1], "done, too")]
    assert one.killed and len(two.calls) == 3, "the other worker has the work that had not begun"
    two.calls[2].set_result("at last")
    assert actors.wait(sent[2:]) == [(sent[2], "at last")]
