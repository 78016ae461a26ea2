"""Kills what Ray runs on while commands play on this machine, and compares their results with an undisturbed run.

    python -m tests.faults.kill_ray

Prints a line per command and victim; exits with 1 if one of them differs or does not end by itself.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.cli.running import TURNIER
from tests.cli.test_restarts import CERTAINTY, COMPARISON, STUDY, TOURNAMENT, has_stored, kept

COMMANDS = {"tournament": TOURNAMENT, "study": STUDY, "certainty": CERTAINTY, "comparison": COMPARISON}
# The beginning of a process's command line, and how many of them are killed.
VICTIMS = {
    "a worker": ("ray::RayWorker", 1),
    "all workers": ("ray::RayWorker", 99),
    "raylet": ("raylet", 1),
    "gcs_server": ("gcs_server", 1),
}
PATIENCE = 240.0  # seconds


def descendants(parent: int) -> Iterator[tuple[int, str]]:
    """Yields the processes that a process started, and those that they started, with their command lines."""
    for folder in Path(f"/proc/{parent}/task").glob("*/children"):
        for child in map(int, folder.read_text().split()):
            try:
                words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
            except OSError:  # it has ended
                continue
            yield child, os.path.basename(words[0].decode(errors="replace"))
            yield from descendants(child)


def run(words: tuple[str, ...], store: str, victim: str) -> str:
    """Runs a command with two workers on Ray and kills what is named; returns what went wrong, empty if nothing."""
    command = [*TURNIER, *words, "--store", store, "--executor", "ray", "--workers", "2"]
    beginning, most = VICTIMS[victim]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as driver:
        deadline = time.monotonic() + PATIENCE
        while not has_stored(store, 20):
            if driver.poll() is not None or time.monotonic() > deadline:
                return "it ended before anything was killed"
            time.sleep(0.02)
        found = [pid for pid, name in descendants(driver.pid) if name.startswith(beginning)][:most]
        for pid in found:
            os.kill(pid, signal.SIGKILL)
        try:
            _, told = driver.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            driver.kill()
            return "it did not end"
    if not found:
        return "there was nothing to kill"
    return "" if driver.returncode == 0 and "Traceback" not in told else f"exit code {driver.returncode}: {told[-500:]}"


def main() -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, words in COMMANDS.items():
            whole = f"sqlite:///{folder}/{name}.db"
            alone = [*TURNIER, *words, "--store", whole, "--executor", "threads", "--workers", "1"]
            subprocess.run(alone, check=True, capture_output=True)
            for victim in VICTIMS:
                store, began = f"sqlite:///{folder}/{name}-{victim.replace(' ', '-')}.db", time.monotonic()
                wrong = run(words, store, victim) or ("" if kept(store) == kept(whole) else "its results differ")
                failed += bool(wrong)
                print(f"{name}, {victim}: {wrong or 'equal'}, {time.monotonic() - began:.0f} s", flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
