"""A few games of `break_engines.py`, which looks at every record itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.faults.break_engines import main


@pytest.mark.long
@pytest.mark.parametrize(("pairing", "kills"), [("chess", 0), ("chess", 1), ("go", 0)])
def test_engines_that_fail_lose_and_leave_nothing_behind(pairing: str, kills: int, tmp_path: Path) -> None:
    for name in ("stockfish", "gnuchess", "gnugo"):
        if shutil.which(name, path="/usr/games:/usr/bin:/usr/local/bin") is None:
            pytest.skip(f"needs {name}")
    main(tmp_path, 12, pairing, 0.02, kills, 2, "threads")
