"""Training in the store: its curve, evaluations on the way, stopped and resumed."""

from __future__ import annotations

import errno
import io
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
from rich.console import Console

from turnier.agents.ntuple.evaluator import NTuple
from turnier.agents.ntuple.td import learning_for, td_of
from turnier.agents.ntuple.training import Plan, TrainingLoop, end_all
from turnier.agents.ntuple.weights import Weights, load_weights
from turnier.agents.registry import EVALUATORS, make_agent
from turnier.arena.play import play_match, replay
from turnier.arena.schedules.round_robin import round_robin
from turnier.arena.workers.local import SerialExecutor
from turnier.commands.training.end import print_learned
from turnier.core.errors import UserError
from turnier.core.number_text import plus_minus
from turnier.core.outputs import only_writer
from turnier.dashboards.reports.pictures import save_training_picture
from turnier.games.registry import make_game
from turnier.results.store.store import Store
from turnier.runs.training import Training
from turnier.runs.training_run import Evaluating, Evaluation, Evaluations, TrainingRun
from turnier.statistics.intervals import half_width_of_mean


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(f"sqlite:///{tmp_path / 'results.db'}")


def training(out: Path, games: int, seed: int = 1) -> TrainingLoop:
    evaluator = EVALUATORS.make("ntuple(tuples=4,length=4)")
    assert isinstance(evaluator, NTuple)
    learning = td_of("td(epsilon=0.1)")
    return TrainingLoop(Plan(make_game("tictactoe"), evaluator, learning, seed, every=20), out, games)


def learn(
    store: Store, out: Path, games: int, seed: int = 1, against: str = "random"
) -> tuple[TrainingRun, list[Evaluation]]:
    """What `turnier train` does; returns the evaluations that were made now, too."""
    told: list[Evaluation] = []
    learner = training(out, games, seed)
    run = TrainingRun(store, learner, Evaluating.of(learner.plan.game, 30, 5, against))
    with Evaluations(run, 1, told.append) as evaluations:
        if learner.done:
            evaluations.saved(learner, learner.weights())
        learner.run(1, None, 30, evaluations.saved)
        evaluations.finish()
    return run, told


def test_the_curve_and_the_evaluations_are_stored(store: Store, tmp_path: Path) -> None:
    run, told = learn(store, tmp_path / "w.npz", 70)
    assert [(p.games, p.count) for p in store.curves.points(run.id)] == [(20, 20), (40, 20), (60, 20), (70, 10)]
    assert [p.mean for p in store.curves.points(run.id)] == run.training.points.curve()[:, 2].tolist()
    assert run.evaluations() == told
    assert [(e.games, e.matches) for e in told] == [(30, 6), (60, 6)]
    assert store.run(run.id).kind == "training" and store.match_counts()[run.id] == 12
    agents = store.curves.evaluated(run.id)
    for evaluation in told:
        records = store.records(store.curves.match_ids(run.id, agents[evaluation.games]))
        seats = [record.spec.agents.index(agents[evaluation.games]) for record in records]
        assert sorted(seats) == [0, 0, 0, 1, 1, 1]
        won = [record.scores[seat] > 0 for record, seat in zip(records, seats, strict=True)]
        assert evaluation.value == pytest.approx(100 * np.mean(won)) and evaluation.low < evaluation.value + 1e-9
        assert all(tuple(replay(record.spec, record.plies).returns) == record.scores for record in records)
    assert sorted(path.name for path in tmp_path.iterdir() if "results" not in path.name) == ["w.npz"]


def test_evaluations_are_of_the_network_as_it_was_then(store: Store, tmp_path: Path) -> None:
    """The agent's digest is that of a training which stopped there."""
    run, _ = learn(store, tmp_path / "w.npz", 60)
    short = training(tmp_path / "short.npz", 30)
    short.run()
    assert short.weights().digest in store.curves.evaluated(run.id)[30]
    assert short.weights().digest not in store.curves.evaluated(run.id)[60]


def test_stored_games_are_not_played_again_and_more_games_resume(store: Store, tmp_path: Path) -> None:
    whole, _ = learn(store, tmp_path / "whole.npz", 90, seed=2)
    part, first = learn(store, tmp_path / "part.npz", 60, seed=2)
    again, nothing = learn(store, tmp_path / "part.npz", 60, seed=2)
    last, more = learn(store, tmp_path / "part.npz", 90, seed=2)
    assert part.id == again.id == last.id != whole.id
    assert ([e.games for e in first], nothing, [e.games for e in more]) == ([30, 60], [], [90])
    assert last.evaluations() == whole.evaluations() == first + more
    assert store.curves.points(last.id) == store.curves.points(whole.id)


