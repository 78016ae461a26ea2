"""The machines of a cluster that a run may use, and messages when one leaves or joins."""

from __future__ import annotations

import concurrent.futures
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .....core.errors import UserError
from ..crew import Worker
from ..worker import ask

WARN_SECONDS = 10.0  # without any worker; then the user is told what is missing
COMPILE_SECONDS = 5.0  # without a first result of a machine; then it is asked whether it compiles
LOSS_SECONDS = 60.0  # maximum time between the end of a lost machine's workers and the notice of its loss
MOST_QUESTIONS = 3  # per machine, a few seconds apart: it loads for a moment before it compiles
NAMED = 3  # machines named in a message; the others are counted


@dataclass(frozen=True)
class Selection:
    """A worker's needs besides its CPU: amounts of Ray's resources, and labels of its machine."""

    resources: Mapping[str, float] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)  # values as in Ray: x, !x, in(x,y), !in(x,y)

    def __bool__(self) -> bool:
        return bool(self.resources or self.labels)

    def actor_of(self, ray: Any, kind: type) -> Any:
        """Returns an actor class of a class, for these machines only."""
        options = {"num_cpus": 1, "max_restarts": 0, "concurrency_groups": {"pings": 1}, **self.options({})}
        try:
            return ray.remote(**options)(kind)
        except ValueError as failure:
            reason = str(failure).strip().rstrip(".")
            raise UserError(
                f"machines must be chosen by names and values that Ray knows, got {self.words}: {reason}."
            ) from None

    def options(self, labels: Mapping[str, str]) -> dict[str, Any]:
        """Returns the options of an actor for these machines only, with some more labels."""
        selector = {**self.labels, **labels}
        return ({"label_selector": selector} if selector else {}) | (
            {"resources": dict(self.resources)} if self.resources else {}
        )

    def workers_on(self, node: Mapping[str, Any]) -> int:
        """Returns the room for workers on a node of `ray.nodes()` that nobody else uses."""
        labels = node.get("Labels") or {}
        if not all(_fits(labels.get(name), wanted) for name, wanted in self.labels.items()):
            return 0
        needed = {"CPU": 1.0, **{name: amount for name, amount in self.resources.items() if amount > 0}}
        return min(int(node["Resources"].get(name, 0.0) / amount + 1e-9) for name, amount in needed.items())

    def __str__(self) -> str:
        return f" with {self.words}" if self else ""

    @property
    def words(self) -> str:
        """The selection as users give it."""
        return ", ".join(f"{name}={value}" for name, value in (*self.resources.items(), *self.labels.items()))


def _fits(label: str | None, wanted: str) -> bool:
    excluded = wanted.startswith("!")
    several = re.fullmatch(r"in\((.*)\)", wanted.removeprefix("!"))
    values = several[1].split(",") if several else [wanted.removeprefix("!")]
    return (label in values) != excluded


class Node(NamedTuple):
    """A machine of the cluster: its name for people, and its room for workers."""

    name: str
    workers: int

    @classmethod
    def of(cls, node: Mapping[str, Any], selection: Selection) -> Node:
        host, address = node.get("NodeManagerHostname") or "", node.get("NodeManagerAddress") or ""
        name = f"{host} ({address})" if host and address and host != address else host or address or "a machine"
        return cls(name, selection.workers_on(node))


