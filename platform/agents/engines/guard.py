"""A process that ends this process's engines however this process ends."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from typing import IO, Any

# A pipe from us to this shell ends with us. It reads `+GROUP` and `-GROUP`, and ends the groups that are left: process
# numbers are reused, so those of ended engines must not stay in its list. It is no child of ours, since ending workers
# of Ray kill their children.
_SCRIPT = """
trap '' INT TERM HUP
exec 3<&0
{
  groups=' '
  while read -r line; do
    case $line in
      +*) groups="$groups${line#+} " ;;
      -*) group=${line#-}; groups="${groups%% $group *} ${groups#* $group }" ;;
    esac
  done
  for group in $groups; do kill -9 "-$group"; done
} <&3 3<&- &
"""


class Guard:
    """Started with the first engine, one for each of our processes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pipe: IO[bytes] | None = None

    def add(self, group: int) -> None:
        self._tell(f"+{group}\n")

    def remove(self, group: int) -> None:
        self._tell(f"-{group}\n")

    def _tell(self, line: str) -> None:
        with self._lock, contextlib.suppress(OSError):  # an ended guard is missed only if we are killed
            if self._pipe is None:
                streams: dict[str, Any] = {
                    "stdin": subprocess.PIPE,
                    "stdout": subprocess.DEVNULL,
                    "stderr": subprocess.DEVNULL,
                }
                shell = subprocess.Popen(["sh", "-c", _SCRIPT], start_new_session=True, bufsize=0, **streams)
                shell.wait()  # it has started the guard
                self._pipe = shell.stdin
            assert self._pipe is not None
            self._pipe.write(line.encode())


GUARD = Guard()
