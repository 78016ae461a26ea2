"""All x86-64 processors with AVX2 calculate alike: other code would send a study down another course."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from turnier.core.compilation.machine import COMMON, NUMPY, OPENBLAS, WIDER, calculate_alike

CPUINFO = Path("/proc/cpuinfo")
PRINTS = """
import warnings
warnings.filterwarnings("error", message="(?s).*not part of the dispatched")  # names that numpy does not know
import turnier
import numpy as np
values = np.random.default_rng(1).standard_normal((12, 12))
found = np.linalg.eigh(values @ values.T)
found = [*found, *(of(found[0]) for of in (np.exp, np.log, np.sin, np.log1p, np.tanh, np.sqrt))]
print([array.tobytes().hex() for array in found])
"""
NAMED = (OPENBLAS, NUMPY)


@pytest.mark.parametrize(
    ("flags", "given", "expected"),
    [
        ("flags : fpu avx2 avx512f sse4_2", (None, None), (COMMON, "X86_V4")),
        ("flags : fpu avx2 avx512_vbmi2 avx512f avx512_fp16", (None, None), (COMMON, "X86_V4 AVX512_ICL AVX512_SPR")),
        ("flags : fpu sse4_2 avx2", (None, None), (COMMON, None)),
        ("flags : fpu avx sse4_2", (None, None), (None, None)),
        ("Features : fp asimd evtstrm", (None, None), (None, None)),
        ("flags : fpu avx2 sse4_2 avx512f", ("SkylakeX", None), ("SkylakeX", "X86_V4")),
        ("flags : fpu avx2 sse4_2 avx512f", (None, "X86_V3"), (COMMON, "X86_V3")),
    ],
)
def test_code_is_named_where_all_processors_have_it(
    flags: str,
    given: tuple[str | None, ...],
    expected: tuple[str | None, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def begin() -> None:
        for name, value in zip(NAMED, given, strict=True):
            monkeypatch.delenv(name, raising=False)
            if value:
                monkeypatch.setenv(name, value)

    (tmp_path / "cpuinfo").write_text(f"model name : avx512f of a kind\n{flags}\nbugs :\n")
    begin()
    calculate_alike(tmp_path / "cpuinfo")
    assert tuple(map(os.environ.get, NAMED)) == expected
    begin()
    calculate_alike(tmp_path / "no such file")
    assert tuple(map(os.environ.get, NAMED)) == given
    for name in NAMED:
        monkeypatch.delenv(name, raising=False)


def test_what_numpy_is_told_to_use_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It refuses to start if it is told both what to use and what to leave out."""
    (tmp_path / "cpuinfo").write_text("flags : avx2 avx512f\n")
    monkeypatch.delenv(NUMPY, raising=False)
    monkeypatch.setenv("NPY_ENABLE_CPU_FEATURES", "X86_V4")
    calculate_alike(tmp_path / "cpuinfo")
    assert NUMPY not in os.environ


@pytest.mark.skipif(not CPUINFO.exists(), reason="only Linux says there what a processor can do")
def test_numbers_are_those_of_the_common_code() -> None:
    """On a processor with AVX-512, numpy's exponentials and logarithms would have other last digits."""
    environment = {name: value for name, value in os.environ.items() if name not in NAMED}
    flags = CPUINFO.read_text().partition("flags")[2].partition("\n")[0].split()
    wider = " ".join(name for flag, name in WIDER.items() if flag in flags)
    named = {OPENBLAS: COMMON, **({NUMPY: wider} if wider else {})} if "avx2" in flags else {}
    found = [
        subprocess.run([sys.executable, "-c", PRINTS], env=environment | more, capture_output=True, check=True).stdout
        for more in ({}, named)
    ]
    assert found[0] == found[1] != b""