def test_an_evaluation_that_a_kill_cut_off_is_finished(store: Store, tmp_path: Path) -> None:
    """Killed before the snapshot, and killed while it was evaluated: in both cases the next command does it."""
    whole, _ = learn(store, tmp_path / "whole.npz", 60)
    for with_snapshot in (False, True):
        out = tmp_path / f"killed{with_snapshot}.npz"
        killed = training(out, 30)
        killed.run()
        run = TrainingRun(store, killed, Evaluating.of(killed.plan.game, 30, 5, "random"))
        if with_snapshot:
            assert run.snapshot(killed.weights())
            closed = SerialExecutor()
            closed.play = lambda specs: iter(())  # type: ignore[method-assign, assignment]
            (games, snapshot), *_ = run.snapshots()
            assert run.evaluate(games, snapshot, closed) is None and run.evaluations() == []
        resumed, told = learn(store, out, 60)
        assert resumed.id == run.id and sorted(e.games for e in told) == [30, 60]
        assert resumed.evaluations() == whole.evaluations()


def test_training_anew_forgets_the_curve_of_before(store: Store, tmp_path: Path) -> None:
    run, _ = learn(store, tmp_path / "w.npz", 60)
    (tmp_path / "w.npz").unlink()
    again, told = learn(store, tmp_path / "w.npz", 30)
    assert again.id == run.id and [e.games for e in again.evaluations()] == [30] and len(told) == 1
    assert [p.games for p in store.curves.points(run.id)] == [20, 30]


