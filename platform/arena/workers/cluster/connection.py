"""Starting Ray here, or joining a cluster, quietly."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from typing import Any

from ....core.errors import UserError
from .head import LOCAL
from .local import only_needed
from .worker import reason_of

# Detects silently dropped connections (nodes need it too).
KEEPALIVE = {"RAY_grpc_client_keepalive_time_ms": "5000", "RAY_grpc_client_keepalive_timeout_ms": "5000"}

# On one machine a node is silent only if it is busy; by default Ray gives it up after half a minute.
STARTS = 3
LOCAL_SETTINGS = {"health_check_failure_threshold": 200}


def connect(address: str, workers: int | None) -> Any:
    """Starts or joins Ray, quietly; raises UserError if that fails."""
    if address.startswith("ray://"):
        raise UserError(
            f"a Ray cluster must be joined from one of its machines, got the address {address} of Ray Client; type the"
            " command there with --address auto, or send it there by `ray job submit`."
        )
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    if address != LOCAL:
        for name, value in KEEPALIVE.items():
            os.environ.setdefault(name, value)
    import ray

    # Reports of raylets would appear on standard output, amid tables and JSON; calls raise the important ones.
    ray._private.worker.print_to_stdstream = lambda *_, **__: None
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    before = signal.getsignal(signal.SIGTERM)
    try:
        if address == LOCAL:
            _start_here(ray, workers or os.cpu_count() or 1, quiet)
        else:
            _require_reachable(address)
            ray.init(address, **quiet)
    except (ConnectionError, RuntimeError, ValueError, OSError) as failure:
        raise UserError(
            f"a Ray cluster must answer at {address}, got: {reason_of(failure)}; start one with `ray start --head`,"
            " set RAY_AUTH_MODE=token if it asks for a token, or omit --address."
        ) from None
    finally:
        # Ray would end the process by an exception and dump the stacks of its threads.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)
    return ray


def _start_here(ray: Any, cpus: int, quiet: dict[str, Any]) -> None:
    """Starts Ray on this machine; tries again if its processes took too long, as on a busy machine."""
    for attempts_left in reversed(range(STARTS)):
        try:
            with only_needed(ray), _on_loopback(ray):
                ray.init(
                    LOCAL, num_cpus=cpus, include_dashboard=False, object_store_memory=128 << 20,
                    _system_config=LOCAL_SETTINGS, **quiet,
                )  # fmt: skip
            return
        except Exception as failure:  # Ray raises many kinds, including Exception itself
            ray.shutdown()
            if not attempts_left:
                raise UserError(
                    f"Ray could not start on this machine: {reason_of(failure)}; repeat the command, or play with"
                    " --executor threads."
                ) from None


@contextlib.contextmanager
def _on_loopback(ray: Any) -> Iterator[None]:
    """Makes a Ray that starts meanwhile listen on this machine only; later clusters are not affected."""
    constants = ray._private.ray_constants
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"], constants.ENABLE_RAY_CLUSTER = "0", False
    try:
        yield
    finally:
        del os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"]
        constants.ENABLE_RAY_CLUSTER = True


def _require_reachable(address: str) -> None:
    """Raises ConnectionError if nothing listens; Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        if address == "auto":
            return
        raise ConnectionError("the address is not HOST:PORT or auto")
    with socket.create_connection((host.strip("[]"), int(port)), timeout=5):
        pass
