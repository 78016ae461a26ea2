"""The tuning of Combi runs to its end: grids that narrow, CMA-ES, fresh games, and a report."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "studies/brot/tuning.py"


def test_it_runs_and_reports(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), "--preset", "tiny", "--executor", "threads"]
    shown = subprocess.run(command, cwd=tmp_path, env=os.environ, capture_output=True, text=True, timeout=300)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    text = " ".join(shown.stdout.split())
    found = [float(value) for value in re.findall(r"grid, round \d: filter_value ([\d.]+)", text)]
    assert len(found) == 2 and abs(found[1] - found[0]) <= 0.15  # within the half that the first round chose
    assert "Brot 2021" in text and "CMA-ES" in text and "turnier report brot" in text
    code = "from turnier.commands.app import main; main()"
    pages = subprocess.run(
        [sys.executable, "-c", code, "report", "brot", "--out", "pages"], cwd=tmp_path, env=os.environ, timeout=120
    )
    assert pages.returncode == 0 and "Tuned Combi" in (tmp_path / "pages/brot.md").read_text()
