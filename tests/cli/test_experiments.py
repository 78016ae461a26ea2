"""The experiment scripts run, resume, and end in a report page for each folder of studies."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import STUDIES, end_of_script, run_study_script
from turnier.results.store.store import Store
from turnier.runs.experiments.experiment import KIND
from turnier.studies.campaigns.document import write_report

SCRIPTS = [
    path
    for path in sorted(STUDIES.rglob("*.py"))
    if any(f"    {run}(__doc__" in path.read_text() for run in ("run_experiments", "run_training_studies"))
]
TINY = ("--preset", "tiny", "--executor", "threads")
DOCUMENTS = sorted({script.parent.name for script in SCRIPTS} - {STUDIES.name})


def run_twice(script: Path, folder: Path) -> None:
    first = run_study_script(script, *TINY, folder=folder)
    assert "no report has its figures" in first
    assert run_study_script(script, *TINY, folder=folder) == first


def test_what_no_document_asks_for_plays_nothing_twice(tmp_path: Path) -> None:
    others = [script for script in SCRIPTS if script.parent == STUDIES]
    assert others
    for script in others:
        run_twice(script, tmp_path)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_scripts_play_nothing_twice_and_the_report_shows_every_experiment(tmp_path: Path, document: str) -> None:
    scripts = [script for script in SCRIPTS if script.parent.name == document]
    for script in scripts:
        run_twice(script, tmp_path)
    with Store.open(f"sqlite:///{tmp_path}/turnier.db", read_only=True) as store:
        documents = {run.definition["document"] for run in store.runs() if run.kind == KIND}
        for one in documents:  # games of scripts in one folder may be on a page of their game, too
            write_report(store, one, tmp_path / "pages", tests=True)
    sections = 0
    for one in documents:
        text, page = ((tmp_path / "pages" / f"{one}{ending}").read_text() for ending in (".md", ".html"))
        sections += text.count("\n## ")
        assert "not played yet" not in text
        assert len(list((tmp_path / "pages").glob(f"{one}-*.png"))) == text.count("\n## ")
        assert page.count("<h2>") == text.count("\n## ") and page.count("<img") == text.count("\n## ")
    assert document in documents and sections >= len(scripts)


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
