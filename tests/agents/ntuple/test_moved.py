"""Networks moved to other boards of their game: the same values of what is shifted with them, and sentences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import turnier
from turnier.agents.ntuple.evaluator import NTuple
from turnier.agents.ntuple.network import Network
from turnier.agents.ntuple.plans.moved import moved_network, moved_text, moved_tuples, moved_weights
from turnier.agents.ntuple.training import Plan, train_and_keep
from turnier.agents.ntuple.weights import Weights, load_weights
from turnier.agents.registry import EVALUATORS
from turnier.core.errors import UserError
from turnier.games.registry import GAMES
from turnier.runs.experiments.row import Row
from turnier.runs.experiments.trained import LearnedRow, Learner, TrainingStudy, train_all

TD = "td(epsilon=0.3,alpha=0.1,coherence=false)"
SMALL = Learner("yavalath(size=3)", "ntuple(tuples=6,length=3)", TD, 40)


def learned(folder: Path, learner: Learner = SMALL) -> Weights:
    learner.train(folder, lambda count: None)
    return load_weights(learner.kept(folder, learner.games))


def network_of(game: str, evaluator: str = "ntuple(tuples=20,length=3)") -> Network:
    ntuple = EVALUATORS.make(evaluator)
    assert isinstance(ntuple, NTuple)
    return ntuple.network_for(GAMES.make(game))


def entries_by_tuple(weights: Weights) -> dict[int, np.ndarray]:
    """Returns the touched values of each tuple, [phases * outputs, values ** cells], by its number."""
    network = weights.network
    dense = np.zeros((network.phases * network.outputs, network.entries_of_output), np.float32)
    dense.ravel()[weights.places] = weights.entries[:, 0]
    sizes = [network.values ** len(cells) for cells in network.tuples]
    return dict(enumerate(np.split(dense, np.cumsum(sizes)[:-1], axis=1)))


@pytest.mark.parametrize(
    ("here", "there"),
    [("yavalath(size=3)", "yavalath(size=6)"), ("othello(size=6)", "othello"), ("hex(size=4)", "hex(size=7)"),
     ("go(size=5)", "go(size=9)"), ("2048(size=3)", "2048")],
)  # fmt: skip
def test_tuples_are_shifted_as_a_whole_and_cover_a_larger_board(here: str, there: str) -> None:
    network, game = network_of(here, "ntuple(tuples=60,length=3)"), GAMES.make(there)
    before, after = GAMES.make(here).grid(), game.grid()
    found = moved_tuples(network, game)
    assert len(found) == 60, "all of them fit"
    for number, cells in found.items():
        steps = after[list(cells)] - before[list(network.tuples[number])]
        assert (steps == steps[0]).all()
    moved = moved_network(network, game)
    seen = {image[cell] for image in moved.symmetries for cells in moved.tuples for cell in cells}
    assert len(seen) > 0.9 * game.num_cells
    again = EVALUATORS.make(moved_text(network, game))
    assert isinstance(again, NTuple) and again.network_for(game) == moved


def test_every_entry_moves_with_its_tuple(tmp_path: Path) -> None:
    weights, game = learned(tmp_path), GAMES.make("yavalath(size=5)")
    moved = moved_weights(weights, game)
    before, after = entries_by_tuple(weights), entries_by_tuple(moved)
    assert len(weights.places) == len(moved.places) > 100 and moved_weights(weights, GAMES.make(SMALL.game)) is weights
    assert all(np.array_equal(before[number], after[number]) for number in before)


def test_tuples_too_large_for_a_board_are_left_out(tmp_path: Path) -> None:
    large = Learner("yavalath(size=5)", "ntuple(network=cells,cells=0.1.2.3.4/5.6.7)", TD, 20)
    weights = learned(tmp_path, large)
    moved = moved_weights(weights, GAMES.make("yavalath(size=3)"))
    (before, after) = entries_by_tuple(weights), entries_by_tuple(moved)
    assert list(moved_tuples(weights.network, GAMES.make("yavalath(size=3)"))) == [0, 1], "five cells fit in its middle"
    wide = network_of("yavalath(size=5)", "ntuple(network=cells,cells=26.27.28.29.30.31.32.33.34/5.6.7)")
    assert list(moved_tuples(wide, GAMES.make("yavalath(size=4)"))) == [1]
    assert all(np.array_equal(before[number], after[number]) for number in before)


@pytest.mark.parametrize("game", ["othello", "yavalath(players=3)", "nim"])
def test_other_games_and_seats_are_refused_in_a_sentence(game: str) -> None:
    with pytest.raises(UserError, match="only between boards of one game with a grid, as many seats and no stages"):
        moved_tuples(network_of("yavalath(size=3)"), GAMES.make(game))


def test_a_training_begins_on_another_board(tmp_path: Path) -> None:
    """`--games 0` only moves the network, whose refusal elsewhere says so; another training goes on from it."""
    small = SMALL.kept(tmp_path, SMALL.games)
    weights = learned(tmp_path)
    store = ("--store", f"sqlite:///{tmp_path}/a.db")
    with pytest.raises(UserError, match=r"or move them: turnier train yavalath --begins .*--games 0 --out FILE"):
        turnier("tournament", "yavalath", f"greedy(evaluator=ntuple(file={small}))", "random", *store, folder=tmp_path)
    turnier("train", "yavalath", "--begins", str(small), "--games", "0", "--out", "m.npz", *store, folder=tmp_path)
    moved = load_weights(tmp_path / "m.npz")
    assert moved.network == moved_network(weights.network, GAMES.make("yavalath"))
    assert np.array_equal(moved.entries[:, 0], weights.entries[:, 0]) and moved.training["learning"].startswith("td(")
    turnier("train", "yavalath", "--begins", str(small), "--games", "30", "--out", "t.npz", *store, folder=tmp_path)
    assert load_weights(tmp_path / "t.npz").training["done"] == 30
    with pytest.raises(UserError, match="must fit the network to train"):
        turnier("train", "yavalath", "ntuple", "--begins", str(small), "--out", "o.npz", *store, folder=tmp_path)


def test_a_learner_goes_on_from_its_source(tmp_path: Path) -> None:
    """Its file's name depends on the source; sources are trained first; without games it is the moved network."""
    moved, later = (Learner("yavalath(size=4)", "", TD, games, source=SMALL) for games in (0, 30))
    other = Learner("yavalath(size=4)", "", TD, 30, source=Learner(SMALL.game, SMALL.network, TD, 40, seed=2))
    assert len({one.out(tmp_path) for one in (moved, later, other)}) == 3
    rows = [LearnedRow(Row("r", "yavalath(size=4)", ("random",), 2), later, 0, (moved,))]
    study = TrainingStudy("guide", "moved", "Moved", "Text.", rows)
    assert set(study.learners) == {SMALL, moved, later}
    later.train(tmp_path, lambda count: None)
    assert not later.is_trained(tmp_path), "its source is not trained yet"
    train_all(study.learners, tmp_path, 2)
    assert all(one.is_trained(tmp_path) for one in study.learners)
    expected = moved_weights(load_weights(SMALL.kept(tmp_path, 40)), GAMES.make(moved.game))
    assert load_weights(moved.kept(tmp_path, 0)).digest == expected.digest
    source = (SMALL.kept(tmp_path, 40),)
    plan: Plan = later.plan(source)
    train_and_keep(plan, tmp_path / "x.npz", 30, {30: tmp_path / "y.npz"}, int, int)
    assert load_weights(tmp_path / "y.npz").digest == load_weights(later.kept(tmp_path, 30)).digest
