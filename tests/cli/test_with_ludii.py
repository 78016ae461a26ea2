"""The thesis's games against Ludii, in one command: with a stand-in for Java that plays by our rules."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.ludii.stand_in import STAND_IN
from tests.cli.running import STUDIES, end_of_script, run_study_script
from turnier.agents.engines.pool import end_idle_programs
from turnier.agents.ludii.jar import JAR, JAVA
from turnier.results.store.store import Store
from turnier.runs.experiments.experiment import measurements, stored_experiments

SCRIPT = STUDIES / "weitz/with_ludii.py"
TINY = ("--preset", "tiny")


@pytest.fixture
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A jar that only the stand-in reads, on a machine whose environment names none."""
    monkeypatch.setenv(JAVA, f"{sys.executable} {STAND_IN}")
    monkeypatch.setenv(JAR, "")
    path = tmp_path / "Ludii.jar"
    path.write_text(str(tmp_path))
    yield path
    end_idle_programs()


def test_one_command_plays_every_row_once(jar: Path, tmp_path: Path) -> None:
    first = run_study_script(SCRIPT, *TINY, "--jar", str(jar), folder=tmp_path)
    assert "MCTS against Ludii" in first and "Learners against Ludii" in first
    with Store.open(f"sqlite:///{tmp_path}/turnier.db", read_only=True) as store:
        experiments = stored_experiments(store, "weitz", tests=True)
        rows = [row for experiment in experiments for row in experiment.rows]
        figures = [figure for experiment in experiments for figure in measurements(experiment, store)]
        games = sum(store.stored_counts().values())
    assert len(rows) == 11 and all(row.agents[-1].startswith("ludii(") and "Ludii.jar" not in str(row) for row in rows)
    assert [figure.games for figure in figures] == [2] * 5 + [1] * 4 + [2] * 2  # by seat, half of them
    assert run_study_script(SCRIPT, *TINY, "--jar", str(jar), folder=tmp_path) == first
    with Store.open(f"sqlite:///{tmp_path}/turnier.db", read_only=True) as store:
        assert sum(store.stored_counts().values()) == games, "a game was played twice"


def test_without_a_jar_nothing_is_trained_or_played(jar: Path, tmp_path: Path) -> None:
    for words, said in (((), "needs your Ludii.jar"), (("--jar", "no.jar"), "must be a Ludii.jar that can be read")):
        failed = end_of_script(SCRIPT, *TINY, *words, folder=tmp_path)
        assert failed.code == 2 and said in failed.errors and len(failed.errors.splitlines()) == 1
    assert not (tmp_path / "trained").exists() and not (tmp_path / "turnier.db").exists()
