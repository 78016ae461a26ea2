"""Experiments on learned networks: trained once, stopped and resumed, reported without the files."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from turnier.agents.ntuple.training import TdLoop
from turnier.agents.ntuple.weights import load_weights, weights_from_file
from turnier.agents.registry import make_agent
from turnier.arena.match import MatchRecord
from turnier.arena.workers.make import make_executor
from turnier.arena.workers.where import Where
from turnier.core.errors import UserError
from turnier.results.store.store import Store
from turnier.runs.experiments.experiment import measurements, play_experiment, stored_experiments
from turnier.runs.experiments.row import Row
from turnier.runs.experiments.trained import LearnedRow, Learner, TrainingStudy, train_all

LEARNER = Learner("tictactoe", "ntuple(tuples=4,length=4)", "td(epsilon=0.3,epsilon_end=0)", 100, points=3)


def nothing(count: int) -> None:
    """Nobody is told."""


def digests(learner: Learner, folder: Path) -> list[str]:
    return [load_weights(learner.kept(folder, place)).digest for place in learner.places]


def test_weights_are_kept_on_the_way_as_a_shorter_look_at_the_same_training(tmp_path: Path) -> None:
    assert LEARNER.places == [33, 66, 100]
    train_all([LEARNER, LEARNER], tmp_path, 2)
    assert len(set(digests(LEARNER, tmp_path))) == 3
    whole = TdLoop(LEARNER.plan(), tmp_path / "whole.npz", 100)
    whole.run()
    assert digests(LEARNER, tmp_path)[-1] == whole.weights().digest
    assert all(load_weights(LEARNER.kept(tmp_path, place)).values_only for place in LEARNER.places)


def test_stopped_training_goes_on_and_what_is_missing_is_made_again(tmp_path: Path) -> None:
    train_all([LEARNER], tmp_path / "whole", 1)
    expected = digests(LEARNER, tmp_path / "whole")
    folder = tmp_path / "killed"
    folder.mkdir()
    stopped = TdLoop(LEARNER.plan(), LEARNER.out(folder), LEARNER.games)
    with pytest.raises(RuntimeError, match="killed"):
        stopped.run(saved=lambda weights: (_ for _ in ()).throw(RuntimeError("killed")), every=33)
    assert load_weights(LEARNER.out(folder)).training["done"] == 33 and not LEARNER.kept(folder, 33).exists()
    told: list[int] = []
    LEARNER.train(folder, told.append)
    assert digests(LEARNER, folder) == expected and sum(told) == 100 and told[0] == 33
    before = LEARNER.kept(folder, 66).stat().st_mtime_ns
    LEARNER.kept(folder, 33).unlink()
    LEARNER.train(folder, nothing)
    assert digests(LEARNER, folder) == expected and LEARNER.kept(folder, 66).stat().st_mtime_ns == before


def test_a_signal_ends_all_learners_of_a_script_with_checkpoints(tmp_path: Path) -> None:
    """The second learner waits for the first one, and does not begin."""
    learners = [Learner(**asdict(LEARNER) | {"games": 20_000_000, "seed": seed, "points": 1}) for seed in (1, 2)]
    script, out = tmp_path / "script.py", learners[0].out(tmp_path)
    script.write_text(
        "import turnier.agents.learning.loop as t\n"
        "from turnier.studies.scripts.trained_experiments import run_training_studies\n"
        "from turnier.runs.experiments.row import Row\n"
        "from turnier.runs.experiments.trained import LearnedRow, Learner, TrainingStudy\n"
        "t.CHECKPOINT_SECONDS, t.CHECKPOINT_SHARE = 0.1, 1e-9  # a first one, and another at the end\n"
        f"rows = [LearnedRow(Row('x', 'tictactoe', ('random',), 6), learner) for learner in {learners}]\n"
        "run_training_studies('', lambda _: [TrainingStudy('d', 'c', 'A curve', 'Text.', rows)], {'tiny': 1})\n"
    )
    words = [str(script), "--workers", "1", "--folder", str(tmp_path), "--store", f"sqlite:///{tmp_path}/a.db"]
    with subprocess.Popen([sys.executable, *words], stderr=subprocess.PIPE, text=True) as process:
        while not out.exists() and process.poll() is None:
            time.sleep(0.02)
        before = load_weights(out).training["done"]
        time.sleep(0.2)  # for more games
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM and "Stopped; finished games are stored. To resume" in told
    assert load_weights(out).training["done"] > before and not learners[1].out(tmp_path).exists()


def test_files_are_named_by_everything_that_decides_the_weights(tmp_path: Path) -> None:
    others = [
        Learner("tictactoe", "ntuple(tuples=4,length=4)", "td(epsilon=0.3)", 100, 3),
        Learner("tictactoe", "ntuple(tuples=4,length=4)", LEARNER.learning, 200, 3),
        Learner("tictactoe", "ntuple(tuples=4,length=4)", LEARNER.learning, 100, 3, seed=2),
        Learner("tictactoe", "ntuple(tuples=3,length=4)", LEARNER.learning, 100, 3),
        LEARNER,
    ]
    assert len({learner.out(tmp_path) for learner in others}) == len(others)
    with pytest.raises(UserError, match="needs an n-tuple network"):
        Learner("tictactoe", "score", "td", 1).plan()


def test_the_report_needs_the_store_only(tmp_path: Path) -> None:
    """Rows are measured after their files are gone; playing without them is refused in a sentence."""
    rows = [LearnedRow(Row(f"{p}", "tictactoe", ("random",), 6, x=p), LEARNER, p) for p in LEARNER.places]
    study = TrainingStudy("doc", "curve", "A curve", "Text.", [*rows, Row("random", "tictactoe", ("random",) * 2, 2)])
    assert study.learners == [LEARNER]
    train_all(study.learners, tmp_path / "nets", 1)
    experiment = study.experiment(tmp_path / "nets")
    with Store.open(f"sqlite:///{tmp_path / 'results.db'}") as store:
        with make_executor(Where("serial")) as pool:
            played = [record for batch in play_experiment(experiment, store, pool) for record in batch]
        shutil.rmtree(tmp_path / "nets")
        measured = measurements(stored_experiments(store, "doc")[0], store)
    assert len(played) == 20 and [figure.games for figure in measured][:3] == [6, 6, 6]
    agent = make_agent(experiment.rows[0].agents[0]).full_text()
    scores = [
        r.scores[r.spec.agents.index(agent)] for r in played if isinstance(r, MatchRecord) if agent in r.spec.agents
    ]
    assert len(scores) == 6 and measured[0].value == pytest.approx(100 * sum(score > 0 for score in scores) / 6)
    weights_from_file.cache_clear()  # those of this process would do
    with (
        Store.open(f"sqlite:///{tmp_path / 'other.db'}") as store,
        make_executor(Where("serial")) as pool,
        pytest.raises(UserError, match="weights must be a file"),
    ):
        list(play_experiment(experiment, store, pool))
