"""Errors of workers on other machines: sentences, with the machine's name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from turnier.arena.workers.cluster import actors as ray_actors
from turnier.arena.workers.cluster.actors import RayActors, RayWorker
from turnier.arena.workers.cluster.connection import connect
from turnier.core.errors import UserError


class RayError(Exception):
    pass


class RayTaskError(RayError):
    def __init__(self, cause: Exception | None) -> None:
        super().__init__("forty lines\nof a traceback\nOddError: why.")
        self.cause = cause


class FailingRay:
    """A cluster whose work ends with an exception."""

    exceptions = SimpleNamespace(
        RayTaskError=RayTaskError,
        RayError=RayError,
        **dict.fromkeys(
            (
                *("ActorDiedError", "ActorUnavailableError", "WorkerCrashedError", "NodeDiedError"),
                *("ObjectLostError", "OutOfMemoryError"),
            ),
            ZeroDivisionError,
        ),
    )

    def __init__(self, failure: Exception) -> None:
        self.failure = failure

    def get(self, ref: Any) -> Any:
        raise self.failure

    def nodes(self) -> list[dict[str, Any]]:
        return [{"NodeID": "b", "NodeManagerHostname": "w2", "NodeName": "10.0.0.2", "Alive": True}]


def collected(failure: Exception, local: bool = False) -> Any:
    actors = RayActors.__new__(RayActors)
    actors._ray, actors._local = FailingRay(failure), object() if local else None  # type: ignore[assignment]
    worker = ray_actors._Worker(None, "b", load=1)
    actors._working = {1: worker}
    result = actors._collect(1)
    assert worker.load == 0
    return result


def test_a_sentence_of_a_worker_stays_one_and_names_its_machine() -> None:
    failure = RayTaskError(UserError("uci: there must be a program 'fish', got none; install it."))
    found = collected(failure)
    assert isinstance(found, UserError)
    assert str(found) == "on w2 (10.0.0.2): uci: there must be a program 'fish', got none; install it."
    assert str(collected(failure, local=True)) == str(failure.cause)


def test_what_ray_itself_raises_is_a_sentence() -> None:
    found = collected(RayError("This task was cancelled.\nmore lines"))
    assert str(found) == (
        "on w2 (10.0.0.2): work must end with a result, got: This task was cancelled; repeat the command."
    )

    assert "got: OddError: why; repeat" in str(collected(RayTaskError(None)))


def test_a_mistake_of_ours_is_raised_as_it_was() -> None:
    mistake = IndexError("of ours")
    assert collected(RayTaskError(mistake)) is mistake


@pytest.mark.parametrize(
    ("failure", "says"),
    [
        (KeyboardInterrupt(), "its code raised KeyboardInterrupt; fix it"),
        (SystemExit(0), "its code raised SystemExit"),
        (MemoryError(), "must have enough memory for its games, got less; start fewer workers"),
        (OSError(28, "No space left on device"), "got: .*No space left on device; fix that"),
    ],
)
def test_whatever_work_raises_does_not_end_its_worker(failure: BaseException, says: str) -> None:
    def do(_: Any) -> None:
        raise failure

    with pytest.raises(UserError, match=says):
        RayWorker().work(do, None)


def test_ray_client_is_refused_before_anything_is_tried() -> None:
    with pytest.raises(UserError, match=r"from one of its machines, got the address ray://h:10001 of Ray Client; type"):
        connect("ray://h:10001", None)