class Nodes:
    """The machines with room for workers; prints to standard error when one leaves or joins."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._alive: dict[str, Node] = {}
        self._told = False
        self._lost: list[tuple[str, int, float]] = []  # node, number of lost games or searches, and time

    def look(self, found: Iterable[Mapping[str, Any]]) -> dict[str, int]:
        """Updates the machines from `ray.nodes()`; returns the room for workers on each live node."""
        alive = {one["NodeID"]: Node.of(one, self._selection) for one in found if one["Alive"]}
        before, self._alive = self._alive, {key: node for key, node in alive.items() if node.workers}
        if self._told:
            gone = {key: node for key, node in before.items() if key not in self._alive}
            come = {key: node for key, node in self._alive.items() if key not in before}
            if gone:
                since = time.monotonic() - LOSS_SECONDS
                lost = sum(count for key, count, when in self._lost if key in gone and when > since)
                self._tell(gone, "left", f"{lost:,} games or searches in flight are done again" if lost else "")
            if come:
                workers = sum(node.workers for node in come.values())
                self._tell(come, "joined", f"{workers:,} more CPU{'s' * (workers > 1)}")
        self._told = True
        return {key: node.workers for key, node in self._alive.items()}

    def _tell(self, nodes: Mapping[str, Node], what: str, more: str) -> None:
        names = [node.name for node in nodes.values()]
        others = len(names) - NAMED
        who = ", ".join(names[:NAMED]) + (f" and {others:,} more" if others > 0 else "")
        has = "has" if len(names) == 1 else "have"
        tell(f"{who} {has} {what} the cluster{f': {more}' if more else ''}.")

    def name(self, key: str) -> str:
        return self._alive[key].name if key in self._alive else "a machine"

    def note_lost(self, key: str, count: int) -> None:
        """Notes work lost with a worker of a node, which may be gone too."""
        self._lost.append((key, count, time.monotonic()))


class Compiling:
    """Says once for each machine that it compiles kernels, while its first results are awaited."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._known: set[str] = set()  # nodes that have returned results or have been asked often enough
        self._times: Counter[str] = Counter()  # number of questions by node
        self._asked: dict[str, concurrent.futures.Future[Any]] = {}

    def is_over(self, node: str) -> None:
        self._known.add(node)

    def check(self, workers: Iterable[Worker], now: float) -> None:
        """Asks one worker of each node that has not given a first result for COMPILE_SECONDS."""
        for node, answer in list(self._asked.items()):
            if answer.done():
                del self._asked[node]
                compiles = answer.exception() is None and answer.result()
                if compiles and node not in self._known:
                    tell(f"{self._nodes.name(node)} compiles kernels, which takes some ten seconds at first.")
                self._times[node] += 1
                if compiles or self._times[node] == MOST_QUESTIONS:
                    self._known.add(node)
        for worker in workers:
            new = worker.node not in self._known and worker.node not in self._asked
            if new and worker.pieces and now - worker.last_answer > COMPILE_SECONDS:
                self._asked[worker.node] = ask(worker.actor.compiles)


class Waiting:
    """Says once why there are no workers, if that lasts."""

    def __init__(self) -> None:
        self._since: float | None = time.monotonic()
        self._told = False

    def is_over(self) -> None:
        self._since, self._told = None, False

    def go_on(self, missing: Callable[[], tuple[str, str]]) -> None:
        """Notes that there is still no worker; `missing` returns the reason and a remedy."""
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        if now - self._since > WARN_SECONDS and not self._told:
            self._told = True
            tell("Waiting: {}; {}.".format(*missing()))


def missing(address: str, port: str, nodes: int, cpus: int, selection: Selection) -> tuple[str, str]:
    """Returns the reason for having no worker, and a remedy.

    Args:
        address: address of the cluster, as given by the user.
        port: the HOST:PORT that machines join.
        nodes: number of nodes.
        cpus: number of usable CPUs.
        selection: the usable machines.
    """
    cluster = f"the Ray cluster at {address}"
    if cpus:
        number = f"{cpus:,} CPU{'s' * (cpus != 1)}{selection}, which others may be using"
        return f"no worker of {cluster} has answered yet ({number})", "the run continues when one does"
    machines = f"{nodes:,} machine{'s' * (nodes != 1)}"
    start = f"start one with `ray start --address={port}`, unless an autoscaler does"
    return f"no worker{selection} has joined {cluster} ({machines} without a CPU for it)", start


def tell(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
