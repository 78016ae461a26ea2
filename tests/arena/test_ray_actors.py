"""Ray workers that never start: a cluster whose machines lack Turnier is reported, and not waited for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from turnier.arena.workers.cluster import actors as ray_actors
from turnier.core.errors import UserError


class RayError(Exception):
    pass


FAILURE = "The actor died because of an error.\n  Traceback ...\nModuleNotFoundError: No module named 'turnier'."


class FailingRay:
    """A cluster of 2 CPUs on which every worker ends before it answers."""

    exceptions = SimpleNamespace(RayTaskError=ZeroDivisionError, RayError=RayError)

    def nodes(self) -> list[dict[str, Any]]:
        return [{"NodeID": "a", "Alive": True, "Resources": {"CPU": 2.0}}]

    def wait(self, refs: list[Any], **_: Any) -> tuple[list[Any], list[Any]]:
        return refs, []

    def get(self, ref: Any) -> Any:
        raise RayError(FAILURE)


def test_a_cluster_on_which_no_worker_starts_is_given_up() -> None:
    actors = ray_actors.RayActors.__new__(ray_actors.RayActors)
    actors.address, actors._ray, actors._requested = "auto", FailingRay(), None
    actors._ready, actors._failed_starts, actors._local = [], 0, None
    starts = 2 * ray_actors.START_ATTEMPTS
    for attempt in range(starts - 1):
        actors._starting = {attempt: ray_actors._Worker(None)}
        assert not actors._admit_started(0.0)
    actors._starting = {starts: ray_actors._Worker(None)}
    with pytest.raises(UserError, match=r"must start, but 10 attempts failed, .* No module named 'turnier'; install"):
        actors._admit_started(0.0)
