"""Admission of a cluster's machines: only those with the same code play.

Before a machine plays, a worker there shows the digest of its Turnier and the versions of its compiler, and with its
first work the outcomes of short games of the run (`trial`). A machine on which any of these differs, or workers cannot
start, is left out with one sentence; the others continue.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterable
from typing import Any

from .....core.compilation.code_digest import release
from .....core.compilation.machine import versions
from .....core.errors import UserError
from ..connection import connect
from ..head import LOCAL
from ..worker import RayWorker, reason_of

START_SECONDS = 60.0  # for starting a worker on each machine
NODE_LABEL = "ray.io/node-id"
GONE_FOR_GOOD = re.compile(r"ModuleNotFoundError|ImportError|AttributeError|SyntaxError|must have Turnier")
OTHER_GAMES = "plays other games with the same code"


def difference(other: Any) -> str:
    """Returns the difference of a worker's shown data from this process; empty if it may play.

    Earlier versions of Turnier show a tuple.
    """
    if not isinstance(other, dict):
        return f"plays with an earlier Turnier (here {release()})"
    if other["release"] != release():
        return f"plays with other code ({other['release']}, here {release()})"
    here, there = _compared(versions()), _compared(other["versions"])
    wrong = [f"{name} {there.get(name, 'of no version')} (here {known})" for name, known in here.items()
             if there.get(name) != known]  # fmt: skip
    return f"has {', '.join(wrong)}" if wrong else ""


def _compared(known: dict[str, str]) -> dict[str, str]:
    """Returns the versions that decide games; of Python's, the first two numbers."""
    return known | {"python": ".".join(known.get("python", "").split(".")[:2])}


def cannot_start(reason: str) -> str:
    """Returns the fault of a machine on which workers cannot start."""
    return "has no Turnier" if "No module named 'turnier'" in reason else f"cannot start a worker ({reason})"


def place_of(ray: Any, actor: Any) -> tuple[str, str]:
    """Returns the node and the machine's name of an actor, even an ended one; empty if Ray does not know."""
    with contextlib.suppress(Exception):
        known = ray._private.state.actors(actor._actor_id.hex())["Address"]["NodeID"]
        found = next(node for node in ray.nodes() if node["NodeID"] == known)
        return known, f"{found['NodeManagerHostname']}/{found['NodeManagerAddress']}"
    return "", ""


class Admission:
    """The knowledge about a cluster's machines, by the ids of their nodes."""

    def __init__(self, address: str) -> None:
        self.address = address  # of the cluster, for people
        self.refused: dict[str, str] = {}  # node -> the reason
        self.unproven: set[str] = set()  # nodes that may play, but have not yet shown games
        self._names: dict[str, str] = {}
        self._admitted: set[str] = set()
        self._failed_starts: dict[str, int] = {}
        self._told: set[str] = set()

    def admits(self, other: Any, node: str, name: str) -> bool:
        """Whether a worker on a node of the machine with that name may play; `other` is what `shown` returned there."""
        if node not in self.refused and (wrong := difference(other)):
            self.refuse(node, wrong, name)
        if node in self.refused:
            return False
        if node not in self._admitted:
            self._admitted.add(node)
            self.unproven.add(node)
            self._names[node] = name
        return True

    def failed(self, reason: str, node: str, name: str, attempts: float) -> None:
        """Notes that a worker could not start; its machine is left out if the failure is permanent.

        Args:
            reason: reason of the failure.
            node, name: of its machine; left out only if no worker has started there.
            attempts: number after which it is given up, unless the reason shows earlier that they are in vain.
        """
        count = self._failed_starts[node] = self._failed_starts.get(node, 0) + 1
        if node not in self._admitted and (count >= attempts or GONE_FOR_GOOD.search(reason)):
            self.refuse(node, cannot_start(reason), name)

    def prove(self, node: str, agrees: bool) -> None:
        """Notes whether games on a machine were as here."""
        self.unproven.discard(node)
        if not agrees:
            self.refuse(node, OTHER_GAMES)

    def refuse(self, node: str, reason: str, name: str = "") -> None:
        self._names[node] = name or self._names.get(node, node)
        self.refused.setdefault(node, reason)
        self.unproven.discard(node)

    def tell(self) -> None:
        """Says once for each machine that it is left out, while others play."""
        for node in self.refused.keys() - self._told:
            self._told.add(node)
            print(f"{self._sentence(node)}: it is left out; {self._cure(node)}.", file=sys.stderr, flush=True)

    def require_some(self, nodes: Iterable[str]) -> None:
        """Raises UserError if a machine of the cluster was left out; to be called if no other may play."""
        if self.refused.keys() & set(nodes):
            raise self._error()

    def _error(self) -> UserError:
        wrong = "; ".join(map(self._sentence, self.refused))
        if self.address == LOCAL:
            return UserError(
                "Turnier must not change while it plays, but a new worker on this machine"
                f" {next(iter(self.refused.values()))}; repeat the command to resume."
            )
        cure = self._cure(next(iter(self.refused)))
        return UserError(
            f"a machine of the Ray cluster at {self.address} must play like this one, but none does: {wrong}; {cure}."
        )

    def selector(self) -> dict[str, str]:
        """Returns the labels of machines on which workers may start; empty if all may."""
        return {NODE_LABEL: f"!in({','.join(self.refused)})"} if self.refused else {}

    def _sentence(self, node: str) -> str:
        host, _, address = self._names[node].partition("/")
        return f"{host} ({address}) {self.refused[node]}" if address else f"{host} {self.refused[node]}"

    def _cure(self, node: str) -> str:
        if self.refused[node] == OTHER_GAMES:
            return "compare what turnier doctor says on both machines"
        return f"install Turnier {release()} there, with the same packages"


def examined(address: str) -> dict[str, str]:
    """Returns the difference of each machine with CPUs from this one, by its name HOST/ADDRESS.

    The text is empty for machines that may play.

    Raises UserError if no cluster answers at the address.
    """
    ray = connect(address, None)
    try:
        nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
        asked = {f"{node['NodeManagerHostname']}/{node['NodeManagerAddress']}": _asked(ray, node) for node in nodes}
        answered = (
            set(ray.wait(list(asked.values()), num_returns=len(asked), timeout=START_SECONDS)[0]) if asked else set()
        )
        return {
            name: _wrong(ray, ref) if ref in answered else f"starts no worker within {START_SECONDS:.0f} s"
            for name, ref in sorted(asked.items())
        }
    finally:
        with contextlib.suppress(Exception):
            ray.shutdown()


def _asked(ray: Any, node: dict[str, Any]) -> Any:
    """Starts a worker on a node that takes no CPU; returns the ref of its shown data."""
    there = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
    worker = ray.remote(num_cpus=0, max_restarts=0, concurrency_groups={"pings": 1}, scheduling_strategy=there)
    return worker(RayWorker).remote().ping.remote()


def _wrong(ray: Any, ref: Any) -> str:
    try:
        return difference(ray.get(ref))
    except ray.exceptions.RayError as failure:
        return cannot_start(reason_of(failure))
