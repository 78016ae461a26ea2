"""`turnier show`: over all games of a game, and of a study; never a list that luck leads, nothing without a word."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import turnier
from tests.results.made import made
from turnier.commands.app import app
from turnier.results.store.store import Store

SMALL = "yavalath(size=3)"


def results(store: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["show", *words, "--store", f"sqlite:///{store}"], env={"COLUMNS": "80"})


@pytest.fixture
def league(tmp_path: Path) -> Path:
    """Two tournaments and a comparison at two variants of yavalath, and one lucky game of a study at 2048."""
    path = tmp_path / "league.db"
    with Store.open(f"sqlite:///{path}") as store:
        for run, kind, game, (first, second) in (
            ("tournament:1", "tournament", "yavalath", ("a", "b")),
            ("tournament:2", "tournament", SMALL, ("a", "b")),
            ("comparison:3", "comparison", "yavalath", ("b", "c")),
        ):
            store.begin_run(run, kind, run, {})
            store.append(run, [made(seed, (1.0, -1.0), (first, second), game) for seed in range(12)])
        store.begin_run("study:4", "study", "4", {})
        steady = [made(seed, (100.0 + seed,), (agent,)) for agent in ("good", "fair") for seed in range(12)]
        store.append("study:4", [*steady, made(5, (9999.0,), ("lucky",))])
    return path


def test_a_game_is_rated_over_all_runs_and_each_variant_by_itself(league: Path) -> None:
    shown = results(league, "yavalath").output
    assert "36 games of 2 tournaments, 1 comparison" in shown
    rows = json.loads(results(league, "yavalath", "--json").output)
    assert [(row["game"], row["rank"], row["agent"]) for row in rows] == [
        *(("yavalath", rank, agent) for rank, agent in enumerate("abc", 1)),
        *((SMALL, rank, agent) for rank, agent in enumerate("ab", 1)),
    ]
    assert all(0.5 < row["superiority"] < 1 for row in rows if row["agent"] == "a")
    assert rows[1]["wins"] == rows[1]["losses"] == 12 and rows[1]["points"] == 12
    assert {row["game"] for row in json.loads(results(league, SMALL, "--json").output)} == {SMALL}
    of_run = json.loads(results(league, "comparison:3", "--game", "yavalath", "--json").output)
    assert [row["agent"] for row in of_run] == ["b", "c"]


def test_a_lucky_game_does_not_lead_a_list(league: Path) -> None:
    shown = results(league, "2048").output
    assert "lucky" not in shown and "Agents left out: 1 (fewer than 10 games" in shown
    assert "lucky" in results(league, "2048", "--min-games", "1").output
    assert "the first 1 are shown" in results(league, "2048", "--rows", "1").output


def test_a_crosstable_is_of_one_game(league: Path, tmp_path: Path) -> None:
    two = results(league, "yavalath", "--crosstable", str(tmp_path / "two.csv"))
    assert two.exit_code and "--crosstable must be of one game, got 2" in str(two.exception)
    assert results(league, SMALL, "--crosstable", str(tmp_path / "one.csv")).exit_code == 0
    assert (tmp_path / "one.csv").read_text().splitlines() == ["agent,a,b", "a,,1.0", "b,0.0,"]


def test_what_is_not_there_is_said(league: Path) -> None:
    assert f"stored are 2048(size=4), yavalath, {SMALL}" in str(results(league, "chess").exception)


def test_a_study_is_shown_by_its_verdict_and_not_by_its_candidates(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    study = turnier.Study(
        "2048", "mc(iterations=1,rollout_depth=1)", ["rollout_depth=0..3"], budget=60, sampler="random", name="x"
    )
    with turnier.Store.open(f"sqlite:///{path}") as store:
        verdict = study.run(store, progress=False).verdict
        assert verdict is not None
        candidates = len(study.run(store, progress=False).trials())
    shown = results(path, "study:x").output
    assert " ".join(verdict.sentence.split()) in " ".join(shown.split()) and verdict.agent in shown
    assert f"{candidates:,} candidates" in shown and "held-out" in shown and shown.count("\n") < 22
    found = json.loads(results(path, "x", "--json").output)
    assert (found["candidates"], found["verdict"]["sentence"]) == (candidates, verdict.sentence)
    listed = json.loads(results(path, "x", "--game", "2048", "--min-games", "1", "--json").output)
    assert len(listed) > 1
