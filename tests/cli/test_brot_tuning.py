"""The tuning of Combi runs to its end: grids that narrow, CMA-ES, fresh games, and a report."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.running import STUDIES, run_study_script, turnier


def test_it_runs_and_reports(tmp_path: Path) -> None:
    shown = run_study_script(STUDIES / "brot/tuning.py", "--preset", "tiny", "--executor", "threads", folder=tmp_path)
    text = " ".join(shown.split())
    found = [float(value) for value in re.findall(r"grid, round \d: filter_value ([\d.]+)", text)]
    assert len(found) == 2 and abs(found[1] - found[0]) <= 0.15  # within the half that the first round chose
    assert "Brot 2021" in text and "CMA-ES" in text and "turnier report brot" in text
    turnier("report", "brot", "--out", "pages", folder=tmp_path)
    assert "Tuned Combi" in (tmp_path / "pages/brot.md").read_text()
