"""The actor that works, and Ray's ways of saying that it is gone."""

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
    """The answer of a leaving worker instead of a result: another one does the work."""


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
            raise UserError("a worker ran out of memory for its games; start fewer workers.") from None
        except (KeyboardInterrupt, SystemExit) as failure:  # Ray would take them for its own
            name = type(failure).__name__
            raise UserError(f"an agent must not end its worker, but its code raised {name}; fix it.") from None
        except OSError as failure:
            raise UserError(f"a worker cannot work: {failure}; fix that.") from None

    def aside(self, do: Callable[[Any], Any], argument: Any) -> None:
        """Calls a function beside the work."""
        do(argument)

    def ping(self) -> dict[str, Any]:
        """Returns the actor's place and versions: plain data that any other version can read."""
        node, name = place()
        return {"node": node, "name": name, "release": release(), "versions": versions()}

    def compiles(self) -> bool:
        """Returns whether this process has been compiling kernels for long."""
        return has_taken_long()

    def leave(self) -> None:
        """Returns all work that has not begun."""
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
        exceptions.OutOfMemoryError,  # Ray ended it to save the node
    )


def failure_of(failure: Exception, machine: str) -> Exception:
    """Returns the meaning of an exception of Ray: a sentence, or the exception of our own code.

    Args:
        failure: exception of Ray in place of a result.
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
    """Returns the line of a failure's text that names the cause."""
    lines = [line.strip() for line in str(failure).strip().splitlines()] or [type(failure).__name__]
    return next((line for line in reversed(lines) if re.match(r"\w+Error: ", line)), lines[0]).rstrip(".")
