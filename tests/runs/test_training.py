"""Training in the store: its curve, evaluations on the way, stopped and resumed."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from turnier.agents.learning.loop import Points, end_all
from turnier.agents.ntuple.td import Td, method_for, td_of
from turnier.agents.ntuple.training import Plan, TdLoop
from turnier.agents.ntuple.weights import Weights, load_weights
from turnier.agents.registry import make_agent
from turnier.arena.play import play_match, replay
from turnier.arena.schedules.round_robin import round_robin
from turnier.arena.workers.local import SerialExecutor
from turnier.core.errors import UserError
from turnier.core.number_text import plus_minus
from turnier.core.outputs import only_writer
from turnier.dashboards.kinds.learning.training import sentences
from turnier.games.registry import make_game
from turnier.results.store.store import Store
from turnier.runs.bar import QUIET, game_bar
from turnier.runs.learning.evaluations import Evaluating, Evaluations
from turnier.runs.plan import Playing
from turnier.runs.results import RunResults
from turnier.runs.stored.training import Evaluation, TrainingResults, stored_evaluations
from turnier.runs.training import Training
from turnier.statistics.intervals import half_width_of_mean


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(f"sqlite:///{tmp_path / 'results.db'}")


def planned(out: Path, games: int, seed: int = 1) -> Training:
    return Training(
        "tictactoe", "ntuple(tuples=4,length=4)", out=out, games=games, learning="td(epsilon=0.1)", seed=seed, every=20,
        evaluate_every=30, evaluation_games=5, against="random",
    )  # fmt: skip


def training(out: Path, games: int, seed: int = 1) -> TdLoop:
    plan = planned(out, games, seed).plan
    assert isinstance(plan, Plan)
    return TdLoop(plan, out, games)


def learn(store: Store, out: Path, games: int, seed: int = 1) -> TrainingResults:
    return planned(out, games, seed).run(store, progress=False)


def evaluated(results: TrainingResults) -> list[Evaluation]:
    return stored_evaluations(results.store, results.id, results.game)


def test_the_curve_and_the_evaluations_are_stored(store: Store, tmp_path: Path) -> None:
    run = learn(store, tmp_path / "w.npz", 70)
    points = store.curves.points(run.id)
    assert [(p.games, p.count) for p in points] == [(20, 20), (40, 20), (60, 20), (70, 10)]
    assert [p.mean for p in points] == load_weights(tmp_path / "w.npz").curve[:, 2].tolist()
    assert [(e.games, e.matches) for e in evaluated(run)] == [(30, 6), (60, 6)]
    assert store.run(run.id).kind == "training" and store.match_counts()[run.id] == 12
    agents = store.curves.evaluated(run.id)
    for evaluation in evaluated(run):
        records = store.records(store.curves.match_ids(run.id, agents[evaluation.games]))
        seats = [record.spec.agents.index(agents[evaluation.games]) for record in records]
        assert sorted(seats) == [0, 0, 0, 1, 1, 1]
        won = [record.scores[seat] > 0 for record, seat in zip(records, seats, strict=True)]
        assert evaluation.value == pytest.approx(100 * np.mean(won)) and evaluation.low < evaluation.value + 1e-9
        assert all(tuple(replay(record.spec, record.plies).returns) == record.scores for record in records)
    assert sorted(path.name for path in tmp_path.iterdir() if "results" not in path.name) == ["w.npz"]


def test_a_training_is_reopened_without_its_file(store: Store, tmp_path: Path) -> None:
    """Its figures, and its plan with the values that it had; another opponent would be another run."""
    run, out = learn(store, tmp_path / "w.npz", 70), tmp_path / "w.npz"
    tables = [run.curve(), run.evaluations()]
    out.unlink()
    found = RunResults.find(store, run.id)
    assert isinstance(found, TrainingResults) and found.unit == run.unit and found.out == out
    assert all(one.equals(other) for one, other in zip(tables, [found.curve(), found.evaluations()], strict=True))
    with pytest.raises(UserError, match="weights must be a file"):
        _ = found.agent
    again = Training.of_run(store, store.run(run.id), games=90)
    assert (again.run_id, again.games, again.settings) == (run.id, 90, planned(out, 90).settings)
    with pytest.raises(UserError, match="keeps its against; leave it out, or begin a new run"):
        Training.of_run(store, store.run(run.id), against="mcts")


@pytest.mark.parametrize(
    ("options", "run_id"),
    [
        ({"game": "2048", "network": "ntuple(network=4x6)", "out": "w.npz"}, "training:52ac7234563cc858"),
        (
            {
                "game": "tictactoe",
                "network": "ntuple",
                "out": "w.npz",
                "evaluate_every": 500,
                "against": "random",
                "seed": 3,
            },
            "training:5378d2b184679b70",
        ),
        (
            {"game": "2048", "network": "dqn", "out": "d.npz", "evaluate_every": 50, "evaluation_games": 20},
            "training:32caca5310781b4b",
        ),
        (
            {"game": "tictactoe", "network": "puct(evaluator=ntuple)", "out": "z.npz", "evaluate_every": 20},
            "training:03c599858599e046",
        ),
    ],
)
def test_stored_trainings_keep_their_ids_and_resume(
    options: dict[str, Any], run_id: str, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of versions that stored no settings, too."""
    if "dqn" in options["network"]:
        pytest.importorskip("jax")
    monkeypatch.chdir(tmp_path)
    plan = Training(**options)
    assert plan.run_id == run_id
    store.begin_run(plan.run_id, plan.kind, plan.label, plan.definition)
    again = Training.of_run(store, store.run(run_id), games=7)
    assert (again.run_id, again.plan, again.games) == (run_id, plan.plan, 7)


