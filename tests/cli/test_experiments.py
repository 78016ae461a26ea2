"""The experiment scripts run, resume, and end in a report page for each folder of studies."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import STUDIES, end_of_script, run_study_script
from turnier.dashboards.reports.document import write_report
from turnier.results.store.store import Store

SCRIPTS = [
    path
    for path in sorted(STUDIES.rglob("*.py"))
    if any(f"    {run}(__doc__" in path.read_text() for run in ("run_experiments", "run_training_studies"))
]
DOCUMENTS = sorted({script.parent.name for script in SCRIPTS} - {STUDIES.name})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("studies")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: f"{script.parent.name}-{script.stem}")
def test_a_script_runs_and_plays_nothing_twice(folder: Path, script: Path) -> None:
    options = ("--preset", "tiny", "--executor", "threads")
    first = run_study_script(script, *options, folder=folder)
    assert "no report has its figures" in first
    assert run_study_script(script, *options, folder=folder) == first


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_report_shows_every_experiment(folder: Path, document: str) -> None:
    """Runs after the scripts, on what they stored."""
    with Store.open(f"sqlite:///{folder}/turnier.db", read_only=True) as store:
        write_report(store, document, folder / "pages", tests=True)
    text = (folder / "pages" / f"{document}.md").read_text()
    scripts = [script for script in SCRIPTS if script.parent.name == document]
    assert text.count("\n## ") >= len(scripts) and "not played yet" not in text
    assert len(list((folder / "pages").glob(f"{document}-*.png"))) == text.count("\n## ")
    page = (folder / "pages" / f"{document}.html").read_text()
    assert page.count("<h2>") == text.count("\n## ") and page.count("<img") == text.count("\n## ")


def test_one_experiment_alone(tmp_path: Path) -> None:
    script = STUDIES / "weitz/board_sizes.py"
    options = ("--preset", "tiny", "--executor", "serial", "--only")
    shown = run_study_script(script, *options, "length-by-size", folder=tmp_path)
    assert "Length of a game by board size" in shown and "First-mover" not in shown
    failed = end_of_script(script, *options, "lenght-by-size", folder=tmp_path)
    assert failed.code == 2 and "did you mean length-by-size?" in failed.errors


def test_an_unknown_preset_is_one_sentence(tmp_path: Path) -> None:
    failed = end_of_script(SCRIPTS[0], "--preset", "quik", folder=tmp_path)
    assert failed.code == 2 and "did you mean quick" in failed.errors and len(failed.errors.splitlines()) == 1
