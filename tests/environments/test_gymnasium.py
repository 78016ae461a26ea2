"""Single environments: Gymnasium's own check on every game, opponents that play as in matches, mistakes."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence

from tests.environments.games import ALL_GAMES
from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchSpec, unpack_plies
from turnier.arena.play import play_match, replay_positions
from turnier.core.errors import UserError
from turnier.environments import BoardsEnvironment, GameEnvironment
from turnier.games.game import Game
from turnier.games.registry import GAMES


@pytest.mark.filterwarnings("ignore:.*Not able to test alternative render modes")
@pytest.mark.parametrize("game", ALL_GAMES, ids=str)
def test_gymnasium_finds_nothing_wrong(game: Game) -> None:
    check_env(GameEnvironment(game, seat=game.num_seats - 1))
    check_env(GameEnvironment(game, observation="state"))


@pytest.mark.parametrize("name", GAMES.names())
def test_every_game_has_an_id(name: str) -> None:
    env = gymnasium.make(f"turnier.environments:turnier/{name}-v0", render_mode="ansi")
    env.reset(seed=1)
    assert env.unwrapped.game == GAMES.make(name) and env.render() == env.unwrapped.game.draw(
        env.unwrapped.position.state
    )


def test_ids_take_variants() -> None:
    env = gymnasium.make("turnier/2048-v0", game="2048(size=3)", max_episode_steps=2, render_mode="svg")
    observation, info = env.reset(seed=1)
    assert observation.shape == (9,) and env.action_space.contains(int(env.action_space.sample(info["action_mask"])))
    assert [env.step(np.int64(0))[3] for _ in range(2)] == [False, True]
    assert env.render().startswith("<svg")
    boards = gymnasium.make_vec("turnier/2048-v0", num_envs=5, game="2048(size=3)", max_episode_steps=2)
    assert isinstance(boards, BoardsEnvironment) and boards.reset(seed=1)[0].shape == (5, 9)
    assert boards.max_episode_steps == 2


@pytest.mark.parametrize("seat", range(3))
def test_seeds_give_the_moves_of_a_match(seat: int) -> None:
    """The learner's seat is played by an agent here; the others reply as in a match of the same seed."""
    game, agents = GAMES.make("yavalath(size=3,players=3)"), ["mcts(iterations=20)", "greedy", "random"]
    match = play_match(MatchSpec(game.full_text(), tuple(AGENTS.make(text).full_text() for text in agents), seed=11))
    learner = AGENTS.make(agents.pop(seat))
    env = GameEnvironment(game, agents, seat)
    env.reset(seed=11)
    player, plies, gained, over = learner.start(game, seat, 11), [], 0.0, False
    while not over:
        assert env.position.to_move == seat
        plies.append(player.act(env.position).action)
        _, reward, over, _, _ = env.step(np.int64(plies[-1]))
        gained += reward
    movers = [position.to_move for position in replay_positions(match.spec, match.plies)]
    own = [int(ply) for ply, mover in zip(unpack_plies(match.plies), movers, strict=False) if mover == seat]
    assert plies == own and gained == match.scores[seat]


def test_any_other_action_changes_nothing() -> None:
    env = GameEnvironment("2048(size=2)")
    observation, info = env.reset(seed=3)
    for action in (*np.flatnonzero(info["action_mask"] == 0), 4, -1):
        same, reward, terminated, truncated, again = env.step(np.int64(action))
        assert np.array_equal(same, observation) and np.array_equal(again["action_mask"], info["action_mask"])
        assert (reward, terminated, truncated) == (0.0, False, False)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"game": "2048", "opponents": ("random",)}, "opponents in 2048 must be none"),
        ({"game": "yavalath(players=3)", "opponents": ("random",) * 3}, "each of its 2 other seats, got 3"),
        ({"game": "tictactoe", "seat": 2}, "seat must be from 0 to 1 in tictactoe, got 2"),
        ({"game": "tictactoe", "render_mode": "human"}, "render_mode must be one of ansi, svg, got human"),
        ({"game": "tictactoe", "observation": "tensor"}, "observation must be cells or state, got tensor"),
        ({"game": "tictactoe", "opponents": ("combi",)}, "spe_ed"),
        ({"game": "tictactoe", "opponents": ("json(command=bot)",)}, "must not be programs, got json"),
    ],
)
def test_mistakes_are_one_sentence(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        GameEnvironment(**arguments)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("game", ["yavalath(size=3)", "2048", "chess"])
def test_copies_do_the_same_apart_from_each_other(copied: Any, game: str) -> None:
    env = GameEnvironment(game, "mcts(iterations=5)" if game != "2048" else ())
    _, info = env.reset(seed=1)
    action = np.flatnonzero(info["action_mask"])[0]
    other = copied(env)
    assert data_equivalence(other.step(action), env.step(action), exact=True)


@pytest.mark.parametrize("missing", ["gymnasium", "pettingzoo"])
def test_a_missing_library_is_one_sentence(missing: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; import turnier.environments"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stderr.strip().splitlines()[-1].endswith("pip install 'turnier[gym]'")
