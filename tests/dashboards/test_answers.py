"""Sections and figures that answer a question in one look, from runs that were really played."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import optuna
import pandas as pd
import pytest

from tests.dashboards.drawn_pages import Pages
from turnier.dashboards.figures.certainty import certainty_over_phases
from turnier.dashboards.figures.studies.search import importance_bars, luck_arrows
from turnier.dashboards.figures.tournament import best_over_games
from turnier.dashboards.figures.training import evaluation_curves, training_curves
from turnier.dashboards.kinds.learning.training import rising
from turnier.dashboards.kinds.tournament import decided
from turnier.dashboards.run_heading import titled
from turnier.dashboards.sections import Choice, Copy, Drawing, Facts, Text, flat, sections
from turnier.dashboards.summaries.certainty import lead_sentence
from turnier.games.registry import game_of
from turnier.results.frames import Standings
from turnier.results.frames.matches import matches_frame
from turnier.results.frames.standings import best_so_far
from turnier.results.store.curves import CurvePoint
from turnier.results.store.store import Store
from turnier.runs.results import RunResults
from turnier.runs.self_play.ratings import seconds_of
from turnier.runs.stored.certainty import certainty_of_run
from turnier.runs.stored.training import Evaluation
from turnier.search.storage.definitions import StoredRange
from turnier.search.storage.studies import stored_verdict
from turnier.search.storage.trials import importance, importance_spread


def test_certainty_begins_with_the_tested_difference_and_the_course_over_the_game(store: Store) -> None:
    run = next(run for run in store.runs() if run.kind == "certainty")
    positions = certainty_of_run(store, run)
    shown = list(flat(sections(RunResults.find(store, run.id))))
    said = next(section.text for section in shown if isinstance(section, Text))
    assert re.fullmatch(
        r"mc.* and mc.*, .*: they differ by \d.* ± \d+ percentage points in the same 36 positions.*", said
    )
    each = positions.assign(source=positions["position"])  # as if every position came from another game
    assert re.match(
        r"mc\(iterations=40\) is more certain than mc\(iterations=5\), the next: by \d",
        lead_sentence(each, "agreement"),
    )
    drawings = [section.figure for section in shown if isinstance(section, Drawing)]
    assert drawings[0] == "certainty.certainty_over_phases"
    figure = certainty_over_phases(positions, "normalised")
    assert figure is not None and set(figure.data["label"]) == set(positions["label"])
    drawn = figure.chart.to_dict()
    dashed, band = drawn["layer"][:2]
    assert dashed["mark"]["strokeDash"] and dashed["encoding"]["y"]["field"] == "chance"
    assert band["mark"]["type"] == "area" and band["encoding"]["x"]["scale"]["reverse"], "games fill cells"
    assert certainty_over_phases(positions[positions["phase"] == positions["phase"].iloc[0]], "normalised") is None
    one = positions[positions["source"] == positions["source"].iloc[0]]
    assert lead_sentence(one, "normalised").endswith("from 1 game: too few games to test that.")


def test_luck_is_an_arrow_from_the_claim_to_the_held_out_mean(store: Store) -> None:
    found = stored_verdict(store, "decided")
    assert found is not None
    figure = luck_arrows(found, "share of points")
    assert figure is not None and list(figure.data["finalist"]) == [row.label for row in found.figures]
    claims = figure.data.dropna(subset="claimed")
    assert 0 < len(claims) < len(figure.data) and np.isnan(figure.data["claimed"].iloc[0]), "nothing is claimed of it"
    assert (claims["luck"] - (claims["claimed"] - claims["held_out"])).abs().max() < 1e-9
    drawn = figure.chart.to_dict()
    rule = drawn["layer"][2]
    assert (rule["encoding"]["x"]["field"], rule["encoding"]["x2"]["field"]) == ("claimed", "held_out")
    assert len(drawn["datasets"][rule["data"]["name"]]) == len(claims)
    assert "NaN" not in figure._repr_svg_()
    assert luck_arrows(replace(found, figures=tuple(replace(row, claimed=None) for row in found.figures)), "") is None
    shown = list(flat(sections(RunResults.find(store, "study:decided"))))
    assert "studies.search.luck_arrows" in [section.figure for section in shown if isinstance(section, Drawing)]


def candidates(number: int) -> pd.DataFrame:
    """Candidates of which only x matters."""
    random = np.random.default_rng(5)
    frame = pd.DataFrame({"number": range(number), "x": random.random(number), "y": random.random(number)})
    frame = frame.assign(state="COMPLETE", value=frame["x"] + random.normal(0, 0.3, number))
    frame.attrs = {"parameters": ["x", "y"], "ranges": dict.fromkeys("xy", StoredRange(0.0, 1.0))}
    return frame


def test_importance_has_a_spread_that_more_candidates_narrow() -> None:
    wide, narrow = importance_spread(candidates(30)), importance_spread(candidates(600))
    pd.testing.assert_frame_equal(wide, importance_spread(candidates(30)))
    assert (narrow["high"] - narrow["low"] < (wide["high"] - wide["low"]) / 2).all()
    assert narrow.loc["x", "low"] > narrow.loc["y", "high"], "only x matters"
    assert importance_spread(candidates(5)).empty
    trials = candidates(600)
    figure = importance_bars(importance(trials), trials, narrow)
    assert figure is not None and list(figure.data["parameter"]) == ["x", "y"]
    assert (figure.data["low"] <= figure.data["percent"]).all() and (
        figure.data["percent"] <= figure.data["high"]
    ).all()
    assert figure.finding.startswith("x matters most: ") and "not certain" not in figure.finding
    few = candidates(30).assign(value=np.random.default_rng(1).random(30))
    figure = importance_bars(importance(few), few, importance_spread(few))
    assert figure is not None and "Which parameters matter is not certain" in figure.finding
    figure = importance_bars(importance(trials), trials, narrow)
    assert figure is not None
    line = figure.chart.to_dict()["layer"][1]["encoding"]
    assert (line["x"]["field"], line["x2"]["field"]) == ("low", "high")


def test_a_training_says_what_learns_how_fast_and_how_to_play_with_it(store: Store) -> None:
    run = next(run for run in store.runs() if run.kind == "training")
    seconds = seconds_of(store, run.id)
    assert list(seconds)[-1] == 400 and set(store.curves.evaluated(run.id)) <= set(seconds)
    assert titled(run) == "ntuple learns tictactoe"
    shown = list(flat(sections(RunResults.find(store, run.id))))
    [facts] = [section.rows for section in shown if isinstance(section, Facts)]
    assert facts["learner"] == "ntuple" and facts["file"].endswith("t.npz")
    assert re.fullmatch(r"[\d,.]+ games per second", facts["speed"])
    [line] = [section for section in shown if isinstance(section, Copy)]
    assert line.text.startswith("turnier tournament tictactoe 'greedy(evaluator=ntuple(file=")
    assert any(isinstance(section, Text) and "to that after 400." in section.text for section in shown)
    [choice] = [one for one in sections(RunResults.find(store, run.id)) if isinstance(one, Choice)]
    by_time = [section for section in choice.make("time") if isinstance(section, Drawing)]
    assert all(drawing.drawn is not None and "hours" in drawing.drawn.data for drawing in by_time[:2])


def test_curves_are_drawn_over_the_time_of_learning_too() -> None:
    points = {"a": [CurvePoint(100 * i, 100, 1.0, 0.5) for i in range(1, 5)], "unknown": [CurvePoint(9, 9, 1.0, 0.5)]}
    figure = training_curves(points, {"a": {200: 3600.0, 400: 7200.0}, "unknown": {}})
    assert figure is not None and set(figure.data["run"]) == {"a"}, "nothing is known of the other"
    assert list(figure.data["hours"]) == [0.5, 1.0, 1.5, 2.0]
    assert '"hours of learning"' in figure.chart.to_json() and "games trained" not in figure.chart.to_json()
    short = evaluation_curves({"a": [Evaluation(100, 1.0, 0.0, 2.0, 9)]}, "score", seconds={"a": {100: 90.0}})
    assert short is not None and '"minutes of learning"' in short.chart.to_json()


@pytest.mark.parametrize(("step", "said"), [(5.0, "Still rising: +10"), (0.0, "Undecided"), (-5.0, "Falling: -10")])
def test_a_training_still_rises_if_its_last_games_are_better_than_those_before(step: float, said: str) -> None:
    points = [CurvePoint(50 * (i + 1), 50, 100 + step * i, 3.0) for i in range(10)]
    text = rising(game_of("2048"), points, [])
    assert text.startswith(said) and text.endswith(" from the mean of the 100 games before to that of the last 100.")
    assert rising(game_of("2048"), points[:4], []) == "", "too few points for fifths"


def test_a_training_of_several_seats_rises_by_its_evaluations() -> None:
    tictactoe, first = game_of("tictactoe"), Evaluation(100, 50.0, 40.0, 60.0, 100)
    points = [CurvePoint(50 * (i + 1), 50, 100.0 * i, 3.0) for i in range(10)]
    assert rising(tictactoe, points, [first]) == ""
    better = Evaluation(200, 80.0, 71.0, 87.0, 100)
    assert rising(tictactoe, points, [first, better]).startswith("Still rising: +30 percentage points (17 to 42) from ")
    assert rising(tictactoe, points, [first, Evaluation(200, 55.0, 45.0, 65.0, 100)]).startswith(
        "Undecided whether it still rises"
    )


@pytest.mark.parametrize("game", ["2048(size=3)", "yavalath(size=3)"])
def test_a_tournament_says_after_how_many_games_it_was_decided(store: Store, game: str) -> None:
    run = next(run for run in store.runs() if (run.kind, run.name) == ("tournament", game))
    frame = matches_frame(store, run=run.id, ids=False)
    race = best_so_far(frame)
    last = race[race["games"] == race["games"].max()].set_index("agent")["best"]
    listed = Standings.of(frame, pairs=False).ratings.set_index("agent")["best_of_all"]
    assert last.to_dict() == listed.to_dict() and race["games"].max() == frame["match"].nunique()
    assert race.groupby("games")["best"].sum().between(0.999, 1.001).all() and race["games"].nunique() > 2
    mixed = frame.groupby("match").ngroup().sample(frac=1, random_state=1).index  # as other workers might store them
    shuffled = frame.loc[mixed].sort_values(["seed", "match", "seat"], ignore_index=True)
    pd.testing.assert_frame_equal(race, best_so_far(shuffled))
    shown = list(flat(sections(RunResults.find(store, run.id))))
    assert any(isinstance(section, Text) and "ecided " in section.text for section in shown)
    figure = best_over_games(race, race["agent"].unique().tolist())
    assert figure is not None and figure.data["percent"].max() <= 100
    assert best_over_games(race[race["games"] == race["games"].max()], []) is None


def test_decided_is_a_leader_that_stays_ahead() -> None:
    def race(**best: list[float]) -> pd.DataFrame:
        rows = [(agent, agent, 10 * 2**i, one) for agent, chances in best.items() for i, one in enumerate(chances)]
        return pd.DataFrame(rows, columns=["agent", "label", "games", "best"])

    assert decided(race(a=[0.97, 0.6, 0.96, 0.99], b=[0.03, 0.4, 0.04, 0.01])).startswith(
        "Decided after 20 to 40 of 80 games: from then on, a is the best with at least 95 %"
    )
    assert decided(race(a=[0.97, 0.6], b=[0.03, 0.4])).startswith("Not decided after 20 games: a is the best with 60 %")
    assert "within the first 10 of 20 games" in decided(race(a=[0.01, 0.02], b=[0.99, 0.98]))
    assert decided(race(a=[0.97], b=[0.03])) == "" == decided(race(a=[np.nan, np.nan], b=[np.nan, np.nan]))


def test_optuna_dashboard_is_reached_at_the_study_and_at_its_finalists(store: Store, pages: Pages) -> None:
    storage = optuna.storages.RDBStorage(store.url)
    for name, number in (("decided", 2), ("tiny", 1)):
        links = re.findall(r'href="/dashboard/studies/(\d+)"', pages.ask(f"/runs/study:{name}").body.decode())
        named = [storage.get_study_name_from_id(int(link)) for link in links]
        assert named == [name, f"{name}, held-out"][:number], "without a verdict there are no finalists"
    best = optuna.load_study(study_name="decided, held-out", storage=storage).best_trial
    found = stored_verdict(store, "decided")
    assert found is not None and best.user_attrs["finalist"] == found.label
    storage.engine.dispose()
