"""The tuning of Combi runs to its end: grids that narrow, CMA-ES, and a verdict."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.running import STUDIES, end_of_script, run_study_script


def test_it_runs_to_its_verdict(tmp_path: Path) -> None:
    shown = run_study_script(STUDIES / "brot/tuning.py", "--preset", "tiny", "--executor", "threads", folder=tmp_path)
    text = " ".join(shown.split())
    found = [float(value) for value in re.findall(r"grid, round \d: filter_value ([\d.]+)", text)]
    assert len(found) == 2 and abs(found[1] - found[0]) <= 0.15  # within the half that the first round chose
    assert "Brot 2021" in text and "CMA-ES" in text and "no report has its figures" in text
    assert "keep Brot 2021." in text or "Recommended: the " in text
    failed = end_of_script(STUDIES / "report.py", "brot", "--out", "pages", folder=tmp_path)
    assert failed.code == 2 and "tiny" in failed.errors
