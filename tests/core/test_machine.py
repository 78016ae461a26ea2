"""All x86-64 processors with AVX2 calculate alike: other kernels would send a study down another course."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from turnier.core.compilation.machine import COMMON, OPENBLAS, calculate_alike

CPUINFO = Path("/proc/cpuinfo")
PRINTS = """
import turnier
import numpy as np
values = np.random.default_rng(1).standard_normal((12, 12))
found = np.linalg.eigh(values @ values.T)
print([array.tobytes().hex() for array in found])
"""


@pytest.mark.parametrize(
    ("flags", "given", "expected"),
    [
        ("flags : fpu avx2 avx512f sse4_2", None, COMMON),
        ("flags : fpu avx sse4_2", None, None),
        ("Features : fp asimd evtstrm", None, None),
        ("flags : fpu avx2 sse4_2", "SkylakeX", "SkylakeX"),
    ],
)
def test_kernels_are_named_where_all_processors_have_them(
    flags: str, given: str | None, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpuinfo").write_text(flags + "\n")
    monkeypatch.delenv(OPENBLAS, raising=False)
    if given:
        monkeypatch.setenv(OPENBLAS, given)
    calculate_alike(tmp_path / "cpuinfo")
    assert os.environ.get(OPENBLAS) == expected
    monkeypatch.delenv(OPENBLAS, raising=False)
    calculate_alike(tmp_path / "no such file")
    assert OPENBLAS not in os.environ


@pytest.mark.skipif(not CPUINFO.exists(), reason="only Linux says there what a processor can do")
def test_eigenvectors_are_those_of_the_common_kernels() -> None:
    environment = {name: value for name, value in os.environ.items() if name != OPENBLAS}
    found = [
        subprocess.run([sys.executable, "-c", PRINTS], env=environment | named, capture_output=True, check=True).stdout
        for named in ({}, {OPENBLAS: COMMON} if " avx2 " in CPUINFO.read_text() else {})
    ]
    assert found[0] == found[1] != b""
