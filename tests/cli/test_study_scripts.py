"""The studies that are no experiments of a document run at their smallest, and go on without playing again."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.cli.running import STUDIES, end_of_script, run_study_script
from turnier.results.store.store import Store
from turnier.studies import calibration, search_benchmark


def run(folder: Path, script: str, *words: str) -> str:
    return run_study_script(STUDIES / script, *words, folder=folder)


def counts(folder: Path) -> dict[str, int]:
    with Store.open(f"sqlite:///{folder}/turnier.db", read_only=True) as store:
        return store.match_counts()


def test_a_front_of_score_and_time(tmp_path: Path) -> None:
    words = ("mctse_parameters.py", "--preset", "tiny", "--executor", "serial")
    shown = run(tmp_path, *words)
    assert "at both strength and time" in " ".join(shown.split()) and "front 1" in shown
    assert (tmp_path / "reports" / "mctse_parameters-tiny.png").stat().st_size > 10_000
    before = counts(tmp_path)
    run(tmp_path, *words)
    assert counts(tmp_path) == before and before["study:mctse_parameters-tiny"] >= 8


def test_the_depth_of_rollouts(tmp_path: Path) -> None:
    words = ("rollout_depth.py", "--preset", "tiny", "--executor", "serial")
    shown = run(tmp_path, *words)
    assert "mc with 40 plies of rollouts per move, 3 games each" in shown
    assert run(tmp_path, *words) == shown and counts(tmp_path) == {"experiment:rollout_depth-40-3-1": 6}
    assert (tmp_path / "reports" / "rollout_depth-40.png").stat().st_size > 10_000


def test_leaves_in_batches(tmp_path: Path) -> None:
    """All ways say the same, or the script ends with an error."""
    pytest.importorskip("jax")
    shown = run(tmp_path, "batched_leaves.py", "--game", "tictactoe", "--filters", "16", "--seconds", "0.01")
    assert "tictactoe, 2 blocks of 16 filters" in shown
    assert [shown.count(name) for name in ("compiled kernel", "jax", "NumPy")] == [1, 5, 5]


def test_a_benchmark_of_searches(tmp_path: Path) -> None:
    """What is missing is run and added: lines that a stop has cut short, and none that are there."""
    page, data = tmp_path / "page.md", tmp_path / "results.csv"
    page.write_text(f"# Before\n\n{search_benchmark.START}\n{search_benchmark.END}\n\nafter\n")
    words = ("search_benchmark.py", "--preset", "tiny", "--processes", "1", "--page", "page.md", "--data")
    run(tmp_path, *words, "results.csv", "--only", "SPSA")
    table, rows = page.read_text(), data.read_text().splitlines()
    assert table.startswith("# Before\n") and table.endswith("\nafter\n") and "| `OpenBench's SPSA` | " in table
    assert len(rows) == 1 + 2 * 2 + 2 * 2  # of two problems: the start in both tables, two searches in one
    data.write_text("\n".join([*rows[:4], rows[4][:-2]]))
    run(tmp_path, *words, "results.csv", "--only", "SPSA")
    again = data.read_text().splitlines()
    assert [row.rpartition(",")[0] for row in again] == [row.rpartition(",")[0] for row in rows]
    assert (tmp_path / "page.png").stat().st_size > 10_000


def test_certainty_against_score(tmp_path: Path) -> None:
    """The iterations are measured once and stored, so that the second run plays and searches nothing."""
    words = ("kutsch/certainty_against_score.py", "--preset", "tiny", "--executor", "serial")
    shown = run(tmp_path, *words)
    assert "2 games and" in shown and "rank correlation, all agents (6)" in shown
    path = tmp_path / "reports" / "certainty_against_score-tiny.csv"
    figures = pd.read_csv(path)
    assert len(figures) == 6 and set(figures["family"]) == {"MC", "MCTS", "MCTSE"} and (figures["games"] == 2).all()
    assert figures["score"].is_monotonic_decreasing and (figures["searches"] == 3 * figures["positions"]).all()
    assert path.with_suffix(".png").stat().st_size > 10_000
    before = counts(tmp_path)
    assert run(tmp_path, *words) == shown and counts(tmp_path) == before and pd.read_csv(path).equals(figures)


def test_how_often_statistics_are_right(tmp_path: Path) -> None:
    """What is missing is measured and added; the page has one table, and its other lines stay."""
    page, data = tmp_path / "page.md", tmp_path / "counts.csv"
    page.write_text(f"# Before\n\n{calibration.START}\n{calibration.END}\n\nafter\n")
    words = ("calibration.py", "--only", "margin 100 Elo", "--page", "page.md", "--data")
    shown = run(tmp_path, *words, "counts.csv", "--scale", "0.02")
    table, counts = page.read_text(), data.read_text()
    assert "wrong verdict" in shown and "| <= 5 % | 0 (0 to 43) | 0/5 | 0.6 | right |" in table
    assert table.startswith("# Before\n") and table.endswith("\nafter\n")
    assert run(tmp_path, *words, "counts.csv", "--scale", "0.02") == shown
    assert page.read_text() == table and data.read_text() == counts
    run(tmp_path, *words, "counts.csv", "--scale", "0.04")
    run(tmp_path, *words, "at_once.csv", "--scale", "0.04")
    assert data.read_text() == (tmp_path / "at_once.csv").read_text() != counts
    assert page.read_text().count("wrong verdict") == 1 and "/10 |" in page.read_text()


@pytest.mark.parametrize(
    ("words", "text", "said"),
    [
        (("--only", "chess960"), calibration.START + calibration.END, "no part whose name contains 'chess960'"),
        ((), "no markers", "the page must have the lines"),
        (("--data", "page.md"), calibration.START + calibration.END, "must have the columns part, promise, units"),
    ],
)
def test_mistakes_with_counts_are_told(tmp_path: Path, words: tuple[str, ...], text: str, said: str) -> None:
    (tmp_path / "page.md").write_text(f"{text}\n\n")
    ended = end_of_script(STUDIES / "calibration.py", "--page", "page.md", "--scale", "0.001", *words, folder=tmp_path)
    assert ended.code == 2 and said in " ".join(ended.errors.split()), ended
