"""What a study's page and report say: the verdict first, never the luckiest candidate; and the figures behind it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.dashboards.drawn_pages import Pages
from turnier.agents.registry import make_agent
from turnier.dashboards.figures.figure import image
from turnier.dashboards.figures.studies.landscape import contour, parallel_coordinates
from turnier.dashboards.figures.studies.search import (
    generation_means,
    histories,
    importance_bars,
    search_history,
    step_size,
)
from turnier.dashboards.kinds.study import Data, _by_parameter, candidate_table, head, sections
from turnier.dashboards.sections import Choice, Copy, Text, flat
from turnier.dashboards.summaries.front import front_of, points_table
from turnier.dashboards.summaries.held_out import held_out_table
from turnier.dashboards.summaries.study_values import shown_trials, shown_unit, shown_verdict
from turnier.results.store.store import Store
from turnier.runs.results import RunResults
from turnier.search.front.points import Point
from turnier.search.front.second_objective import TIME
from turnier.search.storage.definitions import StoredRange, StudyFacts, agent_with, ranges_table
from turnier.search.storage.hints import hints
from turnier.search.storage.studies import stored_verdict
from turnier.search.storage.trials import (
    definition,
    generations_frame,
    importance,
    importance_spread,
    recommended_values,
    trials_frame,
)
from turnier.search.verdict import BETTER, NOT_BETTER, Finalist, StudyVerdict, figures_of
from turnier.statistics.intervals import UNBOUNDED

START, FOUND = "mc(iterations=10)", "mc(iterations=20)"


def verdict(improved: bool) -> StudyVerdict:
    random = np.random.default_rng(1)
    values = {"start": random.normal(100, 10, 40).tolist(), "proposed": random.normal(120, 10, 40).tolist()}
    chosen = {"start": Finalist(START, None), "proposed": Finalist(FOUND, 150.0)}
    return StudyVerdict(
        BETTER if improved else NOT_BETTER, "proposed" if improved else "start", FOUND if improved else START,
        "proposed", "start", 20.0, 15.0, 25.0, " %", 40, 80, 300, 0.05, figures_of(chosen, values, "start", "start"),
    )  # fmt: skip


def candidates(count: int = 40, **columns: Any) -> pd.DataFrame:
    random = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "number": range(count), "state": "COMPLETE", "value": random.random(count), "low": np.nan, "high": np.nan,
            "other": np.nan, "group": np.arange(count) // 10, "index": np.arange(count) % 10, "games": 5.0,
            "seconds": 1.0, "width": random.uniform(1, 100, count), "steps": random.integers(0, 5, count),
            "kind": random.choice(["a", "b"], count),
        }
    ).assign(**columns)  # fmt: skip
    frame.attrs["second"], frame.attrs["bounds"] = TIME, UNBOUNDED
    frame.attrs["parameters"] = ["kind", "steps", "width"]
    frame.attrs["ranges"] = {
        "kind": StoredRange(choices=("a", "b")),
        "steps": StoredRange(0, 4, whole=True),
        "width": StoredRange(1, 100, log=True),
    }
    return frame


NOTED = pd.DataFrame(
    {"generation": [0, 1, 2], "sigma": [0.3, 0.4, 0.45], "axis_ratio": np.nan}
    | dict.fromkeys(("recommended", "half_width", "idle_games"), np.nan)
)


def study(store: Store, trials: pd.DataFrame, verdict: StudyVerdict | None = None, **changes: Any) -> Data:
    known = {
        "name": "x",
        "game": "2048",
        "agent": START,
        "parameters": ["rollout_depth=0..50"],
        "sampler": "cmaes",
        "noise": "fixed",
    } | changes
    facts = StudyFacts.of(known)
    return Data(store, "x", known, facts, "share of points", trials, NOTED, verdict, [], {}, importance(trials))


def said(data: Data) -> list[str]:
    return [section.text for section in flat(sections(data)) if isinstance(section, Text | Copy)]


@pytest.mark.parametrize(("improved", "agent"), [(True, FOUND), (False, START)])
def test_the_agent_of_the_verdict_is_to_be_copied(store: Store, improved: bool, agent: str) -> None:
    assert said(study(store, candidates(60), verdict(improved)))[0] == agent
    later = said(study(store, candidates(61), verdict(improved)))
    assert "since been resumed, to 305 games" in later[0] and later[1] == agent


def test_the_verdict_comes_first(store: Store) -> None:
    shown, stored = head(RunResults.find(store, "study:decided")), stored_verdict(store, "decided")
    assert stored is not None and shown.sentence == stored.sentence
    assert f"{stored.games} held-out games after {stored.searched} games of the search" in shown.meaning


def test_a_search_without_a_verdict_says_that_nothing_is_verified_and_what_its_games_show(store: Store) -> None:
    assert "Not yet verified" in head(RunResults.find(store, "study:tiny")).meaning
    trials = shown_trials(candidates(), "share of points")
    first = said(study(store, trials, game="tictactoe", against=["random", "greedy"]))[0]
    latest = trials.loc[trials["group"] == 3, "value"].mean()
    assert re.match(r"Points of the latest generation's candidates: [\d.]+ ± [\d.]+ %, 200 games", first), first
    assert abs(float(first.split(": ")[1].split()[0]) - latest) < 0.51
    assert f"{trials['value'].max():.0f}" not in first
    idle = study(store, trials, game="tictactoe", against=["random", "greedy"])._replace(
        noted=NOTED.assign(recommended=50.0, half_width=10.0, idle_games=30)
    )
    assert "Points 50 ± 10 % in 120 idle-time games" in said(idle)[0]


def test_held_out_games_are_numbers_with_luck_and_differences() -> None:
    table = held_out_table(replace(verdict(True), unit_games=2), "score").numbers().set_index("finalist")
    assert list(table["games"]) == [80, 80]
    proposed = table.loc["proposed"]
    assert proposed["luck"] == pytest.approx(150 - proposed["held-out"], abs=1)
    low, middle, high = (proposed[name] for name in ("from", "minus start", "to"))
    assert 5 < low < middle < high < 35 and 15 < middle < 25
    assert np.isnan(table.loc["start", "luck"])


def test_shares_are_in_per_cent_as_in_the_verdict() -> None:
    values = {"start": [0.4, 0.5, 0.6, 0.5] * 10, "proposed": [0.7, 0.6, 0.8, 0.9] * 10}
    figures = figures_of({"start": Finalist(START, None), "proposed": Finalist(FOUND, 0.9)}, values, "start", "start")
    row = figures[1]
    found = replace(
        verdict(True), difference=100 * row.gain, low=100 * row.gain_low, high=100 * row.gain_high, figures=figures,
        unit=" percentage points",
    )  # fmt: skip
    unit = "share of points"
    table = held_out_table(shown_verdict(found, unit), shown_unit(unit)).texts().set_index("finalist")
    said = found.sentence.partition("agent, ")[2].partition(" over start")[0].replace(" percentage points", "")
    assert table.loc["proposed", "minus start, %"].split()[0] == said.split()[0] == "+25.0"
    assert table.loc["start", "held-out, %"].startswith("50.0 ± ") and table.loc["proposed", "claimed, %"] == "90.0"
    assert shown_verdict(found, "mean score") is found and shown_unit("mean score") == "mean score"


def test_no_other_candidate_beats_one_of_the_front_at_both() -> None:
    trials = candidates(other=np.random.default_rng(3).random(40))
    front = front_of(trials)
    for row in front.itertuples():
        assert trials[(trials["other"] <= row.other) & (trials["value"] > row.value)].empty


def test_held_out_games_of_a_front_replace_its_lucky_values() -> None:
    agent = make_agent(START)
    points = [
        Point("start", agent, 100.0, 10.0, 2.0, 0.1, 30),
        Point("front 1", agent, 90.0, 10.0, 1.0, 0.1, 30),
        Point("front 2", agent, 95.0, 10.0, 3.0, 0.1, 30),
    ]
    table = points_table(points, "mean score", 1).frame
    assert list(table["label"]) == ["front 1", "start", "front 2"] and list(table["beaten"]) == ["", "", "start"]


def test_a_front_is_told_by_its_ends(store: Store) -> None:
    shown = head(RunResults.find(store, "study:front"))
    assert "beaten by none at both strength and time: mean score" in shown.sentence


def test_importance_is_that_of_optuna(store: Store) -> None:
    import optuna

    trials = trials_frame(store, "tiny")
    storage = optuna.storages.RDBStorage(store.url)
    study = optuna.load_study(study_name="tiny", storage=storage)
    expected = optuna.importance.get_param_importances(study, evaluator=optuna.importance.PedAnovaImportanceEvaluator())
    storage.engine.dispose()
    assert importance(trials).to_dict() == pytest.approx(expected)


def test_importance_drops_no_parameter_and_names_those_of_few_candidates() -> None:
    trials = candidates()
    trials.loc[trials.index[5:], "width"] = np.nan
    figure = importance_bars(importance(trials), trials, importance_spread(trials))
    assert figure is not None and set(figure.data["parameter"]) == {"kind", "steps", "width"}
    assert "fewer than 8 candidates use them: width" in figure.note
    few = trials.head(5)
    assert importance_bars(importance(few), few, importance_spread(few)) is None


def test_a_contour_is_light_where_the_good_candidates_are() -> None:
    trials = candidates(400)
    trials["value"] = np.log(trials["width"]) + trials["steps"]
    figure = contour(trials, "width", "steps", "mean score")
    cells = figure.chart.layer[0].data
    best = cells.loc[cells["mean"].idxmax()]
    assert best["x"] > 0.6 and best["y2"] > 0.9
    assert sorted(cells["y"].round(3).unique()) == [-0.125, 0.125, 0.375, 0.625, 0.875]  # a row for each whole number
    assert image(figure, "svg").startswith(b"<svg")


def test_what_says_nothing_is_not_drawn(store: Store) -> None:
    trials = candidates()
    odd = trials.index % 2 == 1
    apart = trials.assign(width=trials["width"].where(odd), steps=trials["steps"].where(~odd))
    assert contour(apart, "width", "steps", "mean score") is None, "no candidate has both"
    data = study(store, apart)
    choices = [one for one in _by_parameter(data, "width", ["width", "steps", "kind"]) if isinstance(one, Choice)]
    assert [choice.options for choice in choices] == [["kind"]]
    assert step_size(NOTED.assign(sigma=0.25), "cmaes") is None
    flat_values = trials.assign(value=0.5)
    assert generation_means(flat_values, NOTED.assign(idle_games=0), "share of points") is None
    assert generation_means(trials, NOTED.assign(idle_games=0), "share of points") is not None


@pytest.mark.parametrize(("x", "y"), [("kind", "width"), ("steps", "kind")])
def test_landscapes_of_choices_are_drawn(x: str, y: str) -> None:
    assert b"svg" in image(contour(candidates(), x, y, "mean score"), "svg")
    figure = parallel_coordinates(candidates(), ["kind", "steps", "width"], "mean score")
    assert figure is not None and image(figure, "svg").startswith(b"<svg")
    assert parallel_coordinates(candidates(), ["kind"], "mean score") is None


def test_studies_are_compared_over_the_games_that_they_took() -> None:
    trials = candidates()
    data = histories({"a": (trials, 2), "b": (trials.assign(group=np.nan), 1)}, "mean score").data
    assert list(data.loc[data["study"] == "a", "games"]) == [100, 200, 300, 400]
    assert len(data[data["study"] == "b"]) == 10


def test_the_history_shows_means_and_the_table_games_not_units(store: Store) -> None:
    data = search_history(candidates(), "mean score").data
    assert data["mean"].nunique() == 4
    four = study(store, candidates(), game="tictactoe", against=["random", "greedy"])
    assert set(candidate_table(four).frame["games"]) == {20}


@pytest.mark.parametrize(("sampler", "title"), [("cmaes", "Step size sigma"), ("tpe", "Spread of the candidates")])
def test_only_samplers_with_steps_have_a_step_size(sampler: str, title: str) -> None:
    assert step_size(NOTED, sampler).title == title


def test_a_search_that_diverges_repeats_itself_or_meets_a_border_says_so() -> None:
    known = {"sampler": "cmaes(population=10)", "agent": "mc(iterations=10)", "parameters": ["rollout_depth=0..50"]}
    trials = candidates()
    assert hints(trials, NOTED, known, {"rollout_depth": 20}) == []
    [diverging] = hints(trials, NOTED.assign(sigma=[0.3, 1.0, 4.0]), known, {})
    assert "from 0.3 to 4 of the ranges" in diverging
    assert hints(trials, NOTED.assign(sigma=[0.3, 1.0, 4.0]), known | {"sampler": "tpe"}, {}) == []
    assert hints(trials.assign(width=1.0), NOTED, known, {}) == []  # whole numbers repeat in any case
    smooth = {"sampler": "cmaes", "agent": "mcts(iterations=10)", "parameters": ["exploration=0..4"]}
    [plateau] = hints(trials.assign(width=1.0), NOTED, smooth, {})
    assert "30 of 40" in plateau or "candidates have the parameters" in plateau
    at_end, long = {"rollout_depth": 50}, pd.concat([NOTED] * 4, ignore_index=True)
    assert hints(trials, NOTED, known, at_end) == [], "after three generations"
    [border] = hints(trials, long, known, at_end)
    assert "border" in border and "rollout_depth 50 of 0..50" in border
    begun_there = known | {"agent": "mc(iterations=10,rollout_depth=50)"}
    assert hints(trials, long, begun_there, at_end) == [], "it may just have stayed there"
    assert hints(trials, long, known, at_end, verdict(False)) == [], "shown not to be better"
    better = replace(verdict(True), agent="mc(iterations=10,rollout_depth=50)")
    assert hints(trials, NOTED, begun_there, {}, better) == [border]


def test_generations_without_a_difference_are_told() -> None:
    known = {"sampler": "cmaes(population=10)", "agent": "mc(iterations=10)", "parameters": ["rollout_depth=0..50"]}
    trials = candidates()
    late, early = (trials["group"].between(*ends) for ends in ((1, 3), (0, 2)))
    tied = trials.assign(value=trials["value"].where(~late, 0.5))
    [said] = hints(tied, NOTED, known, {})
    assert said.startswith("In 3 of 4 generations all candidates had the same value") and "more games" in said
    assert hints(trials.assign(value=trials["value"].where(~early, 0.5)), NOTED, known, {}) == []  # it goes on again
    one = trials.assign(kind="a", steps=1, width=2.0)
    assert hints(one, NOTED, known, {})[0].startswith("In 4 of 4 generations all candidates were one agent")
    assert hints(one.assign(other=1.0), NOTED, known, {}) == [], "fronts"


def test_a_definition_is_told_in_full(store: Store) -> None:
    known = definition(store, "tiny")
    facts = StudyFacts.of(known)
    assert (facts.game, facts.sampler_name, facts.seed, facts.unit_games) == ("2048", "cmaes", "4", 1)
    assert "population=6" in facts.sampler and "games=3" in facts.noise and facts.start.startswith("mctse(")
    table = ranges_table(trials_frame(store, "tiny").attrs["ranges"], known).set_index("parameter")
    assert table.loc["evaluator.corner", "range"] == "0 to 1" and table.loc["evaluator.corner", "start"] == "0.5"
    values = recommended_values(store, "tiny")
    agent = agent_with(known, values)
    assert agent.startswith("mctse(") and agent != facts.start
    assert len(generations_frame(store, "tiny")) == 3


def test_opponents_and_fronts_are_told(store: Store) -> None:
    front = StudyFacts.of(definition(store, "front"))
    assert front.sampler == "nsga2(population=4)" and front.noise == "fixed(games=2)"
    two = StudyFacts.of({"game": "tictactoe", "agent": START, "against": ["random", "greedy"], "sampler": "tpe"})
    assert two.unit_games == 4 and two.rows()["against"] == "random\ngreedy"


@pytest.mark.parametrize(
    ("method", "path", "host", "status"),
    [
        ("GET", "/api/studies", "localhost:1", 200),
        ("HEAD", "/dashboard", "127.0.0.1", 200),
        ("GET", "/dashboard/studies/1", "127.0.0.1", 200),
        ("GET", "/static/bundle.js", "127.0.0.1", 200),
        ("GET", "/api/studies", "evil.example", 400),
        ("GET", "/api/studies", "127.0.0.1.evil.example", 400),
        ("GET", "/api/studies", "", 400),
        ("DELETE", "/api/studies/1", "127.0.0.1", 405),
        ("POST", "/api/studies", "127.0.0.1", 405),
        ("PUT", "/api/studies/1/note", "127.0.0.1", 405),
    ],
)
def test_optuna_dashboard_is_only_read_and_only_under_names_of_this_machine(
    method: str, path: str, host: str, status: int, url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    pages = Pages(url, ("127.0.0.1", "localhost"))
    answer = pages.ask(path, method, host=host, content_type="application/json")
    assert answer.status == status and (method == "HEAD" or answer.body)
    assert capfd.readouterr().err == ""


def test_optuna_dashboard_shows_the_studies_of_the_store(pages: Pages, store: Store) -> None:
    studies = pages.ask("/api/studies").json["study_summaries"]
    assert {"tiny", "front", "decided"} <= {study["study_name"] for study in studies}
    number = next(study["study_id"] for study in studies if study["study_name"] == "tiny")
    assert f"/dashboard/studies/{number}" in pages.look("/runs/study:tiny").links
