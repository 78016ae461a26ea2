"""Machine code that comes with a wheel: it is used where it fits, and only there."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from make_wheel import with_files
from turnier.core.compilation import cache
from turnier.core.kernel import JIT

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import json, sys
from pathlib import Path
from turnier.core.compilation import cache
cache.SHIPPED = Path(sys.argv[1])
cache.LEVELS = json.loads(sys.argv[2])
from turnier.core.rng import below, stream
drawn = below(stream(5), 1000)
stats = below.stats
print(json.dumps([int(drawn), sum(stats.cache_hits.values()), sum(stats.cache_misses.values())]))
"""


def drawn(place: Path, user: Path, levels: dict[str, list[str]], **variables: str) -> list[int]:
    """Returns a number that another process draws, and how many kernels it found in a cache or compiled."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "NUMBA_CACHE_DIR": str(user)} | variables
    command = [sys.executable, "-c", PROGRAM, str(place), json.dumps(levels)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    found: list[int] = json.loads(ended.stdout)
    return found


@pytest.mark.skipif(not JIT or cache.binding.get_process_triple().split("-")[0] != "x86_64", reason="of x86-64")
def test_machine_code_of_a_wheel_is_used_where_it_fits(tmp_path: Path) -> None:
    place, user = tmp_path / "machine_code", tmp_path / "user"
    levels = {"x86-64-v2": ["sse4.2"]}  # which every machine of today has
    number, hits, misses = drawn(tmp_path, place / "x86-64-v2", levels, NUMBA_CPU_NAME="x86-64-v2")
    assert (hits, misses > 0) == (0, True)
    found, hits, misses = drawn(place, user, levels)
    assert (found, hits > 0, misses) == (number, True, 0) and not list(user.rglob("*.nbi"))
    unfit = {"x86-64-v2": ["no-such-feature"]}
    others: list[tuple[Path, dict[str, list[str]], dict[str, str]]] = [
        (place, unfit, {}),
        (tmp_path / "nowhere", levels, {}),
        (place, levels, {"NUMBA_CPU_NAME": "generic"}),
    ]
    for tried, (where, needed, variables) in enumerate(others):
        found, hits, misses = drawn(where, tmp_path / f"user{tried}", needed, **variables)
        assert found == number and misses > 0


def test_files_are_added_to_a_wheel_and_its_record(tmp_path: Path) -> None:
    wheel, more = tmp_path / "a-1-py3-none-any.whl", tmp_path / "more"
    more.write_bytes(b"code")
    with zipfile.ZipFile(wheel, "w") as written:
        written.writestr("a/__init__.py", "")
        written.writestr("a-1.dist-info/RECORD", "a/__init__.py,,0\na-1.dist-info/RECORD,,\n")
    with_files(wheel, {"a/code/one": more})
    with zipfile.ZipFile(wheel) as read:
        digest = base64.urlsafe_b64encode(hashlib.sha256(b"code").digest()).decode().rstrip("=")
        record = read.read("a-1.dist-info/RECORD").decode().splitlines()
        assert record == ["a/__init__.py,,0", "a-1.dist-info/RECORD,,", f"a/code/one,sha256={digest},4"]
        assert read.read("a/code/one") == b"code" and read.testzip() is None
    assert os.listdir(tmp_path) == ["more", wheel.name] or os.listdir(tmp_path) == [wheel.name, "more"]
