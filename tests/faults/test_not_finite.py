"""What was learned is finite: no checkpoint with NaN replaces a sound one, and no file with NaN is read."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from turnier.agents.ntuple import weights as ntuple
from turnier.agents.ntuple.training import TdLoop
from turnier.agents.residual import network as residual
from turnier.agents.residual.network import Network as Residual
from turnier.agents.spe_ed.q_learning import Learning, QTraining, read_table
from turnier.arena.workers.local import SerialExecutor
from turnier.commands.app import app
from turnier.core.array_files import NotFinite, not_finite, write_arrays
from turnier.core.errors import UserError
from turnier.games.registry import make_game
from turnier.results.store.store import Store
from turnier.runs.experiments.trained import Learner
from turnier.runs.training import Training
from turnier.search.learning_study import LearningParameter, LearningStudy, LearningStudyDefinition

OLD = Path(__file__).parents[1] / "data" / "stores" / "version_0_1_0.npz"


def planted(weights: ntuple.Weights, path: Path, value: float, column: int = 0) -> Path:
    """Writes weights with a number that is not finite, as versions before this check did: all digests fit."""
    entries = weights.entries.copy()
    entries[len(entries) // 2, column] = value
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ntuple, "write_learned", write_arrays)
        dataclasses.replace(weights, entries=entries).save(path)
    return path


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("shape", [(5,), (3, 4), (200_000, 3), (0, 3), (0,), (1, 300_000)])
def test_one_number_is_found_wherever_it_is(shape: tuple[int, ...], value: float) -> None:
    array = np.zeros(shape, np.float32)
    others = {"curve": np.array([np.nan]), "places": np.array([1])}
    assert not_finite({"entries": array, **others}) == ""
    if array.size:
        array.flat[array.size - 1] = value
        assert not_finite({"entries": array, **others}) == "entries"
        assert not_finite({"entries": array[:, :-1] if array.ndim > 1 else array[:-1]}) == ""


@pytest.mark.parametrize(("value", "column"), [(np.nan, 0), (np.inf, 0), (np.nan, 2)])
def test_a_file_that_is_not_finite_is_refused_by_all_that_reads_it(value: float, column: int, tmp_path: Path) -> None:
    good = ntuple.load_weights(OLD)
    path, ok = planted(good, tmp_path / "nan.npz", value, column), tmp_path / "ok.npz"
    good.save(ok)
    network = ("tictactoe", good.training["evaluator"], "--learning", good.training["learning"])
    store = ("--store", f"sqlite:///{tmp_path / 's.db'}")
    agent = f"greedy(evaluator=ntuple(file={path}))"
    for words in (
        ("play", "tictactoe", agent, "random", *store),
        ("tournament", "tictactoe", agent, "random", "--games", "4", *store),
        ("analyse", "tictactoe", agent),
        ("train", *network, "--begins", str(path), "--games", "10", "--out", str(tmp_path / "new.npz"), *store),
        ("train", *network, "--begins", str(ok), "--begins", str(path), "--games", "0", "--out",
         str(tmp_path / "new.npz"), *store),
        ("train", *network, "--games", "1000", "--out", str(path), *store),
    ):  # fmt: skip
        ended = CliRunner().invoke(app, list(words))
        assert isinstance(ended.exception, UserError), (words, ended.output, ended.exception)
        sentence = str(ended.exception)
        assert f"weights must be finite, got {path}, which has NaN or infinity in entries" in sentence, words
    assert not (tmp_path / "new.npz").exists()
    with pytest.raises(NotFinite):
        ntuple.load_weights(path)
    assert ntuple.load_weights(ok).digest == good.digest


def test_a_checkpoint_that_has_diverged_leaves_the_last_one(tmp_path: Path) -> None:
    """The sentence says which one the file keeps; the same command then ends in the same way."""
    out = tmp_path / "w.npz"
    training = Training(
        "2048", "ntuple(tuples=8,length=2)", learning="td(alpha=2.5,coherence=false)", out=out, games=400
    )  # fmt: skip
    TdLoop(training.plan, out, 400).run(until=1)
    content = out.read_bytes()
    words = ("train", "2048", "ntuple(tuples=8,length=2)", "--learning", "td(alpha=2.5,coherence=false)", "--games",
             "400", "--out", str(out), "--store", f"sqlite:///{tmp_path / 's.db'}")  # fmt: skip
    for _ in range(2):
        ended = CliRunner().invoke(app, list(words))
        assert isinstance(ended.exception, UserError), ended.output
        assert f"{out} keeps the earlier checkpoint of 1 games" in str(ended.exception)
        assert "an alpha below 2.5" in str(ended.exception) and out.read_bytes() == content


def test_without_an_earlier_checkpoint_no_file_is_written(tmp_path: Path) -> None:
    out = tmp_path / "w.npz"
    words = ("train", "2048", "ntuple(tuples=8,length=2)", "--learning", "td(alpha=10,coherence=false)", "--games",
             "300", "--out", str(out), "--store", f"sqlite:///{tmp_path / 's.db'}")  # fmt: skip
    ended = CliRunner().invoke(app, list(words))
    assert re.search(r"after 300 games; there is no earlier checkpoint, so \S+ was not written", str(ended.exception))
    assert not out.exists()


def test_others_are_neither_written_nor_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "n.npz"
    network = Residual(make_game("connect_four"), 1, 16)
    sound = residual.Weights(network, network.new_weights(1), {})
    sound.save(path)
    content, bad = path.read_bytes(), sound.weights.copy()
    bad[7] = np.inf
    with pytest.raises(NotFinite, match=f"must be finite to be written to {path}, got NaN or infinity in weights"):
        residual.Weights(network, bad, {}).save(path)
    assert path.read_bytes() == content
    monkeypatch.setattr("turnier.agents.learning.files.write_learned", write_arrays)
    residual.Weights(network, bad, {}).save(path)
    with pytest.raises(NotFinite, match=f"must be finite, got {path}, which has NaN or infinity in weights"):
        residual.Weights.load(path)

    table = QTraining(Learning(bits=4), tmp_path / "q.npz")
    table.save()
    assert read_table(tmp_path / "q.npz")[1]["done"] == 0
    table.table[3, 1] = np.nan
    with pytest.raises(NotFinite):
        table.save()
    assert not read_table(tmp_path / "q.npz")[0].any()


def test_what_has_diverged_is_played_as_such_where_a_study_measures_it() -> None:
    good = ntuple.load_weights(OLD)
    entries = np.full_like(good.entries, np.nan)
    entries[0, 0] = np.inf
    bounded = dataclasses.replace(good, entries=entries).bounded()
    assert not_finite({"entries": bounded.entries}) == "" and bounded.largest >= 1e29
    assert np.array_equal(good.bounded().entries, good.entries) and good.bounded().digest == good.digest


def test_learners_that_diverge_are_measured_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates of a study and curves of an experiment: the worst of players, and no end of everything."""
    monkeypatch.chdir(tmp_path)
    learner = Learner("2048", "ntuple(tuples=2,length=2)", "td(alpha=10,coherence=false)", 40, points=4)
    games: list[int] = []
    learner.train(tmp_path, games.append)
    assert learner.is_trained(tmp_path) and sum(games) == 40
    files = [learner.kept(tmp_path, place) for place in learner.places]
    assert all(not_finite({"entries": ntuple.load_weights(file).entries}) == "" for file in files)
    assert ntuple.load_weights(files[-1]).largest > 1e29
    searched = (LearningParameter("alpha", 9.0, 10.0),)
    plan = LearningStudyDefinition(
        "wild", "2048", learner.network, learner.learning, searched, 3, (20, 40), games=2, against="random", seed=1
    )
    study = LearningStudy(Store.open(f"sqlite:///{tmp_path / 's.db'}"), plan, tmp_path)
    with SerialExecutor() as executor:
        study.run(1, executor, 1)
    assert study.best().value < 2000 and len(study.best().estimates) == 2
