"""Studies of any noisy function: by `optimize`, or by ask and tell; stored, resumed exactly, with a verdict."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import optuna
import pandas as pd
import pytest
from optuna.distributions import IntDistribution

import turnier
from tests.cli.running import turnier as command
from turnier.core.errors import UserError
from turnier.search.for_optuna.function_study import FunctionStudy

PARAMETERS: dict[str, Any] = {"x": (0.0, 1.0), "n": (1, 20), "kind": ["a", "b"], "rate": (1e-4, 1e-1, "log")}


def function(parameters: Mapping[str, Any], seed: int) -> float:
    missed = 20 * (parameters["x"] - 0.7) ** 2 + 3 * (parameters["kind"] != "b") + 0.3 * abs(parameters["n"] - 7)
    return 10 - missed + random.Random(seed).gauss(0, 1)


def create(store: Path, **changes: Any) -> FunctionStudy:
    settings: dict[str, Any] = {"name": "mine", "evaluations": 150, "start": {"x": 0.1, "kind": "a"}} | changes
    return turnier.create_study(PARAMETERS, store=store, **settings)


def trials(study: FunctionStudy) -> Any:
    return study.results.trials().drop(columns=["state"])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> FunctionStudy:
    study = create(tmp_path_factory.mktemp("whole") / "a.db")
    study.optimize(function, progress=False)
    return study


def test_it_finds_better_parameters_and_shows_it(whole: FunctionStudy) -> None:
    verdict = whole.verdict
    assert verdict is not None and verdict.improved and verdict.searched <= 150
    assert whole.best_params == whole.proposed and whole.best_params["kind"] == "b"
    assert abs(float(whole.best_params["x"]) - 0.7) < 0.2 and isinstance(whole.best_params["n"], int)
    assert whole.ask() is None, "all is decided"
    finalists = optuna.load_study(study_name="mine, held-out", storage=whole.store.url)
    assert finalists.best_params == whole.best_params
    assert list(whole.results.held_out()["label"]) == ["start", "proposed"] and whole.results.play_on == ""


def test_ask_and_tell_interrupted_at_every_place_are_the_same_search(whole: FunctionStudy, tmp_path: Path) -> None:
    asked = 0
    while True:
        study = create(tmp_path / "a.db")
        for _ in range(37):  # then the process ends
            if (evaluation := study.ask()) is None:
                break
            asked += 1
            study.tell(evaluation, function(evaluation.parameters, evaluation.seed))
        if evaluation is None:
            break
        study.store.close()
    assert study.verdict == whole.verdict and trials(study).equals(trials(whole))
    assert asked == study.searched + study.verdict.games, "nothing is evaluated twice"  # type: ignore[union-attr]


def test_values_may_be_told_in_any_order(whole: FunctionStudy, tmp_path: Path) -> None:
    study, waiting = create(tmp_path / "a.db"), list[Any]([None])
    while waiting:
        waiting = []
        with contextlib.suppress(UserError):  # until what was asked for is told
            while evaluation := study.ask():
                waiting.append(evaluation)
        for evaluation in reversed(waiting):
            study.tell(evaluation, function(evaluation.parameters, evaluation.seed))
    assert study.verdict == whole.verdict and trials(study).equals(trials(whole))


def test_more_evaluations_continue_a_study(tmp_path: Path) -> None:
    first = create(tmp_path / "a.db", evaluations=60, sampler="cmaes")
    first.optimize(function, progress=False)
    before = trials(first)
    first.store.close()
    more = create(tmp_path / "a.db", evaluations=120)
    more.optimize(function, progress=False)
    assert len(trials(more)) > len(before) and trials(more)[: len(before)].equals(before)
    assert more.verdict is not None and more.verdict.searched == more.searched > 60


def test_any_sampler_of_optuna_and_several_evaluations_per_candidate(tmp_path: Path) -> None:
    sampler = optuna.samplers.RandomSampler()
    study = create(tmp_path / "a.db", sampler=sampler, noise="fixed(games=3)", evaluations=48)
    study.optimize(function, progress=False)
    frame = trials(study)
    assert set(frame["games"]) == {3} and len(frame) == 16 and frame["low"].notna().all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start": {"x": 2.0}}, "the start's x must be in what is searched, got 2.0"),
        ({"known": [{"x": 2.0}]}, "a known x must be in what is searched, got 2.0"),
        ({"start": {"y": 2.0}}, "no parameter named 'y'"),
        ({"noise": "racing"}, "must play equally often"),
        ({"sampler": "duels"}, "duels are for games of two or more seats"),
        ({"evaluations": 2}, "must last for a generation of 6 evaluations, got 2"),
    ],
    ids=str,
)
def test_what_cannot_be_searched_is_refused(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        create(tmp_path / "a.db", **changes)


def test_a_range_may_have_steps(tmp_path: Path) -> None:
    searched = {"x": (16, 64, 16), "y": IntDistribution(0, 10, step=5)}
    study = turnier.create_study(searched, name="steps", evaluations=60, store=tmp_path / "a.db")
    study.optimize(lambda parameters, _: float(parameters["x"] - parameters["y"]), progress=False)
    tried = study.results.trials()
    assert set(tried["x"]) <= {16, 32, 48, 64} and set(tried["y"]) <= {0, 5, 10} and len(set(tried["x"])) > 2
    with pytest.raises(UserError, match="the start's x must be in what is searched, got 20"):
        turnier.create_study(searched, name="other", store=tmp_path / "a.db", start={"x": 20})


@pytest.mark.parametrize(
    "searched", [(1, 0), (0, 1, "log"), (0, 1, 2), (0, 1, -0.1), (0, 1, True), [1], ["a", "a"], "0..1", 5], ids=str
)
def test_ranges_that_are_none_are_refused(searched: Any, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="x must "):
        turnier.create_study({"x": searched}, name="mine", store=tmp_path / "a.db")


def test_a_value_must_be_a_number_that_was_asked_for(tmp_path: Path) -> None:
    study = create(tmp_path / "a.db")
    evaluation = study.ask()
    assert evaluation
    for value in (float("nan"), "good", None):
        with pytest.raises(UserError, match="must be a finite number, got "):
            study.tell(evaluation, value)  # type: ignore[arg-type]
    study.tell(evaluation, 1.0)
    with pytest.raises(UserError, match="told once"):
        study.tell(evaluation, 1.0)
    with pytest.raises(UserError, match=r"is stored with seed 1 \(now 2\)"):
        create(tmp_path / "a.db", seed=2)


def test_a_renamed_study_goes_on(tmp_path: Path) -> None:
    study = create(tmp_path / "a.db", evaluations=60)
    study.optimize(function, progress=False)
    verdict = study.verdict
    turnier.Study.rename(study.store, study.store.run("study:mine"), "other")
    study.store.close()
    again = create(tmp_path / "a.db", evaluations=60, name="other")
    assert again.ask() is None and again.verdict == verdict


def test_it_is_shown_like_any_study_and_its_candidates_are_a_table(tmp_path: Path) -> None:
    study = create(tmp_path / "a.db", evaluations=60)
    study.optimize(function, progress=False)
    url = ["--store", study.store.url]
    shown = command("show", "mine", "--all", *url, folder=tmp_path)
    assert "game" not in shown.replace("fixed(games=1)", "") and "60 candidates had 60 evaluations" in shown
    assert "held-out evaluations" in shown and "evaluations per candidate" in shown
    for words in (["--all"], ["--json"], ["--matches"], ["--html", "--out", str(tmp_path / "a.html")]):
        command("show", "mine", *words, *url, folder=tmp_path)
    command("show", "mine", "--candidates", "a.csv", *url, folder=tmp_path)
    command("show", "mine", "--candidates", "b.csv", "--html", "--out", "b.html", *url, folder=tmp_path)
    assert (tmp_path / "b.csv").read_text() == (tmp_path / "a.csv").read_text(), "whatever else is written"
    table = pd.read_csv(tmp_path / "a.csv")
    columns = ["candidate", "rate", "x", "n", "kind", "value", "standard_error", "games", "generation"]
    assert sorted(table.columns) == sorted(columns) and list(table["candidate"]) == list(range(study.searched))
    assert table["value"].max() == study.optuna.best_value and table["generation"].min() == 1


def test_known_parameters_are_tried_first_and_may_be_recommended(tmp_path: Path) -> None:
    known = [{"x": 0.7, "n": 7, "kind": "b"}, {"x": 0.2}]

    def evaluated(path: Path, stops: int) -> FunctionStudy:
        while True:
            study = create(path, known=known, evaluations=60)
            for _ in range(stops):
                if (evaluation := study.ask()) is None:
                    return study
                study.tell(evaluation, function(evaluation.parameters, evaluation.seed))
            study.store.close()

    whole = evaluated(tmp_path / "a.db", 1000)
    first = trials(whole).head(6)
    assert set(first["x"].round(6)) == {0.1, 0.7, 0.2} and set(first["group"]) == {0}
    after = trials(whole)[trials(whole)["group"] == 1]
    assert (after["kind"] == "b").mean() > 0.5, "it begins at the best of them"
    verdict = whole.verdict
    assert verdict is not None and [row.label for row in verdict.figures] == ["start", "proposed", "known 1", "known 2"]
    assert verdict.improved and whole.best_params == whole.finalists[verdict.label]
    again = evaluated(tmp_path / "b.db", 11)
    assert again.verdict == verdict and trials(again).equals(trials(whole))