def test_a_failing_evaluation_ends_the_training_with_its_reason(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has one seat"):
        Evaluating.of(make_game("2048"), 10, 10, "random")
    run, _ = learn(store, tmp_path / "w.npz", 30)
    run.folder.mkdir()
    (run.folder / "60.npz").write_bytes(b"nothing")
    with pytest.raises(UserError, match="weights must be"):
        learn(store, tmp_path / "w.npz", 60)


def test_a_stop_comes_after_a_checkpoint_of_all_games(tmp_path: Path) -> None:
    """By `stop` as by Ctrl-C in a notebook; while nothing is learned there is nothing to end."""
    learner, counts = training(tmp_path / "w.npz", 10_000), [0]

    def report(loop: TrainingLoop, count: int) -> None:
        counts.append(counts[-1] + count)
        loop.stop()

    assert not end_all()
    with pytest.raises(KeyboardInterrupt):
        learner.run(2, report)
    assert not end_all()
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
    monkeypatch.setattr("turnier.agents.ntuple.training.CHECKPOINT_SECONDS", 0.02)
    out, kept = tmp_path / "w.npz", []

    def saved(loop: TrainingLoop, weights: Weights) -> None:
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
    with pytest.raises(UserError, match="values to play with only"):
        training(tmp_path / "values.npz", 10)


def test_the_plot_is_a_picture(store: Store, tmp_path: Path) -> None:
    run, told = learn(store, tmp_path / "w.npz", 60)
    for evaluations in ([], told):
        path = tmp_path / f"{len(evaluations)}.png"
        save_training_picture(path, "a curve", store.curves.points(run.id), evaluations, run.unit)
        assert path.read_bytes().startswith(b"\x89PNG")
    for name, message in (("w.npz/x.png", "the folder of a picture must be a folder"), ("x.txt", "must end in one of")):
        with pytest.raises(UserError, match=message):
            save_training_picture(tmp_path / name, "a curve", store.curves.points(run.id), [], run.unit)


def test_a_game_without_chance_is_explored_unless_the_text_or_the_file_says_otherwise(tmp_path: Path) -> None:
    plain = "td(alpha=1.0,alpha_end=0.0,coherence=true,epsilon=0.0"
    assert learning_for(make_game("2048"), "td").full_text().startswith(plain)
    explored = learning_for(make_game("tictactoe"), "td")
    assert (explored.alpha, explored.epsilon, explored.from_random) == (0.3, 0.3, True)
    said = learning_for(make_game("tictactoe"), "td(epsilon=0,alpha=0.1)")
    assert (said.alpha, said.epsilon, said.from_random) == (0.1, 0.0, True)
    plan: dict[str, Any] = {"network": "ntuple(tuples=4,length=4)", "out": tmp_path / "w.npz", "games": 20}
    first = Training("tictactoe", **plan)
    assert first.plan.learning == explored
    before = Plan(first.plan.game, first.plan.evaluator, td_of("td"), every=1000)  # what `td` used to say
    TrainingLoop(before, tmp_path / "w.npz", 10).run()
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
    assert first.run(store, progress=False).loop.done == first.done > 0 and first.finished
    assert chosen(out=out).plan == first.plan and not chosen(out=out).finished
    more = chosen(out=out, network=network, learning="td(restart=20)", hours=0, games=first.done + 5, threads=1)
    assert more.run(store, progress=False).loop.done == first.done and chosen(out=out, hours=0.4 / 3600).finished
    for hours in (float("inf"), float("nan"), 100_001, -1):
        with pytest.raises(UserError, match=rf"hours of learning must be from 0 to 100,000, got {hours:g}\.$"):
            chosen(hours=hours)
    with pytest.raises(UserError, match="training needs a network, or hours"):
        chosen(hours=0)
    with pytest.raises(UserError, match="a training by hours alone must be of 2048"):
        Training("tictactoe", out=tmp_path / "none.npz", hours=1)
    with pytest.raises(UserError, match="games of a training must be at least 1"):
        Training("2048", network, out=tmp_path / "none.npz", games=0)


def test_the_mean_of_weights_is_written_without_a_game(store: Store, tmp_path: Path) -> None:
    network, files = "ntuple(network=cells,cells=0.1.2)", [tmp_path / "a.npz", tmp_path / "b.npz"]
    for seed, file in enumerate(files):
        Training("2048", network, out=file, games=3, seed=seed).run(store, progress=False)
    mean = Training("2048", network, out=tmp_path / "mean.npz", games=0, begins=files).run(store, progress=False)
    weights, one, other = (load_weights(file) for file in (mean.loop.out, *files))
    assert [entry["digest"] for entry in weights.training["begins"]] == [one.digest, other.digest]
    assert weights.largest <= max(one.largest, other.largest) and mean.hints() == []
    policy = tmp_path / "policy.npz"
    replace(one, training=one.training | {"policy": True}).save(policy)
    with pytest.raises(UserError, match=f"an evaluator must have values, got {policy}, which has a policy"):
        Training("2048", network, out=tmp_path / "new.npz", games=0, begins=[files[0], policy])


def test_what_is_printed_of_the_end_is_of_a_whole_point_of_games_at_least(tmp_path: Path) -> None:
    loop = TrainingLoop(replace(training(tmp_path / "w.npz", 21).plan, every=10), tmp_path / "w.npz", 21)
    loop.run()
    count, mean, variance = loop.points.newest(10)
    assert count == 11 and loop.points.sums[-1, 0] == 1
    console = Console(file=io.StringIO(), width=200)
    print_learned(console, loop)
    half = half_width_of_mean(11, float(np.sqrt(variance)))
    assert f"mean of the last 11 games {plus_minus(mean, half)}" in console.file.getvalue()  # type: ignore[attr-defined]


def test_self_play_that_repeats_one_game_is_said(store: Store, tmp_path: Path) -> None:
    def hints(learning: str, games: int) -> list[str]:
        training = Training("tictactoe", "ntuple", out=tmp_path / f"{games}.npz", games=games, learning=learning)
        return training.run(store, progress=False).hints()

    assert hints("td(epsilon=0)", 999) == [] and hints("td", 3000) == []
    (sentence,) = hints("td(epsilon=0)", 3001)
    assert "All of the last 1,001 games scored 1: self-play repeats itself" in sentence and "above 0," in sentence


def test_evaluations_have_a_hundred_games_unless_the_training_began_with_ten(store: Store, tmp_path: Path) -> None:
    def evaluated(name: str, games: int = 0, until: int = 20) -> tuple[str, list[int]]:
        training = Training(
            "tictactoe", "ntuple(tuples=4,length=4)", out=tmp_path / name, games=until, evaluate_every=10,
            evaluation_games=games, against="random",
        )  # fmt: skip
        run = training.run(store, progress=False).run
        return run.id, [evaluation.matches for evaluation in run.evaluations()]

    assert evaluated("new.npz")[1] == [100, 100]
    former, games = evaluated("old.npz", 10)
    assert games == [10, 10] and evaluated("old.npz", until=30) == (former, [10, 10, 10])


def test_tictactoe_is_learned_with_the_defaults(store: Store, tmp_path: Path) -> None:
    """At least 90 % of the games against random moves are won, not only 90 % of the points."""
    learned = Training("tictactoe", "ntuple", out=tmp_path / "w.npz", games=20_000).run(store, progress=False).agent
    specs = round_robin(make_game("tictactoe"), [learned, make_agent("random")], 1000, 7)
    records = [play_match(spec) for spec in specs]
    won = [record.scores[record.spec.agents.index(learned.full_text())] > 0 for record in records]
    assert len(won) == 1000 and np.mean(won) >= 0.9
