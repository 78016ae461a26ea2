"""Search spaces: vectors in the unit cube to agents and back."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from turnier.agents.registry import make_agent
from turnier.agents.seats.plain import agent_class
from turnier.core.errors import UserError
from turnier.search.dimensions.dimension import Range
from turnier.search.dimensions.typed import read_parameters
from turnier.search.space import Space

AGENT = make_agent("mctse(evaluator=heuristics2048(merge=0.8))")
HEURISTICS = Space.of(AGENT, ["evaluator.*"])


def test_the_heuristics_have_fifteen_parameters() -> None:
    assert HEURISTICS.size == 15
    assert HEURISTICS.dimensions[0].path == "evaluator.use_empty"


def test_an_agents_own_values_survive_encoding() -> None:
    for paths in (["evaluator.*"], ["iterations", "exploration", "selection", "rollout_depth", "maxnodes"]):
        space = Space.of(AGENT, paths)
        assert str(space.apply(AGENT, space.decode(space.encode(AGENT)))) == str(AGENT)


@given(st.lists(st.floats(0, 1), min_size=15, max_size=15))
@settings(max_examples=50, deadline=None)
def test_every_vector_is_a_valid_agent(vector: list[float]) -> None:
    values = HEURISTICS.decode(vector)
    agent = HEURISTICS.apply(AGENT, values)
    assert HEURISTICS.decode(HEURISTICS.encode(agent)) == pytest.approx(values)
    for path, distribution in HEURISTICS.distributions(values).items():
        assert distribution._contains(distribution.to_internal_repr(values[path]))


def test_what_is_not_used_is_not_searched() -> None:
    """Of three weights of empty cells the method chooses one; without empty cells neither they nor it matter."""
    vector = [0.9] * 15
    vector[0], vector[4] = 0.1, 0.5  # use_empty, empty_method 1
    values = HEURISTICS.decode(vector)
    chosen = {path for path in values if "empty" in path}
    assert chosen == {"evaluator.use_empty", "evaluator.empty_method", "evaluator.empty1"}
    assert HEURISTICS.apply(AGENT, {**values, "evaluator.empty0": 0.9}) == HEURISTICS.apply(AGENT, values)
    vector[0] = 0.9
    assert [path for path in HEURISTICS.decode(vector) if "empty" in path] == ["evaluator.use_empty"]
    (alone,) = Space.of(AGENT, ["evaluator.empty2"]).dimensions
    assert alone.matters({})  # what is not searched is as the agent has it


def test_switches_and_methods_share_the_interval_evenly() -> None:
    switch, method = HEURISTICS.dimensions[0], HEURISTICS.dimensions[4]
    assert [switch.decode(x) for x in (0.0, 0.499, 0.5, 1.0)] == [True, True, False, False]
    assert [method.decode(x) for x in (0.0, 0.33, 0.34, 0.66, 0.67, 1.0)] == [0, 0, 1, 1, 2, 2]


def test_logarithmic_parameters_have_their_geometric_middle_in_the_middle() -> None:
    (iterations,) = Space.of(AGENT, ["iterations"]).dimensions
    assert iterations.decode(0.5) == pytest.approx(10_000_000**0.5, rel=1e-3)


def test_ensembles_are_searched_at_every_depth() -> None:
    agent = make_agent("majority(agent=mctse(evaluator=heuristics2048))")
    space = Space.of(agent, ["members", "agent.iterations", "agent.evaluator.merge"])
    assert space.decode(space.encode(agent)) == pytest.approx(
        {"members": 5, "agent.iterations": 3500, "agent.evaluator.merge": agent.agent.evaluator.merge}  # type: ignore[attr-defined]
    )
    changed = space.apply(agent, {"members": 3, "agent.iterations": 20, "agent.evaluator.merge": 0.25})
    assert str(changed) == "majority(agent=mctse(iterations=20,evaluator=heuristics2048(merge=0.25)),members=3)"


def test_a_range_may_be_narrower() -> None:
    depth, merge = Space.of(AGENT, ["rollout_depth=100..200", "evaluator.merge=0.5..0.9"]).dimensions
    assert [depth.decode(x) for x in (0, 0.5, 1)] == [100, 150, 200]
    assert [merge.decode(x) for x in (0, 1)] == [0.5, 0.9]
    for limits in ("0..50", "200..100", "100..1e9", "1,2", "100", "-1..200"):  # the start has 150
        with pytest.raises(UserError, match=r"a range of rollout_depth must be LOW\.\.HIGH"):
            Space.of(AGENT, [f"rollout_depth={limits}"])
    with pytest.raises(UserError, match=r"no value of selection named '0\.\.1'"):
        Space.of(AGENT, ["selection=0..1"])


def test_values_may_be_listed() -> None:
    texts = ["iterations=100|20|500", "selection=uctn|uct", "evaluator.use_merge=true|false"]
    start = AGENT.replace(iterations=100)
    count, selection, merge = (space := Space.of(start, texts)).dimensions
    assert [count.decode(x) for x in (0, 0.4, 1)] == [100, 20, 500] and count.encode(500) == pytest.approx(5 / 6)
    assert (selection.options, merge.options) == (("uctn", "uct"), (True, False))
    assert [dimension.text for dimension in space.dimensions] == texts == list(Space.planned(start, texts))
    assert count.distribution() == CategoricalDistribution((100, 20, 500)) and not count.wider(500)
    for wrong in ("iterations=20|500", "iterations=100", "iterations=100|100", "iterations=100|x", "iterations=100|0"):
        with pytest.raises(UserError, match="iterations must"):
            Space.of(start, [wrong])


def test_parameters_are_texts_lists_or_ranges_by_name() -> None:
    assert read_parameters("a, evaluator.*") == read_parameters(["a", "evaluator.*"]) == ("a", "evaluator.*")
    ranges = {
        "iterations": (1, 10),
        "exploration": (0.1, 4.0, "log"),
        "depth": IntDistribution(2, 8),
        "c": FloatDistribution(0.1, 2.0, log=True),
        "order": ["a", "b"],
        "flag": CategoricalDistribution([True, False]),
    }
    assert read_parameters(ranges) == (
        "iterations=1..10", "exploration=0.1..4.0:log", "depth=2..8:linear", "c=0.1..2.0:log", "order=a|b",
        "flag=true|false",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"iterations": (1, 10, "lgo")}, "no scale of iterations named 'lgo'; did you mean log"),
        ({"iterations": (1, "10")}, r"iterations must be searched in \(low, high\)"),
        ({"iterations": 5}, "an Optuna distribution, got 5"),
        ({"iterations": (1, 10, True, 3)}, r"\(low, high, STEP\), a list of values"),
        ([("iterations", 1, 10)], "a text, a list of texts or a dict"),
        ({}, "must be named"),
        (7, "got 7"),
    ],
)
def test_what_is_no_range_is_refused(given: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_parameters(given)


def test_a_range_may_have_another_scale() -> None:
    agent = make_agent("mctse(exploration=1,iterations=100)")
    plain, factors = Space.of(agent, ["exploration=0.01..1", "exploration=0.01..1:log"]).dimensions
    assert plain.decode(0.5) == pytest.approx(0.505) and factors.decode(0.5) == pytest.approx(0.1)
    (evenly,) = Space.of(agent, ["iterations=1..1001:linear"]).dimensions
    assert evenly.decode(0.5) == 501
    with pytest.raises(UserError, match="must begin above 0 to be searched by factors"):
        Space.of(agent, ["exploration=0..4:log"])


def test_new_studies_write_their_search_ranges_and_stored_ones_keep_the_legal_ones() -> None:
    agent = make_agent("mctse(rollout_depth=20,exploration=1)")
    typed = ("rollout_depth", "exploration", "maxnodes=20..1000000", "selection")
    planned = Space.planned(agent, typed)
    assert planned == ("rollout_depth=0..200:log", "exploration=0.01..10:log", "maxnodes=20..1000000", "selection")
    assert Space.planned(agent, planned) == planned
    (depth, exploration, nodes, _) = Space.of(agent, planned).dimensions
    assert [depth.decode(x) for x in (0, 1)] == [0, 200] and exploration.decode(0.5) == pytest.approx(0.1**0.5)
    assert nodes.decode(1) == 1_000_000
    (as_stored,) = Space.of(agent, ["rollout_depth"]).dimensions
    assert [as_stored.decode(x) for x in (0, 1)] == [0, 1_000_000]


def test_many_whole_numbers_from_0_are_searched_by_factors() -> None:
    agent = make_agent("mctse(rollout_depth=20)")
    ranges = ("0..100", "0..99", "0..100:linear", "0..50:log", "0..100:20", "1..100")
    found = [Space.planned(agent, [f"rollout_depth={text}"])[0].partition("=")[2] for text in ranges]
    assert found == ["0..100:log", *ranges[1:4], "0..100:20", "1..100"]
    assert Space.planned(agent, ["rollout_depth=0..100"], even=True) == ("rollout_depth=0..100",)  # as it was stored
    (depth,) = Space.of(agent, ["rollout_depth=0..99:log"]).dimensions
    assert [depth.decode(x) for x in (0, 0.5, 1)] == [0, 9, 99]
    assert all(depth.decode(depth.encode(value)) == value for value in range(100))
    assert depth.distribution() == IntDistribution(0, 99)  # Optuna's factors cannot begin at 0


@pytest.mark.parametrize(
    ("agent", "path", "planned"),
    [
        ("mctse(rollout_depth=5000)", "rollout_depth", "rollout_depth=0..5000:log"),
        ("mctse(exploration=50)", "exploration", "exploration=0.01..50:log"),
        ("mctse(exploration=0)", "exploration", "exploration=0..10"),  # factors cannot begin at 0
        ("mctse(exploration=0.001234567890123456)", "exploration", "exploration=0.001234567890123456..10:log"),
        ("mctse(evaluator=heuristics2048)", "evaluator.*", "evaluator.*"),  # all of their legal ranges
    ],
)
def test_a_start_outside_widens_the_search_range(agent: str, path: str, planned: str) -> None:
    made = make_agent(agent)
    assert Space.planned(made, [path]) == (planned,)
    space = Space.of(made, [planned])
    again = space.decode(space.encode(made))
    assert again == pytest.approx(space.of_agent(made)) and set(again) == set(Space.of(made, [path]).of_agent(made))


def test_all_parameters_of_an_evaluator_are_written_where_one_has_a_search_range() -> None:
    agent = make_agent("expectimax(evaluator=rows2048)")
    planned = Space.planned(agent, ["evaluator.*"])
    assert "evaluator.merges=10..10000" in planned and "evaluator.empty" in planned and "evaluator.corner" in planned
    assert Space.of(agent, planned).size == Space.of(agent, ["evaluator.*"]).size


def test_an_agent_shows_only_the_values_that_it_uses() -> None:
    agent = make_agent("mctse(evaluator=heuristics2048(use_merge=false,empty_method=1))")
    merge, empty = Space.of(agent, ["evaluator.merge", "evaluator.empty1"]), Space.of(agent, ["evaluator.*"])
    assert merge.of_agent(agent) == {"evaluator.empty1": 0.5}  # the switch itself is not searched
    assert {path for path in empty.of_agent(agent) if "empty" in path} == {
        "evaluator.use_empty", "evaluator.empty1", "evaluator.empty_method",
    }  # fmt: skip
    assert merge.of_agent(make_agent("mctse")) == {}


@pytest.mark.parametrize(
    ("path", "value", "wider"),
    [
        ("rollout_depth=0..200", 199, "rollout_depth=0..400"),
        ("rollout_depth=0..200", 1, ""),  # cannot be smaller
        ("rollout_depth=0..1000000", 1_000_000, ""),
        ("rollout_depth=0..200", 100, ""),
        ("iterations=5..500", 5, "iterations=1..500"),
        ("iterations=5..500", 490, "iterations=5..5000"),
        ("iterations=25..500", 25, "iterations=2..500"),  # whole numbers, since others are refused
        ("exploration=0.01..10:log", 0.0101, "exploration=0.001..10:log"),
        ("selection", "uct", ""),
    ],
)
def test_the_border_of_a_range_that_could_be_wider_is_said(path: str, value: float | str, wider: str) -> None:
    space = Space.of(make_agent("mctse(rollout_depth=20,iterations=100)"), [path])
    dimension = space.dimensions[0]
    places, paths = space.widened({dimension.path: value})
    assert paths == (wider or dimension.text,) and bool(places) is bool(wider)


def test_a_stored_range_that_ends_at_a_fraction_holds_what_is_rounded() -> None:
    space = Space.of(make_agent("mctse(rollout_depth=20)"), ["rollout_depth=0..20.7"])
    values = space.decode([1.0])
    assert values == {"rollout_depth": 21} and space.distributions(values)["rollout_depth"]._contains(21)
    assert space.distributions() == {"rollout_depth": IntDistribution(0, 20)}  # stored fronts must draw what they drew


def test_a_new_study_has_ranges_of_whole_numbers_and_one_for_each_parameter() -> None:
    for typed, message in (
        (["rollout_depth=0..200.7"], r"rollout_depth must end at whole numbers, got 0\.\.200\.7; round them"),
        (["evaluator.merge=0..0.9", "evaluator.merge=0.5..1"], r"one range, got evaluator\.merge=0\.\.0\.9 and"),
    ):
        with pytest.raises(UserError, match=message):
            Space.of(AGENT, Space.once(AGENT, typed)).require_clear()
    for typed in (["evaluator.merge=0..0.9", "evaluator.*"], ["evaluator.*", "evaluator.merge=0..0.9"]):
        space = Space.of(AGENT, Space.once(AGENT, typed))
        space.require_clear()
        (merge,) = (d for d in space.dimensions if d.path == "evaluator.merge")
        assert space.size == 15 and merge.range == Range(0, 0.9)
    assert Space.once(AGENT, ["iterations", "iterations=1..5000"]) == ("iterations=1..5000",)
    for kept in (("evaluator.*", "iterations"), ("iterations", "iterations"), ("iterations=1..5000",) * 2):
        assert Space.once(AGENT, kept) == kept
        Space.of(AGENT, kept).require_clear()


def test_a_parameter_that_declares_no_range_is_searched_in_the_one_that_is_typed() -> None:
    """As the arguments of classes that derive from nothing of ours."""

    class Bot:
        def __init__(self, share: float = 0.5, depth: int = 3) -> None: ...

        def act(self, position: Any) -> int:
            return 0

    made = agent_class(Bot)
    assert made
    agent = made()
    space = Space.of(agent, Space.planned(agent, ["share=0..1", "depth=1|3|9"]))
    space.require_clear()
    assert space.decode([1.0, 1.0]) == {"share": 1.0, "depth": 9} and space.decode([0.0, 0.0])["share"] == 0.0
    for typed, message in (
        ("share", "share; write share=LOW..HIGH"),
        ("share=2..3", "must be LOW..HIGH and hold the start's 0.5, got 2..3"),
        ("depth=3|x", "the values of depth must be of its type, got 3|x"),
    ):
        with pytest.raises(UserError, match=re.escape(message)):
            Space.of(agent, [typed]).decode([0.5])


def test_of_a_stored_parameter_that_is_named_twice_the_last_range_counts_at_the_border() -> None:
    agent = make_agent("mctse(exploration=1)")
    space = Space.of(agent, ["exploration=0.01..10:log", "exploration=0..4"])
    assert space.widened({"exploration": 0.0})[0] == ""
    assert space.widened({"exploration": 4.0})[0] == "exploration 4 of 0..4"


def test_rounding_does_not_lead_out_of_a_range() -> None:
    agent = make_agent("expectimax(evaluator=rows2048)")
    space = Space.of(agent, ["evaluator.*"])
    assert space.apply(agent, space.decode([1.0] * space.size)) != space.apply(agent, space.decode([0.0] * space.size))


@pytest.mark.parametrize("path", ["iteration", "evaluator.merg", "evaluato.*"])
def test_an_unknown_path_names_the_closest(path: str) -> None:
    with pytest.raises(UserError, match="There is no parameter to search in mctse named"):
        Space.of(AGENT, [path])
