"""`turnier tune` with what users ask to search: choices, evaluators, options of engines, joint constraints."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from turnier.agents.registry import AGENTS
from turnier.commands.app import app
from turnier.core.errors import UserError
from turnier.results.store.store import Store
from turnier.search import study_run
from turnier.search.storage.trials import trials_frame
from turnier.search.study import Study, read_seconds

from .running import turnier

STORE = ("--executor", "serial", "--store", "sqlite:///a.db")
ORDERED = '''
from dataclasses import dataclass
import random
from turnier.agents.agent import Agent
from turnier.core.parameters import parameter

@dataclass(frozen=True)
class Ordered(Agent):
    """Plays at random, if low is below high."""

    low: float = parameter(0.2, "lower bound", low=0.0, high=1.0)
    high: float = parameter(0.8, "upper bound", low=0.0, high=1.0)

    def check(self):
        if self.low >= self.high:
            raise ValueError(f"low must be below high, got {self.low} and {self.high}")

    def start(self, game, seat=0, seed=0):
        rng = random.Random(seed)
        class Player:
            def act(self, position):
                return rng.choice(position.legal_actions())
        return Player()
'''

SLOW = '''
from dataclasses import dataclass
import random, time
from turnier.agents.agent import Agent
from turnier.core.parameters import parameter

@dataclass(frozen=True)
class Slow(Agent):
    """Plays at random, and rests before its first move if it is told to."""

    rest: int = parameter(0, "whether it rests", low=0, high=1)

    def start(self, game, seat=0, seed=0):
        rng, rest = random.Random(seed), self.rest
        class Player:
            rests = 0.4 * rest
            def act(self, position):
                time.sleep(self.rests)
                self.rests = 0
                return rng.choice(position.legal_actions())
        return Player()
'''


def test_candidates_that_the_agent_refuses_are_replaced_counted_and_said(tmp_path: Path) -> None:
    (tmp_path / "ordered.py").write_text(ORDERED)
    words = ("tune", "tictactoe", "ordered.py:Ordered", "--against", "random", "--budget", "64games", *STORE)
    both = (*words, "--params", "low,high", "--sampler", "random")
    shown = " ".join(turnier(*both, folder=tmp_path).split())
    assert "15 of 32 candidates had parameters that the agent refuses, such as: " in shown
    assert "low must be below high" in shown and "towards the start" in shown
    assert " ".join(turnier(*both, folder=tmp_path).split()).endswith(shown[-300:]), "it replays"
    turnier(*words, "--params", "low", "--sampler", "cmaes(population=4)", folder=tmp_path)


def test_choices_with_values_and_evaluators(tmp_path: Path) -> None:
    words = ("tune", "2048(size=2)", "--budget", "60games", "--json", *STORE)
    found = json.loads(turnier(*words, "mctse(iterations=5)", "--params", "final=max|robust", folder=tmp_path))
    assert set(found["parameters"]) == {"final"}
    agent = "mc(iterations=1,rollout_depth=2,evaluator=heuristics2048(rollout=0.1))"
    params = "evaluator=rows2048|heuristics2048,evaluator.rollout,rollout_depth=1,2,4"
    found = json.loads(turnier("tune", "2048", agent, "--params", params, *words[2:], folder=tmp_path))
    assert found["parameters"]["evaluator"] in ("rows2048", "heuristics2048(rollout=0.1)")


def test_the_options_that_an_engine_declares_are_parameters(tmp_path: Path) -> None:
    engine = Path(__file__).parents[1] / "agents" / "engines" / "speaker.py"
    agent = f'uci(command="{sys.executable} {engine} uci",nodes=5)'
    words = ("tune", "tictactoe", agent, "--against", "random", "--sampler", "random(population=8)", *STORE)
    few = (*words, "--budget", "32games")
    shown = turnier(*few, "--params", "options.hash,options.Ponder", folder=tmp_path)
    assert "searches options.Hash in 1..9 from 1, options.Ponder among true, false from false" in " ".join(
        shown.split()
    )
    assert "setoption name Hash value 1\nsetoption name Ponder value false" in shown
    steps = json.loads(turnier(*few, "--params", "options.Hash=1..9:4", "--json", folder=tmp_path))
    assert steps["parameters"]["options.Hash"] in (1, 5, 9)
    for wrong, message in (("options.Hush", "did you mean Hash?"), ("options.Hash=0..20", "within 1..9"),
                           ("options.Ponder=yes|no", "no value of options.Ponder named 'yes'")):  # fmt: skip
        ended = CliRunner().invoke(app, [*few, "--params", wrong])
        assert ended.exit_code != 0 and message in str(ended.exception), ended.exception


def test_hours_are_a_budget_and_more_of_them_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on by a second at each look: a generation takes two."""
    ticks = itertools.count()
    monkeypatch.setattr(study_run, "now", lambda: float(next(ticks)))
    words = ("tune", "2048(size=2)", "mc(iterations=2)", "--params", "rollout_depth=0..20", "--verify", "1", *STORE)
    words += ("--sampler", "cmaes(population=6)", "--json")

    def games(budget: str) -> int:
        return int(json.loads(turnier(*words, "--budget", budget, folder=tmp_path))["games"])

    assert games("20s") == 30, "ten seconds for the search: looks at 0, 1 and then after each generation"
    assert games("20s") == 30, "they are used up"
    assert games("0.01h") > 30 and read_seconds("1h30min") == 5400 and read_seconds(90) == read_seconds("2x") == 0


