"""The experiment scripts run, resume, and end in a report page."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((REPO / "studies" / "weitz").glob("*.py"))


def run(folder: Path, *command: str) -> str:
    shown = subprocess.run(
        [sys.executable, *command], cwd=folder, env=os.environ, capture_output=True, text=True, timeout=600
    )
    assert shown.returncode == 0, shown.stdout + shown.stderr
    return shown.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("weitz")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_runs_and_plays_nothing_twice(folder: Path, script: Path) -> None:
    options = (str(script), "--preset", "tiny", "--executor", "threads")
    first = run(folder, *options)
    assert "turnier report weitz" in first
    assert run(folder, *options) == first


def test_the_report_shows_every_experiment(folder: Path) -> None:
    """Runs after the scripts, on what they stored."""
    run(folder, "-c", "from turnier.cli import main; main()", "report", "weitz", "--out", "pages")
    text = (folder / "pages" / "weitz.md").read_text()
    assert text.count("\n## ") >= len(SCRIPTS) and "not played yet" not in text
    assert len(list((folder / "pages").glob("*.png"))) == text.count("\n## ")
    page = (folder / "pages" / "weitz.html").read_text()
    assert page.count("<h2>") == text.count("\n## ") and page.count("<img") == text.count("\n## ")


def test_an_unknown_preset_is_one_sentence(tmp_path: Path) -> None:
    shown = subprocess.run(
        [sys.executable, str(SCRIPTS[0]), "--preset", "quik"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert shown.returncode == 2 and "did you mean quick" in shown.stderr and "Traceback" not in shown.stderr
