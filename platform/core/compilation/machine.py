"""The machine that plays: its name, and the versions of the packages that decide games besides our own code."""

from __future__ import annotations

import functools
import platform
import socket
from importlib import metadata

PACKAGES = ("numba", "llvmlite", "numpy")
ELSEWHERE = "elsewhere"  # in place of a machine's name, for imported games


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
    """Returns the host's name, without unprintable characters."""
    return "".join(sign if sign.isprintable() else "?" for sign in socket.gethostname()) or "unknown"
