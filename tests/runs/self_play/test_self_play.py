"""Training by self-play: the same weights however it runs, stops and resumes; refusals; and that it learns."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from turnier.agents.ntuple.weights import load_weights
from turnier.arena.workers.local import SerialExecutor, ThreadExecutor
from turnier.arena.workers.where import Where
from turnier.core.array_files import write_arrays
from turnier.core.errors import UserError
from turnier.core.kernel import JIT
from turnier.results.store.store import Store
from turnier.runs.play import play_rounds
from turnier.runs.self_play.loop import SelfPlayLoop, games_of
from turnier.runs.self_play.ratings import seconds_of
from turnier.runs.training import Training

AGENT = "puct(iterations=16,selection=gumbel,evaluator=ntuple(tuples=6,length=4))"
LEARNING = "self_play(generation=10,window=25,fast=4)"
GAMES = 60 if JIT else 20


def planned(out: Path, games: int = GAMES, **changes: Any) -> Training:
    named = {"game": "tictactoe", "agent": AGENT, "learning": LEARNING} | changes
    return Training(named.pop("game"), named.pop("agent"), out=out, games=games, **named)


def learned(out: Path, games: int = GAMES, workers: int = 1, **changes: Any) -> bytes:
    """Trains and returns the file of checkpoints."""
    with SerialExecutor() if workers == 1 else ThreadExecutor(workers) as executor:
        planned(out, games, **changes).plan.loop(out, games, pool=executor).run()
    return out.read_bytes()


def test_neither_workers_nor_stops_change_what_is_learned(tmp_path: Path) -> None:
    whole = learned(tmp_path / "whole.npz")
    assert learned(tmp_path / "threads.npz", workers=3) == whole
    for games in (10, 30, GAMES):
        parts = learned(tmp_path / "parts.npz", min(games, GAMES))
    assert parts == whole
    assert learned(tmp_path / "seed.npz", seed=2) != whole
    loop: Any = planned(tmp_path / "whole.npz").plan.loop(tmp_path / "whole.npz", GAMES)
    values, policy = loop.networks()
    assert policy is not None and values.digest != policy.digest and len(values.places) and len(policy.places)


def test_a_killed_training_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    """Killed by SIGKILL at whatever moment, again and again, until it is done."""
    games = 400 if JIT else 30
    whole = learned(tmp_path / "whole.npz", games)
    out = tmp_path / "killed.npz"
    code = (
        "import sys; from pathlib import Path; from tests.runs.self_play.test_self_play import learned\n"
        "import turnier.agents.learning.loop as loop; loop.CHECKPOINT_SECONDS = 0.1\n"
        f"learned(Path({str(out)!r}), {games})"
    )
    kills = 0
    while True:
        process = subprocess.Popen([sys.executable, "-c", code])
        began = games_of(out) if out.exists() else 0
        while process.poll() is None and kills < 3 and (games_of(out) if out.exists() else 0) <= began:
            time.sleep(0.01)
        if kills == 3 or process.poll() is not None:
            assert process.wait(300) == 0
            break
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
        assert not out.exists() or games_of(out) < games or out.read_bytes() == whole
    assert out.read_bytes() == whole


def test_a_stop_leaves_a_checkpoint(tmp_path: Path) -> None:
    loop = planned(tmp_path / "z.npz").plan.loop(tmp_path / "z.npz", GAMES, pool=SerialExecutor())
    with pytest.raises(KeyboardInterrupt):
        loop.run(lambda games: loop.stop())
    assert games_of(tmp_path / "z.npz") == 10


def test_checkpoints_are_evaluated_and_rated(tmp_path: Path) -> None:
    out, url = tmp_path / "z.npz", f"sqlite:///{tmp_path}/z.db"
    settings: dict[str, Any] = {"evaluate_every": 20, "evaluation_games": 16, "against": "random"}
    with Store.open(url) as store:
        training = planned(out, 40, **settings)
        results = training.run(store, progress=False)
        table = results.table()
        assert table["games"].tolist() == [0, 20, 40]
        assert (table["matches"] == 16).all() and table["elo"].notna().all()
        assert (table["elo_low"] < table["elo"]).all() and (table["minutes"].diff()[1:] > 0).all()
        assert results.best in (0, 20, 40)
        files = (tmp_path / "z.checkpoints" / f"40.{name}.npz" for name in ("values", "policy"))
        newest = training.plan.agent(*files)
        starts = {
            record.spec.opening for record in store.records(store.curves.match_ids(results.id, newest.full_text()))
        }
        assert len(starts) > 10  # of at most 24: agents that draw nothing would play one game again and again
        agents = set(results.frame()["agent"])
        assert len(agents) == 4 and newest.full_text() in agents
        again, matches = planned(out, 40, **settings), len(results.frame())
        assert again.finished
        assert again.run(store, progress=False).table().equals(table) and len(results.frame()) == matches
        values, policy = training.plan.learned(training.out)
        assert load_weights(values).digest == load_weights(tmp_path / "z.checkpoints/40.values.npz").digest
        assert load_weights(policy).training["policy"]
        more = planned(out, 60, **settings).run(store, progress=False).table()
        assert more["games"].tolist() == [0, 20, 40, 60]


def test_a_stop_ends_an_evaluation_which_is_finished_later(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"evaluate_every": 20, "evaluation_games": 16, "against": "random"}
    with Store.open(f"sqlite:///{tmp_path}/z.db") as store:
        whole = planned(tmp_path / "z.npz", 20, **settings).run(store, progress=False).table()
    stopped = planned(tmp_path / "z.npz", 20, **settings)
    with Store.open(f"sqlite:///{tmp_path}/y.db") as store, SerialExecutor() as executor:
        ended = play_rounds

        def stops(*arguments: Any) -> Any:
            for records in ended(*arguments):
                stopped.stop()
                yield records

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("turnier.runs.learning.evaluations.play_rounds", stops)
            with pytest.raises(KeyboardInterrupt):
                stopped.run(store, where=executor, progress=False)
        assert not store.curves.evaluated(stopped.run_id)
        table = planned(tmp_path / "z.npz", 20, **settings).run(store, progress=False).table()
    assert table["value"].tolist() == whole["value"].tolist()[-1:]


def test_the_time_of_learning_goes_on_after_a_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every generation takes a second, evaluations none; the stop comes between two evaluated checkpoints."""
    clock, learn = [0.0], SelfPlayLoop._learn

    def second(loop: SelfPlayLoop, generation: Any) -> None:
        learn(loop, generation)
        clock[0] += 1

    monkeypatch.setattr(SelfPlayLoop, "_learn", second)
    monkeypatch.setattr(
        "turnier.agents.learning.loop.time", SimpleNamespace(perf_counter=lambda: clock[0], thread_time=float)
    )
    settings: dict[str, Any] = {"evaluate_every": 50, "evaluation_games": 2, "against": "random"}
    with Store.open(f"sqlite:///{tmp_path}/z.db") as store:
        training = planned(tmp_path / "z.npz", 50, **settings)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("turnier.runs.bar.Bar.advance", lambda bar, games: clock[0] == 2 and training.stop())
            with pytest.raises(KeyboardInterrupt):
                training.run(store, where=Where("serial"), progress=False)
        assert training.done == 30 and seconds_of(store, training.run_id) == {0: 0.0, 30: 3.0}
        clock[0] = 100.0
        table = planned(tmp_path / "z.npz", 50, **settings).run(store, where=Where("serial"), progress=False).table()
        assert seconds_of(store, training.run_id) == {0: 0.0, 50: 5.0}
    assert (table["minutes"] * 60).round(6).tolist() == [0.0, 5.0]


