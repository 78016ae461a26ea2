"""Agents held to a budget per move: what it changes, that it holds, and who cannot be held to it."""

from __future__ import annotations

import pytest

from tests.playing import played
from turnier.agents.agent import Agent
from turnier.agents.budget import UNITS, read_budget
from turnier.agents.registry import AGENTS
from turnier.core.errors import UserError
from turnier.core.parameters import parameters_of


@pytest.mark.parametrize(
    ("text", "budget"),
    [("50ms", (50, "ms")), ("1_000 rollouts", (1000, "rollouts")), ("9nodes", (9, "nodes")), ("4 plies", (4, "plies"))],
)
def test_budgets_are_read(text: str, budget: tuple[int, str]) -> None:
    assert read_budget(text) == budget


@pytest.mark.parametrize("text", ["", "50", "ms", "0ms", "-5ms", "1.5ms", "50 seconds", "50msx", "_ms"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(UserError, match="must be a whole number and one of ms, rollouts, nodes, plies"):
        read_budget(text)


@pytest.mark.parametrize("name", AGENTS.names())
def test_budgets_name_parameters_of_the_agent(name: str) -> None:
    """Each unit changes the agent, twice the amount changes it again, and the amount ends up in it."""
    cls = AGENTS.load(name)
    declared = {field.name for field, _ in parameters_of(cls)}
    for unit, changes in cls.budgets.items():
        assert unit in UNITS and set(changes) <= declared
        once, twice = AGENTS.make(name).within(37, unit), AGENTS.make(name).within(74, unit)
        assert "37" in str(once) and "74" in str(twice) and once.within(74, unit) == twice


def nodes_per_move(agent: Agent, game: str = "tictactoe") -> float:
    record = played(game, agent, seed=3)
    return sum(record.nodes) / sum(record.decisions)


@pytest.mark.parametrize("unit", ["rollouts", "nodes"])
@pytest.mark.parametrize("text", ["mc", "mcts", "mctse", "majority(agent=mcts,members=5)", "root_parallel(agent=mc)"])
def test_searches_spend_the_budget_and_no_more(text: str, unit: str) -> None:
    agent = AGENTS.make(text)
    if unit == "nodes" and "mc)" in f"{text})":
        with pytest.raises(UserError, match="takes only: ms, rollouts"):
            agent.within(360, unit)
        return
    # The last move of a full game has one legal action and needs no search: so a little less than all.
    assert 200 < nodes_per_move(agent.within(360, unit)) <= 360


def test_alphabeta_stops_at_the_nodes_whatever_its_depth() -> None:
    agent = AGENTS.make("alphabeta(depth=1)").within(5000, "nodes")
    record = played("connect_four", agent)
    moves = sum(record.decisions)
    assert 2500 < sum(record.nodes) / moves <= 5000


def test_agents_that_decide_at_once_stay_as_they_are() -> None:
    for text in ("random", "greedy"):
        assert AGENTS.make(text).within(50, "ms") == AGENTS.make(text)


@pytest.mark.parametrize(("text", "unit"), [("maxn", "ms"), ("expectimax", "rollouts"), ("majority(agent=maxn)", "ms")])
def test_who_cannot_be_held_to_a_budget_is_named(text: str, unit: str) -> None:
    with pytest.raises(UserError, match=f"a budget in {unit} must fit every agent"):
        AGENTS.make(text).within(50, unit)


def test_a_later_parameter_is_in_texts_only_where_it_says_something() -> None:
    """Games that were stored before it came keep their ids; its value is read back."""
    mc = AGENTS.make("mc")
    assert "divided" not in mc.full_text() and "divided" not in str(mc)
    divided = mc.within(100, "rollouts")
    assert "divided=true" in divided.full_text() and AGENTS.make(divided.full_text()) == divided
