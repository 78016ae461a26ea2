"""Errors of workers on other machines: sentences, with the machine's name."""

from __future__ import annotations

from typing import Any

import pytest
from ray.exceptions import RayError

from turnier.arena.workers.cluster.connection import connect
from turnier.arena.workers.cluster.worker import RayWorker, failure_of
from turnier.core.errors import UserError

MACHINE = "w2 (10.0.0.2)"


class Task(RayError):
    """A failure in work, as Ray raises it."""

    def __init__(self, cause: Exception | None) -> None:
        super().__init__("forty lines\nof a traceback\nOddError: why.")
        self.cause = cause


def test_a_sentence_of_a_worker_stays_one_and_names_its_machine() -> None:
    failure = Task(UserError("uci: there is no program 'fish'; install it."))
    found = failure_of(failure, MACHINE)
    assert isinstance(found, UserError)
    assert str(found) == "on w2 (10.0.0.2): uci: there is no program 'fish'; install it."
    assert str(failure_of(failure, "")) == str(failure.cause)


def test_what_ray_itself_raises_is_a_sentence() -> None:
    found = failure_of(RayError("This task was cancelled.\nmore lines"), MACHINE)
    assert str(found) == (
        "on w2 (10.0.0.2): work must end with a result, got: This task was cancelled; repeat the command."
    )

    assert "got: OddError: why; repeat" in str(failure_of(Task(None), MACHINE))


def test_a_mistake_of_ours_is_raised_as_it_was() -> None:
    mistake = IndexError("of ours")
    assert failure_of(Task(mistake), MACHINE) is mistake


@pytest.mark.parametrize(
    ("failure", "says"),
    [
        (KeyboardInterrupt(), "its code raised KeyboardInterrupt; fix it"),
        (SystemExit(0), "its code raised SystemExit"),
        (MemoryError(), "a worker ran out of memory for its games; start fewer workers"),
        (OSError(28, "No space left on device"), "a worker cannot work: .*No space left on device; fix that"),
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