def test_known_agents_are_tried_first_and_are_finalists(tmp_path: Path) -> None:
    alone = ("tune", "2048(size=2)", "mc(iterations=1)", "--params", "iterations=1..40", "--budget", "60games", *STORE)
    alone += ("--json",)
    known = (*alone, "--known", "mc(iterations=30)", "--sampler", "cmaes(population=6)")
    found = json.loads(turnier(*known, "--name", "first", folder=tmp_path))
    assert (
        "mc(iterations=30)" in {row["agent"] for row in found["finalists"]} and found["parameters"]["iterations"] > 15
    )
    assert json.loads(turnier(*known, "--name", "first", folder=tmp_path)) == found
    duels = ("tune", "tictactoe", "mcts(iterations=1)", "--params", "iterations=1..60", "--budget", "96games", *STORE)
    strong = json.loads(turnier(*duels, "--known", "mcts(iterations=40)", "--json", folder=tmp_path))
    assert strong["parameters"]["iterations"] > 20 and "mcts(iterations=40)" in {
        row["agent"] for row in strong["finalists"]
    }
    narrower = (*(word.replace("1..40", "1..20") for word in alone), "--sampler", "cmaes(population=6)")
    after = json.loads(turnier(*narrower, "--from-study", "first", "--name", "second", folder=tmp_path))
    assert after["parameters"]["iterations"] > 10, "what the first has found beyond the range begins at its end"
    assert json.loads(turnier(*narrower, "--from-study", "first", "--name", "second", folder=tmp_path)) == after
    for words, message in ((("--known", "mc(iterations=50)"), "a known agent must be the start with other values"),
                           (("--known", "mc(rollout_depth=3)"), "a known agent must be the start with other values"),
                           (("--from-study", "frist"), "no study named 'frist'; did you mean first?")):  # fmt: skip
        ended = CliRunner().invoke(app, [*alone[:-2], f"sqlite:///{tmp_path}/a.db", *words])
        assert message in str(ended.exception), ended.exception


def test_candidates_that_are_too_slow_count_as_lost(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    words = ("tune", "tictactoe", "slow.py:Slow", "--params", "rest", "--against", "random", *STORE)
    words += ("--budget", "8games", "--sampler", "random(population=4)", "--max-per-move", "60ms", "--verify", "0.01")
    shown = " ".join(turnier(*words, "--name", "slow", folder=tmp_path).split())
    assert "candidates took more than 60 ms per move, up to " in shown and "counted as lost" in shown
    found = trials_frame(Store.open(f"sqlite:///{tmp_path}/a.db"), "slow")
    assert (found[found["rest"] == 1]["value"] == 0).all() and found["value"].max() > 0


def test_candidates_that_fail_are_lost_and_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW.replace("time.sleep(self.rests)", "assert not rest"))
    words = ("tune", "tictactoe", "slow.py:Slow", "--params", "rest", "--against", "random", "--trust")
    words += ("--budget", "16games", "--sampler", "random(population=4)", "--verify", "0.01")
    shown = " ".join(turnier(*words, *STORE, folder=tmp_path).split())
    assert "1 of 2 candidates failed in 8 games, which they lost, all with rest from 1 on, such as" in shown
    assert shown.count("failed in") == 1


def test_an_opponent_may_count_more_often() -> None:
    pool = ["2*random", "mcts(iterations=5)"]
    objective = Study("tictactoe", "mcts(iterations=9)", "iterations", against=pool, budget=500).question.objective
    unit = objective.held_out_unit("greedy", 0)
    others = [agent for spec in unit for agent in spec.agents if agent != "greedy"]
    assert len(unit) == 6 and others.count(AGENTS.make("random").full_text()) == 4
    assert len({spec.id for spec in unit}) == 6, "its games differ"


def test_one_agent_is_tuned_for_several_games(tmp_path: Path) -> None:
    words = ("tune", "2048(size=2)", "mc(iterations=2)", "--params", "rollout_depth=0..20", "--also", "2048(size=3)",
             "--budget", "48", "--name", "both", *STORE)  # fmt: skip
    shown = turnier(*words, folder=tmp_path)
    assert "Score relative to the start with 95 % intervals" in " ".join(shown.split())
    assert "24 candidates played 48 games, 2 finalists" in shown
    assert "--also '2048(size=3)'" in shown or "To play on" not in shown
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        begun = store.run("study:both").definition
        small, large = begun["scales"]
        assert 50 < small < 300 and 500 < large < 3000, "mean scores of the start"
        trials = trials_frame(store, "both")
        assert trials["value"].mean() == pytest.approx(1, abs=0.5)
    again = turnier(*words, folder=tmp_path)
    assert "games were stored already and not played again" in again


def test_candidates_duel_in_all_games() -> None:
    study = Study("tictactoe", "mcts(iterations=9)", "exploration=0..4", also=["nim"], budget=100)
    objective = study.question.objective
    first, second = objective.duel_units(("mcts(iterations=1)", "mcts(iterations=2)"), 0, 0, 0)
    assert [spec.game.partition("(")[0] for spec in first] == ["tictactoe", "tictactoe", "nim", "nim"]
    assert first.specs == second.specs and first.seats[:2] == first.seats[2:]
    assert all(set(one) | set(other) == {0, 1} for one, other in zip(first.seats, second.seats, strict=True))
    assert study.question.generation_games(study.settled) == 4 * 16 and objective.unit_games == 4


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"also": ["2048"]}, "all games of a study must have as many seats, got tictactoe.* and 2048"),
        ({"also": ["nim"], "objectives": "strength,time"}, "also is for studies of strength"),
    ],
    ids=["seats", "front"],
)
def test_games_that_do_not_go_together_are_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        Study("tictactoe", "mcts(iterations=9)", "exploration=0..4", budget=400, **more)
