"""Runs of training: stopped and resumed, by games or by hours, begun with what others learned, on several threads."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.agents.ntuple.test_learning import SMALL, maker, table_of, training
from turnier.agents.ntuple.network_kernels import coherence
from turnier.agents.ntuple.td import td_of
from turnier.agents.ntuple.training import Plan, TdLoop
from turnier.agents.ntuple.weights import load_weights
from turnier.core.errors import UserError
from turnier.games.registry import make_game


def test_a_stopped_run_resumes_bit_for_bit(tmp_path: Path) -> None:
    """In two commands, the second with more games, or in one: the same file but for the seconds."""
    whole = training("2048", SMALL, "td(optimism=100)", 30, tmp_path / "whole.npz")
    whole.run()
    for games in (7, 30):
        part = training("2048", SMALL, "td(optimism=100)", games, tmp_path / "part.npz")
        part.run()
    assert np.array_equal(part.table, whole.table) and part.moves == whole.moves
    assert np.array_equal(part.points.curve(), whole.points.curve())
    assert part.weights().digest == whole.weights().digest
    assert part.points.curve()[:, 1].tolist() == [4] * 7 + [2]


def test_rates_are_held_then_fall_and_plain_games_have_their_own() -> None:
    td = td_of("td(alpha=1,alpha_end=0.01,hold=0.5,plain=0.2,plain_alpha=0.25)")
    assert td.rates(0, 10, 10) == pytest.approx([0.25, 0.25, 1, 1, 1, 1, 10**-0.4, 10**-0.8, 10**-1.2, 10**-1.6])
    assert td.rates(7, 2, 10) == pytest.approx([10**-0.8, 10**-1.2])
    assert td_of("td(alpha=1,alpha_end=0.01,hold=1)").rates(8, 2, 10) == pytest.approx([1, 1])
    assert [td_of(text).plain_games(10) for text in ("td", "td(plain=0.4)", "td(coherence=false)")] == [
        0,
        4,
        10,
    ]
    with pytest.raises(UserError, match="plain must be 0 without coherence"):
        td_of("td(coherence=false,plain=0.5)")


@pytest.mark.parametrize("learning", ["td(optimism=100,plain=0.5)", "td(alpha_end=0.1,hold=0.3,restart=20)"])
def test_a_kill_between_games_changes_no_bit(learning: str, tmp_path: Path) -> None:
    """Stopped after any number of the games asked for, also before and after the switch: the same file."""
    whole = training("2048", SMALL, learning, 12, tmp_path / "whole.npz")
    whole.run()
    for until in (2, 6, 9, 12):
        training("2048", SMALL, learning, 12, tmp_path / "part.npz").run(until=until)
    assert (tmp_path / "part.npz").read_bytes() == (tmp_path / "whole.npz").read_bytes()


def means(one: Any, other: Any, entries: int) -> Any:
    """Rows [entries, 3] of the mean of two weights, by plain arrays."""
    table = np.zeros((entries, 3))
    for weights in (one, other):
        whole = np.zeros((entries, 3))
        whole[:, 0] = weights.initial
        whole[weights.places] = weights.entries
        table += whole / 2
    return table


def test_a_training_begins_with_the_mean_of_others(tmp_path: Path) -> None:
    """Entries that one file has, that both have and that none has; a file remembers what it began with."""
    files = (tmp_path / "a.npz", tmp_path / "b.npz")
    for seed, file in enumerate(files):
        TdLoop(Plan(make_game("2048"), maker(SMALL), td_of("td(optimism=100)"), seed), file, 6).run()
    a, b = (load_weights(file) for file in files)
    plan = Plan(make_game("2048"), maker(SMALL), td_of("td"), begins=files)
    mean = TdLoop(plan, tmp_path / "mean.npz", 0)
    mean.run()
    assert np.allclose(table_of(mean), means(a, b, mean.network.entries), rtol=1e-6)
    stored = load_weights(tmp_path / "mean.npz")
    assert len(stored.places) == len(np.union1d(a.places, b.places)) < mean.network.entries
    assert [entry["digest"] for entry in stored.training["begins"]] == [a.digest, b.digest]
    assert [entry["done"] for entry in stored.training["begins"]] == [6, 6]
    with pytest.raises(UserError, match="began with other weights"):
        training("2048", SMALL, "td", 4, tmp_path / "mean.npz")

    whole = TdLoop(plan, tmp_path / "whole.npz", 5)
    whole.run()
    part = TdLoop(plan, tmp_path / "mean.npz", 5)
    part.run()
    assert part.weights().digest == whole.weights().digest != stored.digest


def test_stages_begin_with_the_entries_of_a_network_without_any(tmp_path: Path) -> None:
    """One file alone is copied, bit for bit, into every stage; a file of another network is refused."""
    file = tmp_path / "a.npz"
    training("2048", SMALL, "td(optimism=50)", 6, file).run()
    staged = SMALL.replace(")", ",stages=5.7)")
    begun = TdLoop(Plan(make_game("2048"), maker(staged), td_of("td"), begins=(file,)), tmp_path / "staged.npz", 0)
    table, one = table_of(begun), table_of(training("2048", SMALL, "td(optimism=50)", 6, file))
    assert np.array_equal(table, np.concatenate([one] * 3)) and np.any(one[:, 1])
    other = Plan(make_game("2048"), maker(SMALL.replace("/4.5.6", "")), td_of("td"), begins=(file,))
    with pytest.raises(UserError, match="must fit the network to train"):
        TdLoop(other, tmp_path / "b.npz", 0)


def test_time_ends_a_training(tmp_path: Path) -> None:
    """It counts the seconds of earlier runs, and is resumed by a longer time."""
    out = tmp_path / "w.npz"
    run = training("2048", SMALL, "td", 10**6, out)
    run.run(limit=0.5)
    stored = load_weights(out).training
    assert 0 < stored["done"] == run.done < 10**6 and stored["seconds"] >= 0.5
    again = training("2048", SMALL, "td", 10**6, out)
    again.run(limit=0.5)
    assert again.done == run.done
    again.run(limit=stored["seconds"] + 0.3)
    assert again.done > run.done and load_weights(out).training["seconds"] >= stored["seconds"] + 0.3


def test_another_plan_is_refused(tmp_path: Path) -> None:
    training("tictactoe", "ntuple", "td", 2, tmp_path / "w.npz").run()
    with pytest.raises(UserError, match="was trained with learning td"):
        training("tictactoe", "ntuple", "td(alpha=0.5)", 2, tmp_path / "w.npz")


def test_threads_share_one_table(tmp_path: Path) -> None:
    run = training("2048", SMALL, "td", 200, tmp_path / "w.npz")
    run.threads = 2
    run.run()
    assert run.done == 200 == run.points.sums[:, 0].sum()
    alone = training("2048", SMALL, "td", 200, tmp_path / "alone.npz")
    alone.run()
    assert run.points.sums[:, 1].sum() == pytest.approx(alone.points.sums[:, 1].sum(), rel=0.2)


def test_what_another_thread_is_writing_makes_no_rate_exceed_one() -> None:
    """Of an entry's two sums one may be changed already and the other not yet."""
    for signed, absolute in itertools.product((0.0, 0.125, -40.0, 1e30), (0.0, 0.125, 50.0)):
        rate = coherence(np.float32(signed), np.float32(absolute))
        assert 0 <= rate <= 1
        if absolute >= abs(signed):
            assert rate == pytest.approx(abs(signed) / absolute if absolute else 1, rel=1e-6, abs=1e-30)
