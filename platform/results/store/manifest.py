"""The environment of a run: versions, machine, state of the source, command line; no host names or passwords."""

from __future__ import annotations

import functools
import os
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# Options for the place of playing are left out: they do not change results, and a URL may contain a password.
_PLACES = ("--store", "--executor", "--workers", "--address")
_command: list[str] = []


def started_with(words: Sequence[str]) -> None:
    """Notes the words of the command line, the program's name first."""
    program = Path(words[0]) if words else Path()
    if program.name == "__main__.py":  # of `python -m turnier`
        program = program.parent
    name = "turnier" if program.name == "-c" else program.name  # of `python -c`
    _command[:] = [name, *_without_places(words[1:])] if words else []


def command_line() -> list[str]:
    """Returns the words without options for the place of playing; empty if there was no command line.

    Names of code that is not ours include its version, so the words mean the same after an edit.
    """
    from ...core.outside import classes

    return [classes.with_versions(word) for word in _command]


def manifest() -> dict[str, Any]:
    """Returns the environment to store with a run."""
    from ...core.outside.trust import trusted

    return {**_fixed(), "command": command_line(), **({"trusted": True} if trusted() else {})}


def _without_places(words: Sequence[str]) -> list[str]:
    kept, skip = [], False
    for word in words:
        if skip or word.split("=")[0] in _PLACES:
            skip = not skip and word in _PLACES
            continue
        kept.append(word)
    return kept


@functools.cache
def _fixed() -> dict[str, Any]:
    """The part that stays the same throughout the process."""
    from ...core.compilation.code_digest import release
    from ...core.compilation.machine import version_of, versions

    return {
        "turnier": release(),
        **versions(),
        "ray": version_of("ray"),
        "machine": f"{platform.system()} {platform.machine()}",
        "cpu": cpu_model(),
        "cpus": os.cpu_count(),
        "memory_gb": round(memory_bytes() / 1e9, 1),
        "git": _git_state(Path(__file__).resolve()),
    }


def cpu_model() -> str:
    """Returns the processor's name, if the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def memory_bytes() -> int:
    """Returns the machine's memory, 0 if the system does not give it."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0


def _git_state(file: Path) -> dict[str, Any] | None:
    """Returns a source file's commit and whether the checkout differs from it; None if git does not track the file."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(file.parent), *words]
        environment = os.environ | {"GIT_OPTIONAL_LOCKS": "0"}
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10, env=environment)
        return done.stdout.strip()

    try:
        git("ls-files", "--error-unmatch", file.name)  # an installed package may be in another project's checkout
        return {"commit": git("rev-parse", "HEAD"), "dirty": bool(git("status", "--porcelain", "-uno"))}
    except (OSError, subprocess.SubprocessError):
        return None
