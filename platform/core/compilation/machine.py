"""The machine that plays: its name, and the versions of what decides games beside our own code."""

from __future__ import annotations

import functools
import platform
import socket
from importlib import metadata

PACKAGES = ("numba", "llvmlite", "numpy")
ELSEWHERE = "elsewhere"  # in place of a machine's name, of games that were imported


def version_of(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"


@functools.cache
def versions() -> dict[str, str]:
    """Returns the versions of Python and of PACKAGES."""
    return {"python": platform.python_version(), **{name: version_of(name) for name in PACKAGES}}


@functools.cache
def machine_name() -> str:
    """Returns the host's name, without characters that no terminal shows."""
    return "".join(sign if sign.isprintable() else "?" for sign in socket.gethostname()) or "unknown"
