"""The machine that plays: its name, how it calculates, and the versions of the packages that affect games."""

from __future__ import annotations

import functools
import os
import platform
import socket
from importlib import metadata
from pathlib import Path

PACKAGES = ("numba", "llvmlite", "numpy")
ELSEWHERE = "elsewhere"  # in place of a machine's name, for imported games

OPENBLAS = "OPENBLAS_CORETYPE"  # names the kernels that numpy's and scipy's linear algebra uses
COMMON = "Haswell"  # x86-64 with AVX2, including AMD


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


def calculate_alike(processor: Path = Path("/proc/cpuinfo")) -> None:
    """Has linear algebra use the same kernels on all x86-64 processors with AVX2, if it is not loaded yet.

    Kernels for AVX-512 round differently, so CMA-ES finds other eigenvectors and a study takes another course. A value
    of OPENBLAS_CORETYPE that is already set is kept.
    """
    if OPENBLAS in os.environ:
        return
    try:
        has_avx2 = " avx2 " in processor.read_text()
    except OSError:
        return  # not Linux
    if has_avx2:
        os.environ[OPENBLAS] = COMMON
