"""Q-learning of spe_ed: what it sees, that it learns, that it resumes where it stopped, and how the agent plays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import STUDIES, run_study_script
from turnier.agents.registry import make_agent
from turnier.agents.spe_ed import q_learning
from turnier.agents.spe_ed.q_learning import Learning, QTraining, key_of, read_table
from turnier.agents.spe_ed.search.field import HEADING, TAKEN, fill_field, new_field, stride_of, walkers_of
from turnier.core.errors import UserError
from turnier.core.kernel import JIT
from turnier.games.registry import make_game

SMALL = Learning("spe_ed(width=12,height=12,players=3)", window=3, bits=12, games=3000 if JIT else 6)


def test_the_window_is_seen_and_nothing_else() -> None:
    """Turned by the heading: the same picture around a player gives one key, another picture another one."""
    game = make_game("spe_ed(width=20,height=20)")
    state, field = game.start(1).state, new_field(game)
    fill_field(state, field)
    field[:] = 0
    walker, stride = walkers_of(state, [0])[0], int(stride_of(state))
    cell = 12 * stride + 10
    walker[:2] = cell, 0
    keys = set()
    for heading, ahead in enumerate((-stride, 1, stride, -1)):
        walker[HEADING] = heading
        field[cell + 2 * ahead] = TAKEN
        keys.add(int(key_of(field, stride, walker, 5, 1 << 20)))
        field[cell + 2 * ahead] = 0
    assert len(keys) == 1
    for offset in (1, stride + 1, 2 * stride - 2):
        field[cell + offset] = TAKEN
        keys.add(int(key_of(field, stride, walker, 5, 1 << 20)))
        field[cell + offset] = 0
    field[cell + 3] = TAKEN
    keys.add(int(key_of(field, stride, walker, 5, 1 << 20)))
    assert len(keys) == 5


def test_games_get_longer_and_a_stop_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(q_learning, "CHUNK", SMALL.games // 3)
    rounds: list[float] = []
    QTraining(SMALL, tmp_path / "whole.npz").run(lambda games, mean: rounds.append(mean))
    assert len(rounds) == 3
    if JIT:
        assert rounds[-1] > 2 * rounds[0]

    class Stopped(Exception):
        pass

    def stop(games: int, mean: float) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        QTraining(SMALL, tmp_path / "parts.npz").run(stop)
    again = QTraining(SMALL, tmp_path / "parts.npz")
    assert again.done == SMALL.games // 3
    again.run(lambda games, mean: None)
    whole, parts = (read_table(tmp_path / name)[0] for name in ("whole.npz", "parts.npz"))
    assert np.array_equal(whole, parts) and whole.any()
    with pytest.raises(UserError, match="was begun with"):
        QTraining(replace(SMALL, alpha=0.2), tmp_path / "parts.npz")


def test_the_agent_plays_the_best_of_its_row(tmp_path: Path) -> None:
    game = make_game("spe_ed(width=20,height=20)")
    training = QTraining(replace(SMALL, bits=4), tmp_path / "q.npz")
    training.table[:] = 1.0, 2.0, 9.0, 3.0, 2.5
    training.save()
    position = game.start(3)
    for safe, action in (("true", 3), ("false", 2)):  # slower than one is to be out
        player = make_agent(f"qlearning(file={tmp_path}/q.npz,safe={safe})").start(game, 0, 1)
        decision = player.act(position)
        assert decision.action == action and decision.values.tolist() == [1.0, 2.0, 9.0, 3.0, 2.5]
    assert make_agent("qlearning").start(game, 0, 1).act(position).action == 4


def test_a_file_that_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "q.npz").write_text("no table")
    for name in ("q.npz", "missing.npz"):
        with pytest.raises(UserError, match="must be a file"):
            make_agent(f"qlearning(file={tmp_path / name})").start(make_game("spe_ed"), 0, 1)
    with pytest.raises(UserError, match="got /dev/null: it is not a file"):  # a pipe would hold the reader up for ever
        read_table(Path("/dev/null"))


def test_the_script_resumes(tmp_path: Path) -> None:
    words = ("--out", str(tmp_path / "q.npz"), "--games", "4", "--bits", "8", "--game", "spe_ed(width=8,height=8)")
    for _ in range(2):
        assert "4 games" in run_study_script(STUDIES / "brot/qlearning.py", *words, folder=tmp_path)
    with pytest.raises(AssertionError, match="odd number of cells"):
        run_study_script(STUDIES / "brot/qlearning.py", *words, "--window", "4", folder=tmp_path)
