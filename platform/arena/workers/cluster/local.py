"""Ray on this machine alone: starts only the needed parts, watches them, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NEEDED = ("gcs_server", "raylet")  # Ray cannot work without both
# Dashboard server, autoscaler, log reader: Ray always starts them, which takes half of its start.
UNUSED = ("start_api_server", "start_monitor", "start_log_monitor")
# A pipe from us to this shell ends with us, however we end. Process ids are reused, hence the check of what they run.
# The kernel ends the rest of Ray with us; its agents, started by the raylet, would take a minute.
_GUARD = 'read _; for p in "$@"; do tr "\\0" " " <"/proc/$p/cmdline" | grep -q ray && kill -9 "$p"; done'


@contextlib.contextmanager
def only_needed(ray: Any) -> Iterator[None]:
    """Makes `ray.init`, which has no option for this, start only the parts that workers need."""
    node = ray._private.node.Node
    starts = {name: getattr(node, name) for name in UNUSED if hasattr(node, name)}
    for name in starts:
        setattr(node, name, lambda *_, **__: None)
    try:
        yield
    finally:
        for name, start in starts.items():
            setattr(node, name, start)


class LocalRay:
    """A Ray started on this machine by `ray.init`."""

    def __init__(self, ray: Any) -> None:
        self.nodes: list[dict[str, Any]] = ray.nodes()  # they never change, and asking again could hang
        started = ray._private.worker._global_node.all_processes  # Ray does not tell whether it is alive
        self._processes = [known.process for name in NEEDED for known in started.get(name, ())]
        agents = [pid for process in self._processes for pid in _children(process.pid)]
        streams: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        command = ["sh", "-c", _GUARD, "sh", *map(str, agents)]
        self._guard = subprocess.Popen(command, start_new_session=True, **streams)

    def has_ended(self) -> bool:
        """Whether a needed process is gone: Ray's calls would hang, and end us in a minute."""
        return any(process.poll() is not None for process in self._processes)

    def close(self) -> None:
        """Ends processes that Ray leaves behind; to be called after its shutdown."""
        self._guard.communicate()


def _children(pid: int) -> list[int]:
    """Returns the child processes of a process; none if the system does not tell."""
    with contextlib.suppress(OSError):
        lists = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children")]
        return [int(child) for text in lists for child in text.split()]
    return []
