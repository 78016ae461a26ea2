"""The place where a run plays: its executor, its number of workers, and its machines."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from ...core.errors import UserError, unknown

EXECUTORS = ("auto", "ray", "threads", "serial")
PRIORITIES = 0.01, 100.0


@dataclass(frozen=True)
class Where:
    """The place where a run plays; results are the same everywhere.

    Args:
        executor: auto, ray, threads or serial.
        workers: number of workers, by default one per core.
        address: the Ray cluster to join.
        nodes: usable nodes of the cluster: a label, as in `zone=a` (also `zone=!a`, `zone=in(a,b)`), or the name of a
            required resource.
        priority: share of the cluster while other runs want it too, relative to theirs.

    Raises UserError for an unknown executor and for values that do not fit each other.
    """

    executor: str = "auto"
    workers: int | None = None
    address: str | None = None
    nodes: tuple[str, ...] = ()
    priority: float = 1.0

    def __post_init__(self) -> None:
        if self.executor not in EXECUTORS:
            raise unknown("executor", self.executor, EXECUTORS)
        if self.workers is not None and self.workers < 1:
            raise UserError(f"there must be at least 1 worker, got {self.workers}; choose more.")
        if self.address and self.executor not in ("auto", "ray"):
            raise UserError(f"--address names a Ray cluster, but the executor is {self.executor}; use --executor ray.")
        if self.nodes and not (self.on_ray and self.cluster_named_by):
            raise UserError("--nodes chooses nodes of a Ray cluster, but none is named; add --address.")
        if self.priority != 1.0 and not (self.on_ray and self.cluster_named_by):
            raise UserError("--priority is a share of a Ray cluster, but none is named; add --address.")
        if not PRIORITIES[0] <= self.priority <= PRIORITIES[1]:
            raise UserError(f"a priority must be from {PRIORITIES[0]} to {PRIORITIES[1]:g}, got {self.priority:g}.")
        for node in self.nodes:
            name, _, value = node.partition("=")
            if not name or ("=" in node and not value):
                raise UserError(f"--nodes must be LABEL=VALUE or the name of a resource, got {node!r}.")

    @property
    def on_ray(self) -> bool:
        """Whether Ray plays from the start."""
        return self.executor == "ray" or (self.executor == "auto" and bool(self.cluster_named_by))

    @property
    def cluster_named_by(self) -> str:
        """The option or variable that names the Ray cluster to join; empty if there is none."""
        return "--address" if self.address else "RAY_ADDRESS" if os.environ.get("RAY_ADDRESS") else ""

    @property
    def claims(self) -> dict[str, Any]:
        """The arguments with which `RayActors` claims a part of a cluster.

        A worker takes a little of each named resource: it only chooses nodes, and deprives no others.
        """
        labels = dict(node.split("=", 1) for node in self.nodes if "=" in node)
        resources = {node: 0.001 for node in self.nodes if "=" not in node}
        return {"priority": self.priority, "labels": labels, "resources": resources}


ANYWHERE = Where()  # by default: threads, or Ray on a cluster that the environment names