@pytest.mark.skipif(not JIT, reason="thousands of games")
def test_it_learns(tmp_path: Path) -> None:
    """Against random play, and against the search around an empty network, which is what it began as."""
    url = f"sqlite:///{tmp_path}/z.db"
    with Store.open(url) as store:
        training = planned(
            tmp_path / "z.npz", 2000, learning="self_play", evaluate_every=2000, evaluation_games=200, against="random",
            agent="puct(iterations=16,selection=gumbel,evaluator=ntuple)",
        )  # fmt: skip
        results = training.run(store, where=Where("threads", 2), progress=False)
        table = results.table()
    assert table["value"].iloc[-1] > table["high"].iloc[0] and table["elo_low"].iloc[-1] > table["elo_high"].iloc[0]
    assert results.best == 2000


def test_without_a_policy_there_is_none(tmp_path: Path) -> None:
    training = planned(tmp_path / "z.npz", 10, learning="self_play(generation=10,policy=false)")
    with Store.open(f"sqlite:///{tmp_path}/z.db") as store:
        training.run(store, progress=False)
    assert training.plan.learned(training.out)[0].exists() and not training.plan.learned(training.out)[1].exists()
    assert "policy=" not in str(training.plan.agent(*training.plan.learned(training.out)))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"agent": "mcts"}, "needs a network or a search that learns, got mcts"),
        ({"agent": "puct"}, "must learn around an empty n-tuple network"),
        ({"agent": "puct(evaluator=ntuple(stages=2))", "game": "2048"}, "must learn around an empty n-tuple network"),
        ({"agent": "puct(evaluator=ntuple)", "game": "2048"}, "compiled games of several seats without chance"),
        ({"agent": "puct(evaluator=ntuple,milliseconds=5)"}, "must be reproducible"),
        ({"learning": "td"}, "puct must learn by self_play, got td"),
        ({"against": "random"}, "plays in evaluations only"),
        ({"games": 0}, "must be at least 1"),
        ({"learning": "self_play(generation=0)"}, "generation"),
    ],
)
def test_what_cannot_be_learned_is_refused(changes: dict[str, Any], reason: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=reason):
        planned(tmp_path / "z.npz", **changes)


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "z.npz"
    learned(out, 10)
    for changes, reason in (({"seed": 5}, "with seed 1, got 5"), ({"game": "connect_four"}, "with game tictactoe")):
        with pytest.raises(UserError, match=reason):
            learned(out, 20, **changes)
    with Store.open(f"sqlite:///{tmp_path}/z.db") as store:
        training = planned(tmp_path / "y.npz", 10)
        training.run(store, progress=False)
    with pytest.raises(UserError, match=r"a checkpoint of self-play must be an \.npz file"):
        learned(training.plan.learned(training.out)[0], 20)