def test_evaluations_are_of_the_network_as_it_was_then(store: Store, tmp_path: Path) -> None:
    """The agent's digest is that of a training which stopped there."""
    run = learn(store, tmp_path / "w.npz", 60)
    short = training(tmp_path / "short.npz", 30)
    short.run()
    assert short.weights().digest in store.curves.evaluated(run.id)[30]
    assert short.weights().digest not in store.curves.evaluated(run.id)[60]


def test_stored_games_are_not_played_again_and_more_games_resume(store: Store, tmp_path: Path) -> None:
    whole = learn(store, tmp_path / "whole.npz", 90, seed=2)
    part = learn(store, tmp_path / "part.npz", 60, seed=2)
    first = evaluated(part)
    played = store.records(store.curves.match_ids(part.id, store.curves.evaluated(part.id)[60]))
    again = learn(store, tmp_path / "part.npz", 60, seed=2)
    assert evaluated(again) == first and [e.games for e in first] == [30, 60]
    assert store.records([record.spec.id for record in played]) == played  # with the seconds that they took
    last = learn(store, tmp_path / "part.npz", 90, seed=2)
    assert part.id == again.id == last.id != whole.id
    assert evaluated(last) == evaluated(whole) and evaluated(last)[:2] == first
    assert store.curves.points(last.id) == store.curves.points(whole.id)


def test_an_evaluation_that_a_kill_cut_off_is_finished(store: Store, tmp_path: Path) -> None:
    """Killed before the snapshot, and killed while it was evaluated: in both cases the next command does it."""
    whole = learn(store, tmp_path / "whole.npz", 60)
    for with_snapshot in (False, True):
        out = tmp_path / f"killed{with_snapshot}.npz"
        killed, plan = training(out, 30), planned(out, 30)
        killed.run()
        store.begin_run(plan.run_id, plan.kind, plan.label, plan.definition)
        if with_snapshot:
            with SerialExecutor() as pool, game_bar("", 30, QUIET) as bar, pytest.MonkeyPatch.context() as patch:
                patch.setattr(Evaluations, "_play", lambda *_: False)  # as if its executor was closed
                with Evaluations(
                    Playing(store, plan.run_id, pool, lambda: bar), killed, plan.evaluating
                ) as evaluations:
                    evaluations.saved(killed.weights())
                    evaluations._futures[0].result()
                    assert evaluations.waiting_games() == [30]
        assert store.curves.evaluated(plan.run_id) == {}
        resumed = learn(store, out, 60)
        assert resumed.id == plan.run_id and evaluated(resumed) == evaluated(whole)


def test_training_anew_forgets_the_curve_of_before(store: Store, tmp_path: Path) -> None:
    run = learn(store, tmp_path / "w.npz", 60)
    (tmp_path / "w.npz").unlink()
    again = learn(store, tmp_path / "w.npz", 30)
    assert again.id == run.id and [e.games for e in evaluated(again)] == [30]
    assert [p.games for p in store.curves.points(run.id)] == [20, 30]


