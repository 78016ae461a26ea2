"""`turnier tune` with what users ask to search: choices, evaluators, options of engines, joint constraints."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from turnier.commands.app import app
from turnier.search import study_run
from turnier.search.study import read_seconds

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
