"""Environments of Gymnasium as games: they do what the environment does, agents find its rewards, faults are told."""

from __future__ import annotations

import gymnasium
import pytest

from turnier.arena.match import MatchSpec, Termination
from turnier.arena.play import play_match
from turnier.contract.games.laws import GAME_LAWS
from turnier.contract.games.playouts import law_playout_distribution
from turnier.contract.law import check_laws
from turnier.core.errors import UserError
from turnier.games.registry import GAMES


def corridor(fault: str = "", starts: int = 4, largest_return: float = 1.0) -> str:
    options = f"fault:{fault}" if fault else "none"
    sizes = f"starts={starts},max_steps=12,largest_return={largest_return}"
    return f"gymnasium(id=tests.games.corridor:corridor-v0,options={options},{sizes})"


@pytest.mark.parametrize("text", [corridor(), corridor("shrug", starts=1)])
def test_environment_keeps_the_laws(text: str) -> None:
    check_laws([law for law in GAME_LAWS if law is not law_playout_distribution], GAMES.make(text))


def test_games_do_what_the_environment_does() -> None:
    game, environment = GAMES.make("gymnasium(max_steps=30)"), gymnasium.make("CartPole-v1")
    position = game.start(3)
    observation, _ = environment.reset(seed=int(position.state[1]))
    for step in range(30):
        action = step % 3 % 2
        observation, reward, over, _, _ = environment.step(action)
        after = position.play(action)
        assert after.returns[0] - position.returns[0] == reward and after.over == (over or step == 29)
        assert game.live_state(after.state).observation.tolist() == observation.tolist()
        if after.over:
            break
        position = after


def test_the_mask_and_the_first_action_are_the_environments() -> None:
    game = GAMES.make(corridor())
    positions = [game.start(seed) for seed in range(10)]
    assert {tuple(position.legal_actions()) for position in positions} == {(1,), (0, 1)}  # by where it starts
    assert {game.live_state(position.play(1).state).observation for position in positions} == {1, 2}


@pytest.mark.parametrize("agent", ["mcts(iterations=60)", "mctse(iterations=60)", "mc(iterations=20)"])
def test_searches_find_the_end(agent: str) -> None:
    record = play_match(MatchSpec(GAMES.make(corridor()).full_text(), (agent,), 1))
    assert record.termination is Termination.NORMAL and record.scores == (1.0,)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (corridor("chance"), "must not depend on random numbers after its start, got two outcomes of action"),
        (corridor("raises"), "step of gymnasium.* raised RuntimeError: the floor is wet"),
        (corridor("nan"), "sum of rewards must be within largest_return = 1, got nan"),
        (corridor(largest_return=0.5), "largest_return = 0.5, got 1; declare a larger one"),
    ],
)
def test_faults_of_a_game_are_records(text: str, sentence: str) -> None:
    record = play_match(MatchSpec(GAMES.make(text).full_text(), ("mcts(iterations=40)",), 1))
    assert record.termination is Termination.ERROR
    with pytest.raises(AssertionError, match=sentence):
        raise AssertionError(record.error)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (corridor("lock"), "must be copied by copy.deepcopy, got: cannot pickle"),
        (corridor("shared"), "must do the same as its copies"),
        ("gymnasium(id=Pendulum-v1)", r"Pendulum-v1 must have discrete actions, got Box"),
        ("gymnasium(id=Nope-v1)", "must be an environment that Gymnasium makes, got: Environment `Nope` doesn't exist"),
        ("gymnasium(options=slippery)", "^gymnasium: options must be NAME:VALUE;NAME:VALUE or none, got 'slippery'"),
        ("gymnasium(options=slippery:true)", "must be an environment that Gymnasium makes"),
    ],
)
def test_what_cannot_be_a_game_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        GAMES.make(text).start()
