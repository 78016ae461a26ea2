"""The actor that works, and how Ray says that it is gone."""

from __future__ import annotations

import concurrent.futures
import functools
import ipaddress
import re
from collections.abc import Callable
from typing import Any

from ....core.compilation.code_digest import release
from ....core.compilation.machine import machine_name, versions
from ....core.compilation.progress import has_taken_long
from ....core.errors import UserError


@functools.cache
def place() -> tuple[str, str]:
    """Returns the node of this worker and the machine's name as matches store it: HOST, on a cluster HOST/ADDRESS."""
    import ray

    address = ray.util.get_node_ip_address()
    name = machine_name() if ipaddress.ip_address(address).is_loopback else f"{machine_name()}/{address}"
    return ray.get_runtime_context().get_node_id(), name


class NotBegun:
    """What a worker that is to leave returns instead of a result: another one does the work."""


class RayWorker:
    """The actor: a process that does one piece of work after another, and answers pings in between."""

    def __init__(self) -> None:
        self._leaves = False

    def work(self, do: Callable[[Any], Any], argument: Any) -> Any:
        if self._leaves:
            return NotBegun()
        try:
            return do(argument)
        except MemoryError:
            raise UserError("a worker must have enough memory for its games, got less; start fewer workers.") from None
        except (KeyboardInterrupt, SystemExit) as failure:  # Ray would take them for its own
            name = type(failure).__name__
            raise UserError(f"an agent must let its worker go on, but its code raised {name}; fix it.") from None
        except OSError as failure:
            raise UserError(f"a worker must be able to work, got: {failure}; fix that.") from None

    def aside(self, do: Callable[[Any], Any], argument: Any) -> None:
        """Calls a function beside the work."""
        do(argument)

    def ping(self) -> dict[str, Any]:
        """Returns where the actor is and what it plays with: plain data, which any other version can read."""
        node, name = place()
        return {"node": node, "name": name, "release": release(), "versions": versions()}

    def compiles(self) -> bool:
        """Returns whether this process has compiled kernels for long."""
        return has_taken_long()

    def leave(self) -> None:
        """Has all work that has not begun returned."""
        self._leaves = True


def ask(method: Any, *arguments: Any) -> concurrent.futures.Future[Any]:
    """Calls a method of an actor that answers beside its work."""
    answer: concurrent.futures.Future[Any] = method.options(concurrency_group="pings").remote(*arguments).future()
    return answer


def gone() -> tuple[type[Exception], ...]:
    """Returns the exceptions that Ray raises when a worker is gone."""
    from ray import exceptions

    return (
        exceptions.ActorDiedError,
        exceptions.ActorUnavailableError,
        exceptions.WorkerCrashedError,
        exceptions.NodeDiedError,
        exceptions.ObjectLostError,
        exceptions.OutOfMemoryError,  # Ray ended it, so that the node lives on
    )


def failure_of(failure: Exception, machine: str) -> Exception:
    """Returns what an exception of Ray means: a sentence, or the exception that our own code raised.

    Args:
        failure: what Ray raised in place of a result.
        machine: the name of the worker's machine; empty if it is this one.
    """
    from ray.exceptions import RayError

    cause = getattr(failure, "cause", None)
    if isinstance(cause, Exception) and not isinstance(cause, UserError | RayError):
        return cause
    what = str(cause) if isinstance(cause, UserError) else ""
    sentence = what or f"work must end with a result, got: {reason_of(failure)}; repeat the command."
    return UserError(f"on {machine}: {sentence}" if machine else sentence)


def reason_of(failure: Exception) -> str:
    """Returns the line of a failure's text that says what is wrong."""
    lines = [line.strip() for line in str(failure).strip().splitlines()] or [type(failure).__name__]
    return next((line for line in reversed(lines) if re.match(r"\w+Error: ", line)), lines[0]).rstrip(".")
