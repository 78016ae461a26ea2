"""The script of campaigns: killed and continued, exported, imported, and what is missing as a table."""

from __future__ import annotations

import dataclasses
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.running import STUDIES, end_of_script, run_study_script, turnier
from turnier.arena.workers.local import SerialExecutor
from turnier.core.errors import UserError
from turnier.results.store.store import Store
from turnier.runs.experiments.experiment import Experiment, begin_experiment, row_matches
from turnier.studies.campaigns.figures import figures, shared_studies

SCRIPT, REPORT = STUDIES / "campaign.py", STUDIES / "report.py"
SMALL = ("--preset", "tiny", "--executor", "threads", "--only", "weitz:table1", "--only", "weitz:learning")


def stored(folder: Path, name: str) -> dict[str, int]:
    url = f"sqlite:///{folder}/{name}"
    with Store.open(url) as store:
        return store.stored_counts()


def test_every_script_of_a_document_is_in_the_campaign() -> None:
    scripts = {
        path for path in STUDIES.glob("*/*.py") if "    run_" in path.read_text() and "(__doc__" in path.read_text()
    }
    named = (STUDIES / "campaigns/figures.py").read_text()
    assert all(f"{path.stem}.build" in named for path in scripts if path.stem not in ("tuning", "qlearning"))
    built = figures()
    assert len({figure.run_id for figure in built}) == len(built) > 40
    assert {figure.document for figure in built} == {"kutsch", "weitz", "staehli", "brot", "spe_ed"}
    assert {figure.name.rpartition("-")[2] for figure in built} == {"paper", "long"}
    assert [f.run_id for f in figures("tiny", ["weitz:table1"])] == ["weitz:table1-tiny"]
    search = ["study:cmaes_heuristics-thesis"]
    assert shared_studies() == shared_studies(only=["weitz", "kutsch"]) == search
    assert shared_studies("tiny") == shared_studies(only=["weitz"]) == shared_studies(only=["kutsch:agents"]) == []
    with pytest.raises(UserError, match="did you mean weitz:table1"):
        figures(only=["weitz:tabl1"])


def test_killed_continued_exported_imported(tmp_path: Path) -> None:
    """Every start is killed some seconds after it has played something new, at any moment."""
    words = [sys.executable, str(SCRIPT), *SMALL, "--store", f"sqlite:///{tmp_path}/a.db"]
    for _ in range(2):
        before = sum(stored(tmp_path, "a.db").values())
        with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            while process.poll() is None and sum(stored(tmp_path, "a.db").values()) == before:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL, "it had not ended"
        assert before < sum(stored(tmp_path, "a.db").values())
    ended = run_study_script(SCRIPT, *SMALL, "--store", f"sqlite:///{tmp_path}/a.db", folder=tmp_path)
    assert "weitz:table1-tiny" in ended and max(map(len, ended.splitlines())) <= 80
    assert "export" in run_study_script(
        SCRIPT, *SMALL, "--store", f"sqlite:///{tmp_path}/a.db", "--export", "export", folder=tmp_path
    )
    counts = stored(tmp_path, "a.db")
    assert counts == {"weitz:table1-tiny": 10, "weitz:learning-tiny": 16}
    into = ("--store", f"sqlite:///{tmp_path}/b.db")
    run_study_script(SCRIPT, *SMALL, *into, "--import", "export", folder=tmp_path)
    assert stored(tmp_path, "b.db") == counts
    assert run_study_script(SCRIPT, *SMALL, *into, folder=tmp_path) == ended, "nothing is left to play"
    with Store.open(f"sqlite:///{tmp_path}/b.db") as store:
        match = next(iter(store.records_of_run("weitz:table1-tiny")))[0].spec.id
    with pytest.raises(UserError, match="imported without its moves"):
        turnier("show", match, *into, folder=tmp_path)
    for file in (tmp_path / "export").iterdir():
        file.write_bytes(file.read_bytes()[:1000])
    failed = end_of_script(SCRIPT, *SMALL, *into, "--import", "export", folder=tmp_path)
    assert failed.code == 2 and len(failed.errors.splitlines()) == 1 and "must be a whole export" in failed.errors


def test_the_hours_end_a_campaign(tmp_path: Path) -> None:
    words = [sys.executable, str(SCRIPT), "--hours", "0.0005", "--only", "kutsch:table3", "--executor", "threads"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    missing = "`python studies/report.py all --missing` lists what is missing"
    sentence = f"Stopped; finished games are stored, and {missing}. To resume"
    assert done.returncode == 0 and sentence in done.stderr


def test_what_is_missing(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/turnier.db"):
        pass
    shown = run_study_script(REPORT, "all", "--missing", folder=tmp_path)
    assert max(map(len, shown.splitlines())) <= 80
    assert "weitz:learning-long" in shown and "9 of 35" not in shown and "0 of 35" in shown
    of_rows = run_study_script(REPORT, "weitz", "--missing", folder=tmp_path)
    assert "25,000 iterations" in of_rows and "0/200" in of_rows and "kutsch" not in of_rows
    rows = json.loads(run_study_script(REPORT, "weitz", "--missing", "--json", folder=tmp_path))
    (row,) = (row for row in rows if row["experiment"] == "table1-paper" and row["row"] == "5,000 iterations")
    assert (row["planned"], row["needed"], row["published"], row["cpu_hours_left"]) == (200, 200, 17.0, None)
    for words in (("weitz", "--width", "5"), ("weitz", "--json")):
        failed = end_of_script(REPORT, *words, folder=tmp_path)
        assert failed.code == 2 and "--missing" in failed.errors


def test_all_published_figures_on_one_page(tmp_path: Path) -> None:
    """Each with a verdict, or that it is not played yet; a picture of each document that has been played."""
    with Store.open(f"sqlite:///{tmp_path}/turnier.db") as store, SerialExecutor() as pool:
        (figure,) = (f for f in figures("paper", ["staehli:one-ply"]) if isinstance(f, Experiment))
        rows = [dataclasses.replace(row, games=25) for row in figure.rows if row.published is not None]
        begin_experiment(figure, store)
        for records in pool.play([spec for row in rows for spec in row_matches(row, figure.seed)]):
            store.append(figure.run_id, records)
    run_study_script(REPORT, "all", "--out", "pages", folder=tmp_path)
    text = (tmp_path / "pages" / "published.md").read_text()
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    counts = {tuple(cells[:2]): cells[2:] for cells in lines}
    assert counts["kutsch", "same setting"] == ["22", *[""] * 5, "22"], "nothing of it is played"
    assert counts["staehli", "same setting"][0] == counts["staehli", "not comparable"][0] == "1", (
        "other rows share games"
    )
    rows = {cells[0]: cells[1:] for cells in lines}
    assert rows["combined, transformed"][1] == "3,744 (10 games)" and rows["combined, transformed"][-1].startswith("25")
    assert "not comparable: the blog gives" in rows["combined, transformed"][3]
    assert rows["TDN1, 100,000 games"][:3] == ["", "50 (5 trainings)", "not played yet"]
    assert "| Z4 |" in (tmp_path / "pages" / "statements.md").read_text()
    assert [path.name for path in (tmp_path / "pages").glob("*.png")] == ["published-staehli.png"]
    page = (tmp_path / "pages" / "published.html").read_text()
    assert page.count("<img") == 1 and page.count("<h3>") == text.count("\n### ")