def test_a_failing_evaluation_ends_the_training_with_its_reason(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has one seat"):
        Evaluating.of(make_game("2048"), 10, 10, "random")
    learn(store, tmp_path / "w.npz", 30)
    folder = planned(tmp_path / "w.npz", 30).plan.folder(tmp_path / "w.npz")
    folder.mkdir()
    (folder / "60.npz").write_bytes(b"nothing")
    with pytest.raises(UserError, match="weights must be"):
        learn(store, tmp_path / "w.npz", 60)


def test_a_stop_comes_after_a_checkpoint_of_all_games(tmp_path: Path) -> None:
    """By `stop` as by Ctrl-C in a notebook; while nothing is learned there is nothing to end."""
    learner, counts = training(tmp_path / "w.npz", 10_000), [0]

    def report(count: int) -> None:
        counts.append(counts[-1] + count)
        assert learner.stop()

    assert not end_all()
    learner.threads = 2
    with pytest.raises(KeyboardInterrupt):
        learner.run(report)
    assert not end_all() and not learner.stop()
    assert 0 < counts[-1] == learner.done == load_weights(tmp_path / "w.npz").training["done"] < 10_000
    interrupted = training(tmp_path / "interrupted.npz", 10_000_000)
    main = threading.main_thread().ident
    assert main is not None
    threading.Timer(0.5, signal.pthread_kill, (main, signal.SIGUSR1)).start()
    before = signal.signal(signal.SIGUSR1, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        interrupted.run()
    signal.signal(signal.SIGUSR1, before)
    assert 0 < interrupted.done == load_weights(tmp_path / "interrupted.npz").training["done"]


def test_checkpoints_come_by_time_and_a_full_disk_leaves_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many games are still to come; the file that could not be written is gone."""
    monkeypatch.setattr("turnier.agents.learning.loop.CHECKPOINT_SECONDS", 0.02)
    out, kept = tmp_path / "w.npz", []

    def saved(weights: Weights) -> None:
        kept.append(weights.training["done"])
        if len(kept) == 3:
            monkeypatch.setattr(os, "fsync", fails)

    def fails(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(UserError, match="No space left on device"):
        training(out, 10_000_000).run(saved=saved)
    assert load_weights(out).training["done"] in kept[:3]
    assert [path.name for path in tmp_path.iterdir()] == ["w.npz"]


def test_one_trainer_at_a_time(store: Store, tmp_path: Path) -> None:
    """Of a file, and of a run in one store where two machines have a file of that name; a dead holder is none."""
    plan: dict[str, Any] = {"network": "ntuple(tuples=4,length=4)", "out": tmp_path / "w.npz", "games": 20}
    first = f"process {os.getpid()} on {socket.gethostname()} has learned since 2"
    with only_writer(tmp_path / "w.npz", "has learned"), pytest.raises(UserError, match=first):
        Training("tictactoe", **plan).run(store, progress=False)
    assert not (tmp_path / "w.npz").exists()
    run_id = Training("tictactoe", **plan).run(store, progress=False).id
    with store.lock(run_id), pytest.raises(UserError, match="must have one driver at a time"):
        Training("tictactoe", **plan | {"games": 30}).run(store, progress=False)
    assert load_weights(tmp_path / "w.npz").training["done"] == 20
    dies = (
        "import os; from pathlib import Path; from turnier.core.outputs import only_writer\n"
        f"with only_writer(Path({str(tmp_path / 'w.npz')!r}), 'dies'): os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", dies], timeout=60).returncode == 9
    assert (tmp_path / ".w.npz.lock").read_text().endswith("UTC")
    Training("tictactoe", **plan | {"games": 30}).run(store, progress=False)
    assert load_weights(tmp_path / "w.npz").training["done"] == 30
    assert not (tmp_path / ".w.npz.lock").exists()


def test_a_file_of_values_is_not_trained_on(tmp_path: Path) -> None:
    learner = training(tmp_path / "w.npz", 5)
    learner.run()
    learner.weights().to_play().save(tmp_path / "values.npz")
    with pytest.raises(UserError, match="only values to play with"):
        training(tmp_path / "values.npz", 10)


def test_a_game_without_chance_is_explored_unless_the_text_or_the_file_says_otherwise(tmp_path: Path) -> None:
    plain = "td(alpha=1.0,alpha_end=0.0,coherence=true,epsilon=0.0"
    assert method_for(make_game("2048"), "td", Td).full_text().startswith(plain)
    explored = method_for(make_game("tictactoe"), "td", Td)
    assert (explored.alpha, explored.epsilon, explored.from_random) == (0.3, 0.3, True)
    said = method_for(make_game("tictactoe"), "td(epsilon=0,alpha=0.1)", Td)
    assert (said.alpha, said.epsilon, said.from_random) == (0.1, 0.0, True)
    plan: dict[str, Any] = {"network": "ntuple(tuples=4,length=4)", "out": tmp_path / "w.npz", "games": 20}
    first = Training("tictactoe", **plan)
    assert first.plan.learning == explored
    before = Plan(first.plan.game, first.plan.evaluator, td_of("td"), every=1000)  # what `td` used to say
    TdLoop(before, tmp_path / "w.npz", 10).run()
    assert Training("tictactoe", **plan).plan == before
    assert Training("tictactoe", **plan, learning="td(epsilon=0.1)").plan != before


def test_hours_choose_a_network_for_2048_and_a_file_is_resumed_with_its_own(store: Store, tmp_path: Path) -> None:
    def chosen(**changes: Any) -> Training:
        return Training("2048", **{"out": tmp_path / "none.npz", "hours": 2, "threads": 2, **changes})

    assert chosen().plan.evaluator.network == "8x6" and chosen(hours=0.01).plan.evaluator.network == "4x6"
    assert chosen().plan.learning.delayed and not chosen(learning="td").plan.learning.delayed
    assert chosen(network="ntuple").plan.learning == td_of("td")
    out, network = tmp_path / "w.npz", "ntuple(network=cells,cells=0.1.2)"
    first = chosen(network=network, out=out, learning="td(restart=20)", hours=0.4 / 3600, threads=1)
    assert first.run(store, progress=False) and first.done > 0 and first.finished
    assert chosen(out=out).plan == first.plan and not chosen(out=out).finished
    more = chosen(out=out, network=network, learning="td(restart=20)", hours=0, games=first.done + 5, threads=1)
    more.run(store, progress=False)
    assert more.done == more.games and chosen(out=out, hours=0.4 / 3600).finished
    for hours in (float("inf"), float("nan"), 100_001, -1):
        with pytest.raises(UserError, match="hours must be from 0 to 100,000, got"):
            chosen(hours=hours)
    with pytest.raises(UserError, match="training needs a network, or hours"):
        chosen(hours=0)
    with pytest.raises(UserError, match="training by hours alone needs 2048"):
        Training("tictactoe", out=tmp_path / "none.npz", hours=1)
    with pytest.raises(UserError, match="games of a training must be at least 1"):
        Training("2048", network, out=tmp_path / "none.npz", games=0)


def test_the_mean_of_weights_is_written_without_a_game(store: Store, tmp_path: Path) -> None:
    network, files = "ntuple(network=cells,cells=0.1.2)", [tmp_path / "a.npz", tmp_path / "b.npz"]
    for seed, file in enumerate(files):
        Training("2048", network, out=file, games=3, seed=seed).run(store, progress=False)
    mean = Training("2048", network, out=tmp_path / "mean.npz", games=0, begins=files).run(store, progress=False)
    weights, one, other = (load_weights(file) for file in (mean.out, *files))
    assert [entry["digest"] for entry in weights.training["begins"]] == [one.digest, other.digest]
    assert weights.largest <= max(one.largest, other.largest) and mean.hints() == []
    policy = tmp_path / "policy.npz"
    replace(one, training=one.training | {"policy": True}).save(policy)
    with pytest.raises(UserError, match=f"an evaluator must have values, got {policy}, which has a policy"):
        Training("2048", network, out=tmp_path / "new.npz", games=0, begins=[files[0], policy])


def test_what_is_said_of_the_end_is_of_a_whole_point_of_games_at_least(store: Store, tmp_path: Path) -> None:
    results = Training("tictactoe", "ntuple(tuples=4)", out=tmp_path / "w.npz", games=21, every=10).run(store)
    points = Points(10, np.array(load_weights(tmp_path / "w.npz").training["points"]))
    count, mean, variance = points.newest(10)
    assert count == 11 and points.sums[-1, 0] == 1
    half = half_width_of_mean(11, float(np.sqrt(variance)))
    assert f"w.npz: 21 games; mean of the last 11 games {plus_minus(mean, half)}" in sentences(results)[0]


def test_self_play_that_repeats_one_game_is_said(store: Store, tmp_path: Path) -> None:
    def hints(learning: str, games: int) -> list[str]:
        training = Training("tictactoe", "ntuple", out=tmp_path / f"{games}.npz", games=games, learning=learning)
        return training.run(store, progress=False).hints()

    assert hints("td(epsilon=0)", 999) == [] and hints("td", 3000) == []
    (sentence,) = hints("td(epsilon=0)", 3001)
    assert "All of the last 1,001 games scored 1: self-play repeats itself" in sentence and "above 0," in sentence


def test_tictactoe_is_learned_with_the_defaults(store: Store, tmp_path: Path) -> None:
    """At least 90 % of the games against random moves are won, not only 90 % of the points."""
    learned = Training("tictactoe", "ntuple", out=tmp_path / "w.npz", games=20_000).run(store, progress=False).agent
    specs = round_robin(make_game("tictactoe"), [learned, make_agent("random")], 1000, 7)
    records = [play_match(spec) for spec in specs]
    won = [record.scores[record.spec.agents.index(learned.full_text())] > 0 for record in records]
    assert len(won) == 1000 and np.mean(won) >= 0.9