@pytest.mark.parametrize("at", np.linspace(0.02, 0.98, 12))
def test_a_damaged_file_is_refused(at: float, tmp_path: Path) -> None:
    """Any changed byte that matters: in archives some, as padding, do not."""
    out = tmp_path / "z.npz"
    whole = learned(out, 10)
    data = bytearray(whole)
    data[int(at * len(data))] ^= 0xFF
    out.write_bytes(data)
    with pytest.raises(UserError, match=r"must be an undamaged|must be an \.npz"):
        learned(out, 20)
    out.write_bytes(whole[: int(at * len(whole))])
    with pytest.raises(UserError, match="must be an undamaged"):
        learned(out, 20)


def test_a_checkpoint_that_has_diverged_leaves_the_last_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "w.npz"
    content = learned(out, 10)
    loop = planned(out).plan.loop(out, GAMES, pool=SerialExecutor())
    assert isinstance(loop, SelfPlayLoop)
    learn = loop.model.learn

    def diverge(*lessons: Any) -> None:
        learn(*lessons)
        loop.model.tables[0][0] = np.nan  # type: ignore[attr-defined]

    monkeypatch.setattr(loop.model, "learn", diverge)
    says = f"got NaN or infinity in values after 20 games; {out} keeps the earlier checkpoint of 10 games"
    with pytest.raises(UserError, match=says):
        loop.run()
    assert out.read_bytes() == content
    monkeypatch.setattr("turnier.runs.self_play.loop.write_learned", write_arrays)
    loop.weights().save(out)
    with pytest.raises(UserError, match=f"a checkpoint of self-play must be finite, got {out}, which has NaN"):
        planned(out).plan.loop(out, GAMES)
