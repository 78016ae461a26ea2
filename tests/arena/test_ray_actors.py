"""Ray workers that never start: a cluster whose machines lack Turnier is reported, and not waited for."""

from __future__ import annotations

import concurrent.futures
from types import SimpleNamespace
from typing import Any

import pytest

from turnier.arena.workers.cluster import actors as ray_actors
from turnier.arena.workers.cluster.crew import Crew, Worker
from turnier.arena.workers.cluster.nodes import Selection
from turnier.core.errors import UserError


class RayError(Exception):
    pass


FAILURE = "The actor died because of an error.\n  Traceback ...\nModuleNotFoundError: No module named 'turnier'."


class FailingRay:
    """A cluster of 2 CPUs on which every worker ends before it answers."""

    exceptions = SimpleNamespace(RayTaskError=ZeroDivisionError, RayError=RayError)

    def nodes(self) -> list[dict[str, Any]]:
        return [{"NodeID": "a", "Alive": True, "Resources": {"CPU": 2.0}}]


def failed_start() -> concurrent.futures.Future[Any]:
    ping: concurrent.futures.Future[Any] = concurrent.futures.Future()
    ping.set_exception(RayError(FAILURE))
    return ping


def test_a_cluster_on_which_no_worker_starts_is_given_up() -> None:
    actors = ray_actors.RayActors.__new__(ray_actors.RayActors)
    actors.address, actors._ray, actors._requested, actors._local = "auto", FailingRay(), None, None
    actors._ready, actors._returned, actors._failed_starts, actors._selection = Crew(), [], 0, Selection()
    starts = 2 * ray_actors.START_ATTEMPTS
    for _ in range(starts - 1):
        actors._started = [failed_start()]
        actors._starting = {actors._started[0]: Worker(None)}
        assert not actors._admit_started(0.0)
    actors._started = [failed_start()]
    actors._starting = {actors._started[0]: Worker(None)}
    with pytest.raises(UserError, match=r"must start, but 10 attempts failed, .* No module named 'turnier'; install"):
        actors._admit_started(0.0)
