"""A store of schema 5 is upgraded, resumes without playing anything again, and shows the same figures."""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import turnier
from turnier.arena.workers.where import Where
from turnier.commands.app import app
from turnier.results.repair.inspection import inspect_store
from turnier.runs.declared.kinds import KINDS, plan_of
from turnier.runs.experiments.experiment import stored_experiments
from turnier.search.storage.study_repair import inspect_studies

DATA = Path(__file__).parents[1] / "data" / "stores"
SHOWN: dict[str, Any] = json.loads((DATA / "version_0_1_0.json").read_text())


def counts(file: Path) -> dict[str, int]:
    connection = sqlite3.connect(file)
    rows = {table: connection.execute(f"select count(*) from {table}").fetchone()[0] for table in SHOWN["counts"]}
    connection.close()
    return rows


def test_every_run_resumes_with_the_same_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "old.db"
    file.write_bytes(gzip.decompress((DATA / "version_0_1_0.db.gz").read_bytes()))
    shutil.copy(DATA / "version_0_1_0.npz", tmp_path / "weights.npz")
    monkeypatch.chdir(tmp_path)
    quiet: dict[str, Any] = {"where": Where("serial"), "progress": False}
    small = "mc(iterations=2,rollout_depth=3,score_method=2)"  # its default then
    three = ["random", "mcts(iterations=20)", "mcts(iterations=60)"]
    with pytest.raises(turnier.UserError, match="was written by an earlier Turnier; type: turnier upgrade"):
        turnier.Store.open(f"sqlite:///{file}")
    shown = CliRunner().invoke(app, ["upgrade", "--store", f"sqlite:///{file}"], catch_exceptions=False)
    assert "Upgraded from schema 5: 7 runs, 778 games." in shown.stdout
    assert inspect_store(f"sqlite:///{file}") == []
    with turnier.Store.open(f"sqlite:///{file}") as store:
        assert inspect_studies(store) == []
        for run in store.runs():
            plan = plan_of(run.kind)
            assert (plan is None) == (run.kind not in KINDS)
            planned = plan.of_run(store, run) if plan else None
            assert planned is None or planned.run_id == run.id
            if planned and run.kind == "tournament":
                assert planned.total == store.match_counts()[run.id]
                resumed = planned.run(store, **quiet)
                assert len(resumed.frame()) and counts(file) == SHOWN["counts"], "no text has another default"
        assert sorted(run.id for run in store.runs()) == SHOWN["runs"]
        assert counts(file) == SHOWN["counts"]
        for game, agents, games, seed in (("2048", ["random", small], 3, 7), ("tictactoe", three, 8, 3)):
            found = turnier.Tournament(game, agents, games=games, seed=seed).run(store, **quiet).summary(full=True)
            shown = {row["agent"]: row for row in SHOWN["results"] if row["game"].startswith(game)}
            for row in found.to_dict("records"):
                for key in ("games", "mean", "best", "wins", "draws", "losses", "win_rate"):
                    if (value := shown[row["agent"]].get(key)) is not None:
                        assert row[key] == pytest.approx(value), (row["agent"], key)
        comparison = turnier.Comparison("random", "mcts(iterations=10)", game="tictactoe", games=40, first_round=8).run(
            store, **quiet
        )
        assert comparison.verdict == SHOWN["compare"]["verdict"]
        for key in ("elo", "share"):  # its interval allows for the early end, which that version's did not
            assert comparison.estimate[key] == pytest.approx(SHOWN["compare"]["estimate"][key])
        certainty = turnier.Certainty(
            "tictactoe", ["random", "mcts(iterations=5)"], states=2, repeats=4, games=3, collector="random"
        ).run(store, **quiet)
        shown = {row["agent"]: row["certainty"] for row in SHOWN["certainty"]["agents"]}
        assert {row["agent"]: row["certainty"] for row in certainty.agents().to_dict("records")} == pytest.approx(shown)
        training = turnier.Training(
            "tictactoe", "ntuple(tuples=8,length=4)", out="weights.npz", games=200, every=100,
            evaluate_every=100, evaluation_games=4, against="random",
        ).run(store, progress=False)  # fmt: skip
        assert len(training.curve()) == 2 and len(training.evaluations()) == 2
        (experiment,) = stored_experiments(store, "guide")
        experiment.run(store, **quiet)
        assert counts(file) == SHOWN["counts"]
        # Its search is complete and gains nothing but a verdict, which that version did not give.
        study = turnier.Study(
            "tictactoe", "mcts(iterations=5)", ["exploration=0..4"], budget=30, against=["random"], sampler="cmaes"
        )
        found = study.run(store, **quiet)
        assert str(found.proposed) == SHOWN["tune"]["recommended"] and found.verdict.searched == 24
        assert sorted(run.id for run in store.runs()) == SHOWN["runs"]
