"""Search spaces: vectors in the unit cube to agents and back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnier.agents.registry import make_agent
from turnier.core.errors import UserError
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
    with pytest.raises(UserError, match="range"):
        Space.of(AGENT, ["selection=0..1"])


def test_rounding_does_not_lead_out_of_a_range() -> None:
    agent = make_agent("expectimax(evaluator=rows2048)")
    space = Space.of(agent, ["evaluator.*"])
    assert space.apply(agent, space.decode([1.0] * space.size)) != space.apply(agent, space.decode([0.0] * space.size))


@pytest.mark.parametrize("path", ["iteration", "evaluator.merg", "evaluato.*", "evaluator"])
def test_an_unknown_path_names_the_closest(path: str) -> None:
    with pytest.raises(UserError, match="There is no parameter to search in mctse named"):
        Space.of(AGENT, [path])
