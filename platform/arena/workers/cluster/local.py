"""Ray on this machine alone: started with what is needed; whether it still runs; none of it outlives this process."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NEEDED = ("gcs_server", "raylet")  # without either Ray does nothing more
# Server of the dashboard, autoscaler, reader of logs: Ray always starts them, and they are half of the time it takes.
UNUSED = ("start_api_server", "start_monitor", "start_log_monitor")
# A pipe from us to this shell ends with us, however we end. Numbers of processes are used again, hence the look at
# what runs under them. The kernel ends the rest of Ray with us; its agents, which the raylet started, take a minute.
_GUARD = 'read _; for p in "$@"; do tr "\\0" " " <"/proc/$p/cmdline" | grep -q ray && kill -9 "$p"; done'


@contextlib.contextmanager
def only_needed(ray: Any) -> Iterator[None]:
    """Makes `ray.init`, which has no option for this, start only what workers need."""
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
    """The Ray that `ray.init` has started on this machine."""

    def __init__(self, ray: Any) -> None:
        self.nodes: list[dict[str, Any]] = ray.nodes()  # they stay as they are, and asking again could hang
        started = ray._private.worker._global_node.all_processes  # Ray itself does not say whether it lives
        self._processes = [known.process for name in NEEDED for known in started.get(name, ())]
        agents = [pid for process in self._processes for pid in _children(process.pid)]
        streams: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        command = ["sh", "-c", _GUARD, "sh", *map(str, agents)]
        self._guard = subprocess.Popen(command, start_new_session=True, **streams)

    def has_ended(self) -> bool:
        """Whether a process without which Ray cannot work is gone: its calls would hang, and end us in a minute."""
        return any(process.poll() is not None for process in self._processes)

    def close(self) -> None:
        """Ends what Ray leaves behind; to be called after it was shut down."""
        self._guard.communicate()


def _children(pid: int) -> list[int]:
    """Returns the processes that a process has started; none where the system does not tell."""
    with contextlib.suppress(OSError):
        lists = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children")]
        return [int(child) for text in lists for child in text.split()]
    return []
