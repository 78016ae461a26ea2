"""What can be searched besides ranges: steps, lists, parts of an agent, and what an agent's check accepts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optuna.distributions import FloatDistribution, IntDistribution

from turnier.agents.agent import Agent, Player
from turnier.agents.registry import make_agent
from turnier.core.errors import UserError
from turnier.core.parameters import parameter
from turnier.games.game import Game
from turnier.search.dimensions.typed import read_parameters
from turnier.search.space import Space


@dataclass(frozen=True)
class Between(Agent):
    """Cannot be made unless low < high; its third parameter has no order."""

    name = "between"

    low: float = parameter(0.2, "lower end", low=0.0, high=1.0)
    high: float = parameter(0.8, "upper end", low=0.0, high=1.0)
    way: str = parameter("a", "way", choices=("a", "b", "c"))

    def check(self) -> None:
        if self.low >= self.high:
            raise ValueError(f"low must be below high, got {self.low} and {self.high}")

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        raise AssertionError("only its parameters are asked for")


def anything(_: Agent) -> None:
    pass


def test_a_range_may_have_steps() -> None:
    agent = make_agent("mctse(iterations=32,exploration=0.5)")
    space = Space.of(agent, ["iterations=16..64:16", "exploration=0.1..0.95:0.2"])
    count, weight = space.dimensions
    assert count.options == (16, 32, 48, 64)
    assert weight.options == (0.1, 0.3, 0.5, 0.7, 0.9), "the upper end is no step"
    assert count.distribution() == IntDistribution(16, 64, step=16)
    assert weight.distribution() == FloatDistribution(0.1, 0.9, step=0.2)
    assert Space.of(agent, [d.text for d in space.dimensions]) == space
    assert space.decode(space.encode(agent)) == {"iterations": 32, "exploration": 0.5} and not count.is_choice
    assert count.shown == "iterations in 16..64 by steps of 16"
    assert (count.wider(64) == "iterations=16..112:16" and count.wider(16) == "iterations=0..64:16") or count.wider(16)
    for wrong, message in (
        ("iterations=8..64:14", "steps of iterations must hold the start's 32, .* start from iterations=36"),
        ("iterations=2..64:1.5", "must be whole numbers"),
        ("iterations=1..9999999:1", "2 to 1,000 steps"),
        ("iterations=16..64:100", "2 to 1,000 steps"),
    ):
        with pytest.raises(UserError, match=message):
            Space.of(agent, [wrong])


def test_steps_and_lists_as_users_write_them() -> None:
    assert read_parameters("a=1,2,4,8,b, c=0.1,0.5") == ("a=1|2|4|8", "b", "c=0.1|0.5")
    assert read_parameters("e=rows2048(empty=1,sum=2)|m,a=0..9,7") == ("e=rows2048(empty=1,sum=2)|m", "a=0..9", "7")
    steps = {"a": IntDistribution(16, 64, step=16), "b": FloatDistribution(0, 1, step=0.25), "c": (1, 9, 2)}
    assert read_parameters(steps) == ("a=16..64:16", "b=0.0..1.0:0.25", "c=1..9:2")
    assert read_parameters({"e": [make_agent("greedy").evaluator, "rows2048"]}) == ("e=score|rows2048",)
    with pytest.raises(UserError, match=r"separated by \|, such as NAME=a\|b"):
        Space.of(make_agent("mctse"), ["final=max", "zzzzzz"][1:])


def test_an_evaluator_may_be_searched_with_the_parameters_of_all() -> None:
    start = make_agent("expectimax(evaluator=heuristics2048(merge=0.8))")
    paths = ["evaluator=rows2048|heuristics2048|corner2048", "evaluator.merge", "evaluator.empty", "evaluator.hopeless"]
    space = Space.of(start, paths)
    which, *_, hopeless = space.dimensions
    own = "heuristics2048(merge=0.8)"
    assert set(which.among) == {"rows2048", own, "corner2048"} and which.is_choice
    assert space.decode(space.encode(start)) == {"evaluator": own, "evaluator.merge": 0.8}
    assert space.apply(start, space.decode(space.encode(start))) == start
    rows = space.apply(start, {"evaluator": "rows2048", "evaluator.empty": 5.0, "evaluator.merge": 0.1})
    assert str(rows) == "expectimax(evaluator=rows2048(empty=5.0))", "merge is of another evaluator"
    assert not hopeless.matters({"evaluator": "rows2048"}) and hopeless.matters({"evaluator": "corner2048"})
    assert space.of_agent(rows) == {"evaluator": "rows2048", "evaluator.empty": 5.0}
    planned = Space.planned(start, paths)
    assert Space.of(start, planned).dimensions[0] == which and own in planned[0], "the start's own parameters are said"
    for wrong, message in (("evaluator", r"must have a list of values"), ("evaluator=rows2048", "two or more"),
                           ("evaluator=rows2048|rows", "no evaluator named 'rows'"),
                           ("evaluator=rows2048|rollout", "the start's heuristics2048")):  # fmt: skip
        with pytest.raises(UserError, match=message):
            Space.of(start, [wrong])


def test_a_star_leaves_out_texts_files_and_what_a_move_may_cost() -> None:
    network = make_agent("greedy(evaluator=ntuple(tuples=2,length=3))")
    paths = {d.path for d in Space.of(network, ["*"]).dimensions}
    assert "evaluator.file" not in paths and "evaluator" not in paths and paths
    assert {d.path for d in Space.of(network, ["evaluator.*"]).dimensions} <= paths
    searched = {d.path for d in Space.of(make_agent("mcts"), ["*"]).dimensions}
    assert {"exploration", "final"} <= searched and not {"iterations", "milliseconds", "threads"} & searched


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3))
@settings(max_examples=60, deadline=None)
def test_values_that_an_agent_refuses_are_replaced_on_the_way_to_the_start(vector: list[float]) -> None:
    start = Between()
    space = Space.of(start, ["low", "high", "way"])
    values, agent, refused = space.accepted(start, vector, anything)
    assert space.apply(start, values) == agent and values["low"] < values["high"]
    asked = space.decode(vector)
    assert bool(refused) == (asked["low"] >= asked["high"]) and (refused or values == asked)
    assert agent.way == asked["way"], "a choice that is accepted stays"
    assert space.accepted(start, vector, anything) == (values, agent, refused)


def test_what_only_the_game_refuses_is_replaced_too() -> None:
    start, space = Between(), Space.of(Between(), ["low", "way"])

    def no_b(agent: Any) -> None:
        if agent.way == "b":
            raise UserError("not b.")

    values, agent, refused = space.accepted(start, [0.1, 0.5], no_b)
    assert (values, agent.way, refused) == ({"low": 0.1, "way": "a"}, "a", "not b.")
    with pytest.raises(UserError, match=r"between: its parameters must fit together: low must be below high"):
        start.replace(low=0.9)
