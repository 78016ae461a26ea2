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
NUMPY = "NPY_DISABLE_CPU_FEATURES"  # names the instructions that numpy leaves out
WIDER = {"avx512f": "X86_V4", "avx512_vbmi2": "AVX512_ICL", "avx512_fp16": "AVX512_SPR"}  # flag -> numpy's name


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
    """Has numpy and linear algebra use the same code on all x86-64 processors with AVX2, if they are not loaded yet.

    Code for AVX-512 rounds differently, so CMA-ES finds other eigenvectors and exponentials, and a study takes another
    course. Values that are already set are kept.
    """
    try:
        flags = processor.read_text().partition("flags")[2].partition("\n")[0].split()
    except OSError:
        return  # not Linux
    if "avx2" in flags:
        os.environ.setdefault(OPENBLAS, COMMON)
        wider = [name for flag, name in WIDER.items() if flag in flags]
        if wider and "NPY_ENABLE_CPU_FEATURES" not in os.environ:  # numpy takes one of the two
            os.environ.setdefault(NUMPY, " ".join(wider))
