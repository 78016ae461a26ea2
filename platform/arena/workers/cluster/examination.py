"""What each machine of a cluster plays with, for `turnier doctor`: also while all of its CPUs are busy."""

from __future__ import annotations

import contextlib
from typing import Any

from turnier.arena.workers.cluster.actors import RayWorker
from turnier.arena.workers.cluster.admission import cannot_start, difference, reason_of
from turnier.arena.workers.cluster.connection import connect

SECONDS = 60.0  # for all workers to start


def examined(address: str) -> dict[str, str]:
    """Returns in which way each machine with CPUs differs from this one, by its name HOST/ADDRESS.

    Of a machine that may play that is an empty text.

    Raises UserError where no cluster answers at the address.
    """
    ray = connect(address, None)
    try:
        nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
        asked = {f"{node['NodeManagerHostname']}/{node['NodeManagerAddress']}": _asked(ray, node) for node in nodes}
        answered = set(ray.wait(list(asked.values()), num_returns=len(asked), timeout=SECONDS)[0]) if asked else set()
        return {
            name: _wrong(ray, ref) if ref in answered else f"starts no worker within {SECONDS:.0f} s"
            for name, ref in sorted(asked.items())
        }
    finally:
        with contextlib.suppress(Exception):
            ray.shutdown()


def _asked(ray: Any, node: dict[str, Any]) -> Any:
    """Starts a worker on a node that takes no CPU; returns the ref of what it shows."""
    there = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
    worker = ray.remote(num_cpus=0, max_restarts=0, concurrency_groups={"pings": 1}, scheduling_strategy=there)
    return worker(RayWorker).remote().ping.remote()


def _wrong(ray: Any, ref: Any) -> str:
    try:
        return difference(ray.get(ref))
    except ray.exceptions.RayError as failure:
        return cannot_start(reason_of(failure))
