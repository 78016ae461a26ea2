"""The actor that works, and how Ray says that it is gone."""

from __future__ import annotations

import concurrent.futures
import re
from collections.abc import Callable
from importlib import metadata
from typing import Any

from turnier.core.compilation.progress import has_taken_long
from turnier.core.errors import UserError


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

    def ping(self) -> tuple[str, str]:
        """Returns the actor's node and its version of Turnier."""
        import ray

        return ray.get_runtime_context().get_node_id(), version_here()

    def compiles(self) -> bool:
        """Returns whether this process has compiled kernels for long."""
        return has_taken_long()

    def leave(self) -> None:
        """Has all work that has not begun returned."""
        self._leaves = True


def ask(method: Any) -> concurrent.futures.Future[Any]:
    """Calls a method of an actor that answers beside its work."""
    answer: concurrent.futures.Future[Any] = method.options(concurrency_group="pings").remote().future()
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


def failure_of(failure: Exception, place: str) -> Exception:
    """Returns what an exception of Ray means: a sentence that begins with a place, or what our own code raised."""
    from ray import exceptions

    cause = getattr(failure, "cause", None)
    if isinstance(cause, UserError):
        return UserError(f"{place}{cause}")
    if isinstance(cause, Exception) and not isinstance(cause, exceptions.RayError):
        return cause
    lines = str(failure).strip().splitlines() or [type(failure).__name__]
    what = lines[-1 if isinstance(failure, exceptions.RayTaskError) else 0].strip().rstrip(".")
    return UserError(f"{place}work must end with a result, got: {what}; repeat the command.")


def reason_of(failure: Exception) -> str:
    """Returns the line of a failure's text that says what is wrong."""
    lines = [line.strip() for line in str(failure).strip().splitlines()] or [type(failure).__name__]
    return next((line for line in reversed(lines) if re.match(r"\w+Error: ", line)), lines[0]).rstrip(".")


def version_here() -> str:
    try:
        return metadata.version("turnier")
    except metadata.PackageNotFoundError:
        return "without a version"
