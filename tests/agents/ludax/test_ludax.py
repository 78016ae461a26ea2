"""The agent `ludax`: plays Othello by the network of ludax-agents and its search, by our rules."""

from __future__ import annotations

import importlib.util
import itertools
from typing import Any

import numpy as np
import pytest

from turnier.agents.alphabeta.agent import AlphaBeta
from turnier.agents.ludax.agent import Ludax
from turnier.agents.registry import make_agent
from turnier.arena.match import MatchSpec, Termination
from turnier.arena.play import play_match, prepare
from turnier.core.errors import UserError
from turnier.core.rng import below, stream
from turnier.games.game import Position
from turnier.games.othello import Othello
from turnier.games.registry import make_game

installed = pytest.mark.skipif(
    importlib.util.find_spec("ludax_agents") is None, reason="pip install 'turnier[ludax]' installs what it needs"
)
GAME = Othello()
PASS = GAME.num_actions - 1


def random_game(seed: int) -> list[tuple[Position, int]]:
    """Returns the positions of a random game, each with what is played, -1 at its end."""
    rng, position, found = stream(seed), GAME.start(seed), []
    while not position.over:
        legal = position.legal_actions()
        found.append((position, legal[below(rng, len(legal))]))
        position = position.play(found[-1][1])
    return [*found, (position, -1)]


@installed
def test_the_network_knows_the_rules_that_it_was_trained_by_up_to_a_pass() -> None:
    """Stones, mover and legal actions are those of Ludax' Reversi, until a seat passes: there Ludax 1.0.0 turns stones.

    So what the search shows the network is what it has learned from.
    """
    from turnier.agents.ludax.search import jax, see

    library: Any = pytest.importorskip("ludax")
    environment = library.LudaxEnvironment(game_str=importlib.import_module("ludax.games").reversi)
    step, states, plies = jax.jit(environment.step), environment.init(jax.random.PRNGKey(0)), 0
    for seed in range(6):
        state = states
        for position, action in random_game(seed):
            seen = see(position)
            if position.over or action == PASS:
                break
            assert int(state.current_player) == position.to_move and not state.terminated
            assert np.array_equal(state.legal_action_mask, seen.legal[0])
            assert np.array_equal(environment.observe(state, state.current_player), seen.stones[0])
            state, plies = step(state, np.int16(action)), plies + 1
    assert plies > 300


@installed
def test_the_search_sees_what_follows_by_our_rules() -> None:
    from turnier.agents.ludax.search import _after, see

    line = random_game(1)
    for (position, action), (after, _) in itertools.pairwise(line):
        seen = _after(see(position).words, np.array([action]))
        reward = float(after.returns[position.to_move])
        for got, expected in zip(seen, see(after, reward), strict=True):
            assert got.dtype == expected.dtype and np.array_equal(got, expected)
        assert bool(seen.over[0]) == after.over and (after.over or seen.reward[0] == 0)
    again = _after(seen.words, np.array([0]))
    assert again.over[0] and again.reward[0] == 0 and again.legal.all() and np.array_equal(again.words, seen.words)


@installed
def test_the_search_finds_what_decides_the_last_moves() -> None:
    """With six empty cells or fewer, where full-width search says that actions differ, it plays one of the best."""
    agent, exact, decided = make_agent("ludax(simulations=200,noise=0)"), AlphaBeta(depth=8), 0
    for seed in range(12):
        for position, _ in random_game(seed)[:-1]:
            empty = int((GAME.cell_values(position.state) == 0).sum())
            if empty > 6 or len(position.legal_actions()) < 2:
                continue
            values = {
                action: exact_value(exact, position.play(action), position.to_move)
                for action in position.legal_actions()
            }
            if len(set(values.values())) > 1:
                decision = agent.start(GAME, position.to_move, 1).act(position)
                assert values[decision.action] == max(values.values()), f"{position!r}: {values}"
                decided += 1
    assert decided >= 5


def exact_value(exact: AlphaBeta, position: Position, seat: int) -> float:
    """Returns what a position is worth to a seat, if both play perfectly to the end."""
    while not position.over:
        position = position.play(exact.start(GAME, position.to_move, 1).act(position).action)
    return float(position.returns[seat])


@installed
def test_the_network_alone_plays_its_preference() -> None:
    position = GAME.start().play(19)
    decisions = [make_agent("ludax(simulations=0)").start(GAME, 1, seed).act(position) for seed in (1, 2)]
    assert decisions[0].action == decisions[1].action and decisions[0].nodes == 1
    assert decisions[0].visits.sum() == 1 and -1 < decisions[0].values[decisions[0].action] < 1


@installed
def test_seeds_decide_the_noise_and_its_scale_can_be_none() -> None:
    def actions(agent: str) -> list[int]:
        return [make_agent(agent).start(GAME, 0, seed).act(GAME.start()).action for seed in range(8)]

    noisy = actions("ludax(simulations=8,noise=5)")
    assert noisy == actions("ludax(simulations=8,noise=5)") and len(set(noisy)) > 1
    assert len(set(actions("ludax(simulations=8,noise=0)"))) == 1


@installed
def test_it_beats_chance_and_a_match_repeats() -> None:
    def match(seed: int) -> Any:
        agents = (make_agent("ludax(simulations=8)").full_text(), "random")
        return play_match(MatchSpec(GAME.full_text(), agents if seed % 2 else agents[::-1], seed))

    records = [match(seed) for seed in range(1, 5)]
    assert all(record.termination == Termination.NORMAL for record in records)
    assert [record.scores[0 if seed % 2 else 1] for seed, record in enumerate(records, 1)] == [1.0] * 4
    assert match(1).plies == records[0].plies


@installed
def test_budgets_count_simulations() -> None:
    assert make_agent("ludax").within(40, "nodes") == make_agent("ludax(simulations=40)")
    with pytest.raises(UserError, match="takes only: nodes"):
        make_agent("ludax").within(20, "ms")


@installed
def test_another_network_is_another_agent() -> None:
    other = make_agent("ludax(digest=0123456789abcdef)")
    assert str(other) != str(make_agent("ludax"))
    with pytest.raises(UserError, match="must play with the network that has the digest 0123456789abcdef, got"):
        prepare(MatchSpec(GAME.full_text(), (other.full_text(), "random"), 1))


@pytest.mark.parametrize("game", ["othello(size=6)", "tictactoe", "2048"])
def test_other_games_are_refused(game: str) -> None:
    said = f"ludax plays othello(size=8), got {make_game(game)}; choose another agent."
    assert make_agent("ludax").cannot_play(make_game(game)) == said


def test_without_the_package_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ludax_agents" else found(name))
    assert Ludax().digest == ""
    with pytest.raises(
        UserError, match=r"must have the package ludax_agents, got none; pip install 'turnier\[ludax\]'"
    ):
        prepare(MatchSpec(GAME.full_text(), (Ludax().full_text(), "random"), 1))
