"""The Python API as the README shows it: plan, run into a store, look at frames, in a notebook too."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import turnier
from turnier.arena.workers.where import Where

QUIET: dict[str, Any] = {"where": Where("serial"), "progress": False}
STALEMATE = 'chess(fen="7k/8/5KQ1/8/8/8/8/8 b - - 0 1")'
LEFT, RIGHT = "mcts(iterations=20)", "mcts(iterations=30)"


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[turnier.Store]:
    with turnier.Store.open(f"sqlite:///{tmp_path}/turnier.db") as store:
        yield store


def test_a_tournament_gives_frames_ratings_and_a_crosstable(opened: turnier.Store) -> None:
    """The crosstable is what one counts by hand: points (a draw is half) by games, and both sides add up to 1."""
    agents = ["random", LEFT, RIGHT]
    run = turnier.Tournament("tictactoe", agents, games=6, seed=7).run(
        opened, where=Where("threads", 2), progress=False
    )
    frame, table = run.frame(), run.crosstable()
    assert len(frame) == 2 * 18 and set(run.summary()["games"]) == {12}
    assert set(table.index) == set(table.columns) == set(run.ratings().index)
    assert table.index[0] == run.ratings().index[0] != "random"
    by_match = [group.to_dict("records") for _, group in frame.groupby("match")]
    points = {"win": 1.0, "draw": 0.5, "loss": 0.0}
    for first in table.index:
        for second in table.columns:
            met = [{row["label"]: row for row in rows} for rows in by_match]
            won = [points[rows[first]["result"]] for rows in met if first != second and {first, second} == set(rows)]
            value = table.loc[first, second]
            assert math.isnan(value) if not won else value == pytest.approx(sum(won) / len(won))


def test_frames_have_what_people_look_at_first_and_with_full_the_rest(opened: turnier.Store) -> None:
    """By label, so that a row is found by what was typed; six columns fit a notebook and a terminal."""
    for game in ("tictactoe", "2048(size=2)"):
        run = turnier.Tournament(game, ["random", "greedy"], games=4).run(opened, **QUIET)
        for short, full in (
            (run.ratings(), run.ratings(full=True)),
            (run.summary(), run.summary(full=True)),
            (run.pairs(), run.pairs(full=True)),
        ):
            assert len(short.columns) == 6 and set(short.columns) < set(full.columns) and len(full.columns) > 10
            assert short.index.equals(full.index) and short.notna().any(axis=None)
        assert set(run.summary().index) == {"random", "greedy"} and run.pairs().index.names == ["first", "second"]
        assert set(run.pairs().index[0]) == {"random", "greedy"}
    assert list(run.ratings(nash=True).columns[-1:]) == ["nash"]


def test_in_single_player_games_the_crosstable_holds_mean_differences(opened: turnier.Store) -> None:
    run = turnier.Tournament("2048", ["random", "mc(iterations=2)"], games=4, seed=7).run(opened, **QUIET)
    means, table = run.summary()["mean"], run.crosstable()
    assert run.ratings().index.tolist() == ["mc(iterations=2)", "random"] and run.ratings(full=True)["elo"].isna().all()
    assert table.loc["mc(iterations=2)", "random"] == pytest.approx(means["mc(iterations=2)"] - means["random"])
    assert table.loc["random", "mc(iterations=2)"] == -table.loc["mc(iterations=2)", "random"]
    assert list(run.table().index) == ["mc(iterations=2)", "random"]


@pytest.mark.parametrize("executor", ["serial", "threads"])
def test_one_object_runs_again_and_into_other_stores(tmp_path: Path, executor: str) -> None:
    """Schedules that depend on results begin anew with every run: also after one that was interrupted."""
    agents = ["random", LEFT, RIGHT]
    tournament = turnier.Tournament("tictactoe", agents, games=30, format="adaptive", top=1)
    comparison = turnier.Comparison("random", RIGHT, game="tictactoe", first_round=4)
    found = []
    for name in ("a", "a", "b"):
        with turnier.Store.open(f"sqlite:///{tmp_path}/{executor}-{name}.db") as store:
            run = tournament.run(store, where=Where(executor), progress=False)
            compared = comparison.run(store, where=Where(executor), progress=False)
            assert run.adaptive and compared.verdict == "weaker" and compared.sentence.startswith("random is weaker")
            standings = run.ratings(full=True).drop(columns=["live_mu", "live_sigma"]).to_json()
            found.append((len(run.frame()), run.adaptive.games, standings, compared.estimate, len(compared.frame())))
    assert found[0] == found[1] == found[2]


def test_executors_agree(opened: turnier.Store, tmp_path: Path) -> None:
    tournament = turnier.Tournament("tictactoe", ["random", LEFT], games=8, seed=3)
    kept = ["match", "seat", "agent", "result"]
    with turnier.Store.open(f"sqlite:///{tmp_path}/other.db") as other:
        frames = [
            tournament.run(store, where=Where(executor), progress=False).frame().sort_values(["match", "seat"])[kept]
            for store, executor in ((opened, "serial"), (other, "threads"))
        ]
    pd.testing.assert_frame_equal(*(frame.reset_index(drop=True) for frame in frames))


def test_a_study_recommends_and_shows_its_trials(opened: turnier.Store) -> None:
    planned = turnier.Study("2048", agent="mc(iterations=2)", parameters=["rollout_depth"], budget=30, verify=0.1)
    study = planned.run(opened, **QUIET)
    trials = study.trials()
    assert study.recommended.full_text().startswith("mc(iterations=2,rollout_depth=")
    assert len(trials) == 30 and trials["rollout_depth"].notna().all()
    assert set(study.held_out()["label"]) >= {"start", "proposed"}
    assert study.plot().chart.to_dict()
    assert str(planned.run(opened, **QUIET).recommended) == str(study.recommended)


def test_certainty_and_training_give_frames(opened: turnier.Store, tmp_path: Path) -> None:
    certainty = turnier.Certainty("tictactoe", ["random"], states=2, repeats=3, games=2).run(opened, **QUIET)
    assert set(certainty.agents()["agent"]) == {"random"} and len(certainty.groups()) > 1
    learning: dict[str, Any] = {"out": tmp_path / "w.npz", "games": 40, "every": 20}
    training = turnier.Training("tictactoe", "ntuple(tuples=8,length=4)", **learning)
    run = training.run(opened, progress=False)
    assert run.curve()["games"].tolist() == [20, 40] and training.done == 40
    assert training.run(opened, progress=False).id == run.id and training.skipped == 40
    assert "w.npz" in run.agent.full_text()


def test_notebooks_show_a_picture_and_a_table(opened: turnier.Store) -> None:
    run = turnier.Tournament("tictactoe", ["random", LEFT], games=4).run(opened, **QUIET)
    comparison = turnier.Comparison("random", LEFT, game="tictactoe", games=8, first_round=4).run(opened, **QUIET)
    for shown in (run, comparison):
        page = shown._repr_html_()
        assert "<svg" in page and "<table" in page and shown.id in page
        assert repr(shown) == f"{type(shown).__name__}({shown.id})"
    assert comparison.sentence in comparison._repr_html_().replace("\N{NO-BREAK SPACE}", " ")


def test_a_stored_run_is_found_by_the_beginning_of_its_id(opened: turnier.Store) -> None:
    run = turnier.Tournament("tictactoe", ["random", LEFT], games=4).run(opened, **QUIET)
    found = turnier.RunResults.find(opened, run.id[:15])
    assert found.id == run.id and found.summary(full=True).equals(run.summary(full=True))
    with pytest.raises(turnier.UserError):
        turnier.RunResults.find(opened, "tournament:x")


def test_without_progress_nothing_is_printed(opened: turnier.Store, capfd: pytest.CaptureFixture[str]) -> None:
    turnier.Tournament("tictactoe", ["random", LEFT], games=4).run(opened, **QUIET)
    turnier.Study("2048", "mc(iterations=2)", ["rollout_depth"], budget=12, verify=0.1).run(opened, **QUIET)
    assert capfd.readouterr() == ("", "")
    turnier.Tournament("tictactoe", ["random", RIGHT], games=4).run(opened, where=Where("serial"))
    assert "4/4" in capfd.readouterr().err


@pytest.mark.parametrize(
    "plan",
    [
        lambda: turnier.Tournament("chess", ["random"]),
        lambda: turnier.Tournament("tictactoe", ["random", "mc"], format="knockout"),
        lambda: turnier.Tournament("2048", ["random", "mc"], format="swiss"),
        lambda: turnier.Tournament(STALEMATE, ["random", "mc"]),
        lambda: turnier.Tournament(STALEMATE, ["random", "mc", "mcts"], format="swiss"),
        lambda: turnier.Tournament(STALEMATE, ["random", "mc", "mcts"], format="adaptive", top=1),
        lambda: turnier.Comparison("random", "random", game="2048"),
        lambda: turnier.Certainty("2048", ["mc(iteration=5)"]),
        lambda: turnier.Training("2048", "rows2048", out="w.npz"),
        lambda: turnier.Study("2048", "mc", ["rollout_depth"], sampler="duels"),
        lambda: turnier.Study("2048", "mc", ["rollout_depth"], sampler="bogo"),
        lambda: turnier.Study("2048", "mc", ["iterations=1..9"], against=["random"], objectives="strength,time"),
    ],
)
def test_what_cannot_run_is_refused_when_it_is_planned(plan: Any) -> None:
    with pytest.raises(turnier.UserError):
        plan()


def test_every_name_that_is_offered_is_there() -> None:
    for name in turnier.__all__:
        assert getattr(turnier, name) is not None
    assert set(turnier.__all__) < set(dir(turnier))
    with pytest.raises(AttributeError, match="no attribute 'Turnament'"):
        turnier.Turnament  # noqa: B018


def test_parameters_are_a_text_or_a_list() -> None:
    several = turnier.Study("tictactoe", "mcts", ["exploration", "final"], against=["random"]).definition
    assert turnier.Study("tictactoe", "mcts", "exploration,final", against=["random"]).definition == several


@pytest.mark.parametrize("objectives", ["strength", "strength,time"])
def test_a_range_that_does_not_hold_the_start_is_refused_when_a_search_is_planned(objectives: str) -> None:
    with pytest.raises(turnier.UserError, match=r"rollout_depth must be LOW\.\.HIGH .* and hold the start's 20"):
        turnier.Study("2048", "mc", "rollout_depth=1..9", objectives=objectives)
