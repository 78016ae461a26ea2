"""SciPy's functions are the same, with their docstrings, though their import is shortened."""

from __future__ import annotations

import subprocess
import sys

LOOK = """
import scipy.special, scipy._lib._array_api as arrays
print([scipy.special.ndtr(0.5), scipy.special.logsumexp([1.0, 2.0]), scipy.special.stdtrit(3, 0.9)])
print("Cumulative distribution" in scipy.special.ndtr.__doc__, "Parameters" in scipy.special.logsumexp.__doc__)
print(arrays.FunctionDoc.__module__, sorted(vars(scipy.special)))
"""


def test_special_functions_are_those_of_scipy() -> None:
    usual, shortened = (
        subprocess.run([sys.executable, "-c", before + LOOK], check=True, capture_output=True, text=True).stdout
        for before in ("", "import turnier.statistics")
    )
    assert shortened == usual
    assert usual.splitlines()[1] == "True True"
