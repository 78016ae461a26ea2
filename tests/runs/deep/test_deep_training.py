"""Training of deep networks: the same bytes however it stops and resumes; refusals; and that it learns."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from turnier.agents.deep.network import Weights
from turnier.core.array_files import write_arrays
from turnier.core.errors import UserError
from turnier.core.kernel import JIT
from turnier.results.store.curves import CurvePoint
from turnier.results.store.store import Store
from turnier.runs.learning.deep import DeepLoop
from turnier.runs.learning.evaluations import Evaluations
from turnier.runs.training import Training

pytest.importorskip("jax")

GAME, NETWORK = "2048(size=2)", "dqn(layers=16.8)"
LEARNING = "deep_q(boards=8,replay=800,warmup=64,batch=16,interval=4,target=10,explore=500)"


def planned(out: Path, games: int = 100, **changes: Any) -> Training:
    named = {"game": GAME, "network": NETWORK, "learning": LEARNING, "every": 25} | changes
    return Training(named.pop("game"), named.pop("network"), out=out, games=games, **named)


def learned(out: Path, games: int = 100, **changes: Any) -> bytes:
    """Trains and returns the file."""
    planned(out, games, **changes).plan.loop(out, games).run()
    return out.read_bytes()


def test_stops_do_not_change_what_is_learned(tmp_path: Path) -> None:
    whole = learned(tmp_path / "whole.npz")
    assert learned(tmp_path / "again.npz") == whole
    for stop in (1, 5, 20, 41):
        loop = planned(tmp_path / "parts.npz").plan.loop(tmp_path / "parts.npz", 100)
        assert isinstance(loop, DeepLoop)
        turn = loop.turn

        def counted(loop: DeepLoop = loop, turn: Any = turn, turns: int = stop) -> None:
            turn()
            if loop.replay.count >= turns:
                loop.stop()

        loop.turn = counted  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            loop.run()
    assert learned(tmp_path / "parts.npz") == whole
    assert learned(tmp_path / "seed.npz", seed=2) != whole
    config = Weights.read(tmp_path / "whole.npz")["training"]
    assert 100 <= config["done"] < 108 and config["updates"] > 20


@pytest.mark.parametrize("changes", [{"game": "tictactoe"}, {"network": "dqn(layers=8,input=two)"}])
def test_others_resume_as_well(changes: dict[str, Any], tmp_path: Path) -> None:
    whole = learned(tmp_path / "whole.npz", 60, **changes)
    learned(tmp_path / "parts.npz", 30, **changes)
    assert learned(tmp_path / "parts.npz", 60, **changes) == whole


@pytest.mark.skipif(not JIT, reason="thousands of moves")
def test_a_killed_training_resumes_to_the_same_bytes_and_curve(tmp_path: Path) -> None:
    """Killed by SIGKILL at whatever moment, again and again, until it is done."""
    code = (
        "import sys; import turnier.agents.learning.loop as loop; from pathlib import Path\n"
        "from tests.runs.deep.test_deep_training import trained\n"
        "loop.CHECKPOINT_SECONDS = 0.05; trained(Path(sys.argv[1]))"
    )
    killed, whole, random = tmp_path / "killed.npz", tmp_path / "whole.npz", np.random.default_rng()
    for _ in range(2):
        process = subprocess.Popen([sys.executable, "-c", code, str(killed)])
        while not killed.exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(random.uniform(0, 0.5))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert killed.exists() and Weights.read(killed)["training"]["done"] < 800
    curves = [trained(killed), trained(whole)]
    assert killed.read_bytes() == whole.read_bytes()
    assert len(curves[0]) > 10 and curves[0] == curves[1]


def trained(out: Path) -> list[CurvePoint]:
    """Trains in a store and returns the curve."""
    with Store.open(f"sqlite:///{out}.db") as store:
        return store.curves.points(planned(out, 800).run(store, progress=False).id)


def test_evaluations_and_the_curve_are_stored(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"evaluate_every": 40, "evaluation_games": 10}
    with Store.open(f"sqlite:///{tmp_path}/d.db") as store:
        results = planned(tmp_path / "d.npz", 100, **settings).run(store, progress=False)
        table = results.table()
        assert [games // 40 for games in table["games"]] == [1, 2] and (table["matches"] == 10).all()
        assert results.curve()["count"].sum() == Weights.read(tmp_path / "d.npz")["training"]["done"]
        assert results.agent.full_text().startswith(f"dqn(file={tmp_path / 'd.npz'},digest=")
        again = planned(tmp_path / "d.npz", 100, **settings)
        assert again.finished and again.run(store, progress=False).table().equals(table)
    assert not (tmp_path / "d.npz.evaluating").exists()


def test_a_signal_after_learning_is_no_stop_of_learning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While evaluations are finished, which may take long, `stop` says that nothing learns, so the command ends."""
    training, finish, stopped = (
        planned(tmp_path / "d.npz", evaluate_every=50, evaluation_games=2),
        Evaluations.finish,
        [],
    )

    def stop_and_finish(evaluations: Any) -> None:
        stopped.append(training.stop())
        finish(evaluations)

    monkeypatch.setattr(Evaluations, "finish", stop_and_finish)
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        training.run(store, progress=False)
    assert stopped == [False]


