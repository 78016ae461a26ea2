"""2048 by agents that look one decision ahead with a packed network: as by the general kernels, bit for bit."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.agents.positions import board_position
from tests.arena.small_matches import spec, timeless
from turnier.agents.abi import plays_alone
from turnier.agents.agent import CompiledAgent
from turnier.agents.ntuple.evaluator import NTuple
from turnier.agents.ntuple.td import td_of
from turnier.agents.ntuple.training import Plan, TdLoop
from turnier.agents.registry import agent_of, make_agent
from turnier.arena.match import MatchRecord, MatchSpec, Termination
from turnier.arena.play import play_match, play_matches
from turnier.arena.play_compiled import play_compiled
from turnier.core.kernel import JIT
from turnier.games.registry import game_of, make_game

AGENTS = [
    "greedy(evaluator={})",
    "expectimax(depth=1,evaluator={})",
    "greedy(downgrade=96,evaluator={})",
    "expectimax(depth=1,downgrade=64,evaluator={})",
]
GAMES = 6 if JIT else 1


@pytest.fixture(scope="module", params=["td", "td(method=1)"])
def network(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A network that has learned a little: values of what is to come, or of the whole return."""
    out = tmp_path_factory.mktemp("weights") / "w.npz"
    evaluator = NTuple(network="cells", cells="0.1.2/4.5.6.9/0.1.4.5", stages="4.6")
    TdLoop(Plan(make_game("2048"), evaluator, td_of(request.param)), out, 30 if JIT else 1).run()
    return f"ntuple(file={out})"


def by_general_kernels(specs: list[MatchSpec]) -> list[MatchRecord]:
    """Plays matches of a general agent by its general act kernel."""
    game, agent = game_of(specs[0].game), agent_of(specs[0].agents[0])
    assert isinstance(agent, CompiledAgent)
    return list(play_compiled(game, [CompiledAgent.kernels(agent, game)], specs, np.zeros(1, np.int64))[1])


@pytest.mark.parametrize("agent", AGENTS)
def test_matches_are_those_of_the_general_kernels(agent: str, network: str) -> None:
    """Plies, scores and counts; also where a limit ends them, or an opening is given."""
    text = agent.format(network)
    assert plays_alone(make_agent(text).seat_kernels(make_game("2048")))  # type: ignore[arg-type]
    limit = 0 if JIT else 12
    specs = [spec("2048", text, seed=seed, max_plies=limit) for seed in range(GAMES)]
    records = play_matches(specs)
    assert list(map(timeless, records)) == list(map(timeless, by_general_kernels(specs)))
    assert all(sum(record.decisions) > 11 for record in records)
    limited = dataclasses.replace(specs[0], max_plies=9)
    opened = dataclasses.replace(specs[0], opening=(0, 6), max_plies=9)
    for one in (limited, opened):
        assert timeless(play_match(one)) == timeless(by_general_kernels([one])[0])
        assert timeless(play_match(one)) == timeless(play_matches([one], python=True)[0])
    assert play_match(limited).termination is Termination.LIMIT


@pytest.mark.parametrize("agent", AGENTS)
def test_decisions_are_those_of_the_general_kernels(agent: str, network: str) -> None:
    """With tiles of 65,536 and more, 32768s that merge, a single legal action, and points so far."""
    made = make_agent(agent.format(network))
    assert isinstance(made, CompiledAgent)
    for tiles in (
        ((2, 4, 8, 16), (65536, 2, 0, 0), (131072, 32768, 4, 0), (2, 2, 4, 8)),
        ((32768, 32768, 4, 2), (2, 4, 0, 0), (0, 0, 0, 0), (0, 2, 0, 2)),
        ((2, 4, 8, 16), (4, 8, 16, 32), (8, 16, 32, 64), (16, 32, 64, 64)),
        ((0, 2, 4, 8), (0, 4, 8, 16), (0, 8, 16, 32), (0, 16, 32, 64)),
    ):
        position = board_position(tiles, 12_347.0)
        found = []
        for seat in (made.kernels(position.game), CompiledAgent.kernels(made, position.game)):
            root, rng = np.zeros((2, 4)), np.zeros(4, np.uint64)
            state, returns = position.state.copy(), position.returns.copy()
            action = seat.act(position.game.kernels, seat.evaluator, seat.settings, state, returns, rng, root)
            found.append((int(action), root.tolist()))
        assert found[0] == found[1]


@pytest.mark.skipif(not JIT, reason="a long game")
def test_a_match_without_room_is_played_again(network: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same record when its plies did not fit at first."""
    specs = [spec("2048", AGENTS[0].format(network), seed=seed) for seed in range(3)]
    expected = list(map(timeless, play_matches(specs)))
    monkeypatch.setattr("turnier.arena.play_compiled.FIRST_ROOM", 100)
    assert list(map(timeless, play_matches(specs))) == expected


def test_matches_stop_where_they_are_told(network: str) -> None:
    specs = [spec("2048", AGENTS[0].format(network), seed=seed) for seed in range(2)]
    assert play_matches(specs, np.ones(1, np.int64)) == []


def test_only_packed_networks_are_played_so() -> None:
    """Other boards and evaluators keep the general kernel, and deeper searches theirs."""
    for game, text in (
        ("2048(size=3)", "greedy(evaluator=ntuple(tuples=2))"),
        ("2048", "greedy"),
        ("2048", "expectimax(depth=2,evaluator=ntuple(network=4x6))"),
    ):
        seat = make_agent(text).seat_kernels(make_game(game))
        assert seat is not None and not plays_alone(seat)
