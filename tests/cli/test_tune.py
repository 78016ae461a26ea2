"""`turnier tune`: any agent of any game, the same command goes on, and mistakes are one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from turnier.arena.workers.local import SerialExecutor
from turnier.arena.workers.where import Where
from turnier.commands.app import app
from turnier.core.errors import UserError
from turnier.results.store.store import Store
from turnier.search.definition import StudyDefinition
from turnier.search.dimensions.typed import read_parameters
from turnier.search.study import Study, read_games
from turnier.search.study_run import StudyRun

ALONE = ("2048(size=2)", "mc(iterations=4,rollout_depth=5)", "--params", "rollout_depth=0..20", "--budget", "60games")


def tune(folder: Path, *words: str) -> str:
    place = ("--store", f"sqlite:///{folder}/a.db")
    found = CliRunner().invoke(app, ["tune", *words, *place, "--executor", "serial"], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.stdout


def stored(folder: Path) -> dict[str, int]:
    with Store.open(f"sqlite:///{folder}/a.db", read_only=True) as store:
        return store.match_counts()


def test_the_same_command_goes_on_and_a_larger_budget_too(tmp_path: Path) -> None:
    found = json.loads(tune(tmp_path, *ALONE, "--json"))
    assert found["sampler"] == "cmaes_lr(population=6)" and found["games"] == 60
    assert [row["label"] for row in found["finalists"]][:2] == ["start", "proposed"]
    assert [row["units"] for row in found["finalists"]] == [30, 30]  # as many games as the search has
    assert found["finalists"][0]["claimed"] is None and found["finalists"][1]["shrinkage"] is not None
    assert found["recommended"] == (found["proposed"] if found["improved"] else ALONE[1]) and found["verdict"]
    assert set(found["parameters"]) == {"rollout_depth"}
    before = stored(tmp_path)
    again = json.loads(tune(tmp_path, *ALONE, "--json"))
    assert again == found and stored(tmp_path) == before
    for budget in (66, 240):  # of which the larger one would suit a larger population
        more = json.loads(tune(tmp_path, *ALONE[:-1], f"{budget}games", "--json"))
        assert more["study"] == found["study"] and more["games"] == budget and more["sampler"] == found["sampler"]
    other = json.loads(tune(tmp_path, *ALONE, "--seed", "2", "--json"))
    assert other["study"] != found["study"]


def test_an_agent_against_opponents_with_tables(tmp_path: Path) -> None:
    shown = tune(
        tmp_path, "tictactoe", "mcts(iterations=20)", "--params", "exploration=0..3,final", "--against", "random",
        "--against", "mcts(iterations=5)", "--budget", "96games", "--sampler", "random(population=8)",
        "--verify", "2.5",
    )  # fmt: skip
    assert "Held-out games" in shown and "Points, % with 95 % intervals" in " ".join(shown.split())
    assert "keep the start." in shown or "Recommended: the " in shown


def test_what_is_searched_is_said_before_and_a_plateau_after(tmp_path: Path) -> None:
    words = ("2048(size=2)", "mc(iterations=4,rollout_depth=20)", "--budget", "36games", "--params")
    shown = tune(tmp_path, *words, "rollout_depth=20..1000000")
    assert (
        "searches rollout_depth in 20..1000000 from 20, by cmaes" in shown and "A plateau: start and proposed" in shown
    )
    assert shown.index("searches rollout_depth") < shown.index("held-out")
    assert "score the same" not in tune(tmp_path, *words, "iterations=1..50")


def test_a_study_from_before_search_ranges_is_resumed_in_the_legal_range(tmp_path: Path) -> None:
    plan = Study(
        "2048(size=2)", "mc(iterations=4,rollout_depth=5)", "rollout_depth", budget=12, sampler="cmaes(population=6)"
    )
    new = plan.question.settled(12)
    assert new.parameters == ("rollout_depth=0..200:log",)
    old = StudyDefinition.named_by_content(new.game, new.agent, ("rollout_depth",), sampler=new.sampler)
    with Store.open(f"sqlite:///{tmp_path}/old.db") as store:
        assert plan.question.settled(12, store) == new
        # Whole numbers from 0 on were searched evenly by later versions.
        even = StudyDefinition.named_by_content(new.game, new.agent, ("rollout_depth=0..200",), sampler=new.sampler)
        StudyRun(store, even, progress=False).run(1, SerialExecutor())
        assert plan.question.settled(12, store) == even
        StudyRun(store, old, progress=False).run(1, SerialExecutor())
        assert plan.question.settled(12, store) == old
        again = plan.run(store, where=Where("serial"), progress=False)
        assert (
            again.definition.stored == old.stored
            and len(again.trials()) == 12
            and again.trials()["rollout_depth"].max() > 200
        )


def test_a_front_of_strength_and_time(tmp_path: Path) -> None:
    words = ("2048(size=2)", "mc(iterations=4,rollout_depth=5)", "--params", "iterations=1..50", "--budget", "64games")
    found = json.loads(tune(tmp_path, *words, "--objectives", "strength,time", "--json"))
    assert found["finalists"][0]["label"] == "start" and found["finalists"][1]["units"] == 24
    again = json.loads(tune(tmp_path, *words, "--objectives", "strength,time", "--json"))
    assert again == found
    shown = tune(tmp_path, *words, "--objectives", "strength,time")
    assert "by NSGA-II for mean score and ms per decision." in " ".join(shown.split()) and "front 1" in shown


def test_a_front_of_strength_and_certainty(tmp_path: Path) -> None:
    words = ("tictactoe", "mcts(iterations=2)", "--params", "iterations=1..60", "--against", "random", "--budget",
             "32games", "--objectives", "strength,certainty")  # fmt: skip
    found = json.loads(tune(tmp_path, *words, "--json"))
    start, *front = found["finalists"]
    assert start["label"] == "start" and front and {"agreement_percent", "positions"} <= set(start)
    shown = tune(tmp_path, *words)
    shown = " ".join(shown.split())
    assert "by NSGA-II for share of points and agreement, %." in shown and "held-out positions each" in shown
    where = ("show", f"study:{found['study']}", "--store", f"sqlite:///{tmp_path}/a.db")
    results = CliRunner().invoke(app, where, catch_exceptions=False).stdout
    assert "beaten by none at both strength and certainty" in results and "front 1" in results
    assert "16 candidates played 32 games" in results
    as_json = CliRunner().invoke(app, [*where, "--json"], catch_exceptions=False).stdout
    told = json.loads(as_json)
    assert told["front"] == found["finalists"] and (told["state"], told["candidates"]) == ("finished", 16)


def test_texts_are_read() -> None:
    texts = "60games", " 20_000 games ", "1game", "20,000", 7
    assert [read_games(text) for text in texts] == [60, 20_000, 1, 20_000, 7]
    assert read_parameters("a, evaluator.*") == ("a", "evaluator.*")


def of(**change: Any) -> Any:
    words: dict[str, Any] = {
        "game": "2048", "agent": "mctse(evaluator=heuristics2048)", "parameters": ["evaluator.merge"], "against": [],
        "budget": 20_000, "sampler": "cmaes", "noise": "", "name": "", "seed": 1,
    }  # fmt: skip
    words |= change
    budget = words.pop("budget")
    return Study(**words).question.settled(budget)


def test_what_is_left_open_suits_noise() -> None:
    assert (of().sampler, of().noise) == ("cmaes(population=64)", "fixed")
    assert (of(sampler="gp").sampler, of(sampler="gp").noise) == ("gp", "fixed(games=5)")
    against = of(game="yavalath", agent="mcts", parameters=["exploration"], against=["random", "mcts"], budget=1600)
    assert against.sampler == "cmaes(population=13)"


def test_a_name_follows_from_the_definition() -> None:
    assert of().name == of(budget=10_000).name and of().name.startswith("2048-mctse-")
    names = {
        of(**c).name
        for c in ({}, {"parameters": ["evaluator.*"]}, {"sampler": "spsa"}, {"noise": "growing"}, {"seed": 2})
    }
    assert len(names) == 5
    assert of(name="mine").name == "mine"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("--budget", "60x"), "a budget must be a number of games, such as 20000, or a time, such as 2h"),
        (("--budget", "0games"), "a budget must be a number of games"),
        (("--budget", "5games"), "a generation of 6 games, got 5"),
        (("--params", "rollout_dept"), "did you mean rollout_depth"),
        (
            ("--params", "rollout_depth=30..20"),
            "got 30..20 with LOW above HIGH; swap them",
        ),
        (("--params", "a,"), "parameters must be named, such as iterations"),
        (("--sampler", "cmae"), "did you mean cmaes"),
        (("--noise", "race"), "noise strategy named 'race'"),
        (("--against", "random"), "opponents are for games of two or more seats"),
        (("--objectives", "time"), "--objectives must be strength, strength,time or strength,certainty, got 'time'"),
        (("--objectives", "strength,time", "--sampler", "tpe"), "strength and time is searched by NSGA-II; leave out"),
        (("--seed", "-1"), "seed must be 0 or larger, got -1"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path: Path, change: tuple[str, ...], message: str) -> None:
    with pytest.raises(UserError) as error:
        tune(tmp_path, *ALONE, *change)
    assert message in str(error.value)


def test_searches_of_one_game_repeated_are_refused(tmp_path: Path) -> None:
    words = ("connect_four", "alphabeta(depth=2)", "--params", "depth=1..3", "--budget", "96games", "--against")
    with pytest.raises(
        UserError,
        match=r"none of them draws random numbers: .* --openings 6, or .* --against mcts\.$",
    ):
        tune(tmp_path, *words, "alphabeta(depth=1)")
    assert stored(tmp_path) == {}
    # Two generations of duels, the second with a pair that plays the opponent
    assert json.loads(tune(tmp_path, *words, "random", "--json"))["games"] == 66
    opened = json.loads(tune(tmp_path, *words, "alphabeta(depth=1)", "--openings", "3", "--json"))
    assert opened["games"] == 66