@pytest.mark.skipif(not JIT, reason="thousands of moves")
def test_it_learns(tmp_path: Path) -> None:
    """The newest games of a 2x2 board score more than the first ones, which are random, and a file plays better."""
    learning = "deep_q(boards=16,replay=8000,warmup=500,batch=32,interval=8,target=50,explore=8000,alpha=0.002)"
    with Store.open(f"sqlite:///{tmp_path}/d.db") as store:
        results = planned(tmp_path / "d.npz", 1500, learning=learning, every=300).run(store, progress=False)
        means, deviations = results.curve()["mean"], results.curve()["deviation"]
    assert means.iloc[-2] - means.iloc[0] > 4 * (deviations.iloc[0] + deviations.iloc[-2]) / 300**0.5


def test_a_file_of_another_plan_or_kind_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "d.npz"
    learned(out, 20)
    for changes in ({"seed": 2}, {"network": "dqn(layers=8)"}, {"game": "2048(size=3)"}, {"every": 7}):
        with pytest.raises(UserError, match="was trained with"):
            learned(out, 20, **changes)
    whole = out.read_bytes()
    out.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UserError, match="undamaged"):
        learned(out, 40)
    out.write_bytes(whole)
    Weights.load(out).to_play().save(out)
    with pytest.raises(UserError, match="is no checkpoint"):
        learned(out, 40)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"game": "nim"}, "three values"),
        ({"game": "spe_ed(players=2)"}, "dqn needs"),
        ({"network": "greedy"}, "needs a network or a search that learns, got greedy"),
        ({"threads": 2}, "learning by deep_q takes no threads; leave it out"),
        ({"hours": 1}, "learning by deep_q takes no hours; leave it out"),
        ({"learning": "td"}, "dqn must learn by deep_q, got td; leave the method out"),
        ({"learning": "deep_q(steps=0)"}, "steps must be"),
        ({"games": 0}, "at least 1"),
        ({"against": "random"}, "plays in evaluations only"),
    ],
)
def test_what_cannot_be_learned_is_refused(changes: dict[str, Any], reason: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=reason):
        planned(tmp_path / "d.npz", **changes)


def test_without_jax_a_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install 'turnier\[deep\]'"):
        planned(tmp_path / "d.npz")


def test_a_checkpoint_that_has_diverged_leaves_the_last_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "w.npz"
    content = learned(out, 20)
    done = Weights.read(out)["training"]["done"]
    turn = DeepLoop.turn

    def diverge(loop: DeepLoop) -> None:
        turn(loop)
        loop.learned = loop.learned._replace(weights=np.full_like(loop.learned.weights, np.nan))

    monkeypatch.setattr(DeepLoop, "turn", diverge)
    says = f"got nan after \\d+ games; {out} keeps the earlier checkpoint of {done} games"
    with Store.open(f"sqlite:///{tmp_path / 's.db'}") as store, pytest.raises(UserError, match=says):
        planned(out, 40).run(store, progress=False)
    assert out.read_bytes() == content
    monkeypatch.setattr("turnier.agents.learning.files.write_learned", write_arrays)
    planned(out, 40).plan.loop(out, 40).run(checked=False)
    for with_state in (False, True):
        with pytest.raises(UserError, match=f"a deep network must be finite, got {out}, which has NaN"):
            Weights.load(out, with_state)
