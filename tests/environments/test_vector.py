"""n boards in one compiled call: bit for bit what single environments and positions do, with legal masks."""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers import TimeLimit

from tests.environments.games import ALL_GAMES
from turnier.core.errors import UserError
from turnier.environments import BoardsEnvironment, GameEnvironment
from turnier.environments.shown import Shown
from turnier.games.game import Game

N, SEED = 3, 5


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("observation", ["cells", "state"])
@pytest.mark.parametrize("limit", [-1, 7])
def test_boards_do_what_single_environments_do(mode: str, observation: str, limit: int) -> None:
    """Through Gymnasium's own vector environment: observations, rewards, ends, infos, and who begins again when."""

    def single() -> Any:
        env = GameEnvironment("2048(size=2)", observation=observation)
        return TimeLimit(env, limit) if limit > 0 else env

    boards = BoardsEnvironment("2048(size=2)", N, observation, mode, limit)
    theirs = SyncVectorEnv([single] * N, autoreset_mode=mode)
    assert boards.observation_space == theirs.observation_space and boards.action_space == theirs.action_space
    assert data_equivalence(boards.reset(seed=SEED), theirs.reset(seed=SEED), exact=True)
    ends = 0
    for step in range(60):
        actions = boards.sample_legal()
        actions[0] = step % 4  # may be illegal
        ours = boards.step(actions)
        ends += int(ours[2].sum() + ours[3].sum())
        assert data_equivalence(ours, theirs.step(actions), exact=True)
    assert ends > 3
    assert data_equivalence(boards.reset(), theirs.reset(), exact=True)
    assert data_equivalence(boards.reset(seed=[1, None, 2]), theirs.reset(seed=[1, None, 2]), exact=True)


@pytest.mark.parametrize("game", ALL_GAMES, ids=str)
def test_boards_do_what_positions_do(game: Game) -> None:
    """Every game, with any number of seats: the seat to move, what it sees, its legal actions, what all get."""
    boards, shown = BoardsEnvironment(game, N), Shown.of(game)
    seen, info = boards.reset(seed=SEED)
    positions = [game.start(SEED + i) for i in range(N)]
    for _ in range(40):
        for i, position in enumerate(positions):
            assert np.array_equal(seen[i], shown.observation(position, max(position.to_move, 0)))
            assert np.array_equal(info["action_mask"][i], shown.mask(position))
            assert game.num_seats == 1 or info["to_move"][i] == position.to_move
        actions = boards.sample_legal()
        seen, reward, terminated, truncated, info = boards.step(actions)
        for i, (before, action) in enumerate(zip(positions, actions.tolist(), strict=True)):
            positions[i] = after = before.start_again() if before.over else before.play(action)
            gained = np.zeros(game.num_seats) if before.over else after.returns - before.returns
            assert np.array_equal(info["rewards"][i] if game.num_seats > 1 else reward[i : i + 1], gained)
            assert reward[i] == gained[max(before.to_move, 0)]
            assert terminated[i] == after.over and not truncated[i]


def test_actions_that_are_not_legal_change_nothing() -> None:
    boards = BoardsEnvironment("hex(size=3)", 4)
    seen, info = boards.reset(seed=1)
    boards.step(np.full(4, 4))
    seen, info = boards._observed(), boards._info()
    for action in (4, -1, 9, 2**40):
        again, reward, terminated, _, infos = boards.step(np.full(4, action))
        assert np.array_equal(again, seen) and not reward.any() and not terminated.any()
        assert np.array_equal(infos["action_mask"], info["action_mask"])


def test_what_was_returned_is_the_callers() -> None:
    """Writing to masks and observations does no harm to later steps."""
    boards, spoilt = BoardsEnvironment("2048", 4), BoardsEnvironment("2048", 4)
    boards.reset(seed=1)
    for array in (spoilt.reset(seed=1)[0], spoilt.step(np.zeros(4, np.int64))[4]["action_mask"]):
        array[:] = 1
    boards.step(np.zeros(4, np.int64))
    assert data_equivalence(boards.step(np.ones(4)), spoilt.step(np.ones(4)), exact=True)


def test_some_boards_begin_again() -> None:
    boards = BoardsEnvironment("2048", 3, autoreset_mode="Disabled")
    first, _ = boards.reset(seed=1)
    later = boards.step(boards.sample_legal())[0]
    chosen = np.array([False, True, False])
    seen, _ = boards.reset(seed=1, options={"reset_mask": chosen})
    assert np.array_equal(seen, np.where(chosen[:, None], first, later))


def test_legal_actions_are_drawn_evenly() -> None:
    boards = BoardsEnvironment("tictactoe", 6000)
    boards.reset(seed=1)
    boards.step(np.full(6000, 4))
    counts = np.bincount(boards.sample_legal(), minlength=9)
    assert counts[4] == 0 and (np.abs(np.delete(counts, 4) - 750) < 5 * np.sqrt(750)).all()


def test_drawings() -> None:
    boards = BoardsEnvironment("tictactoe", 2, render_mode="ansi")
    boards.reset(seed=1)
    assert boards.render() == (boards.game.draw(boards.game.start().state),) * 2


def test_mistakes_are_one_sentence() -> None:
    boards = BoardsEnvironment("2048", 2)
    with pytest.raises(UserError, match="actions must be one for each of 2 boards"):
        boards.step(np.zeros(3))
    with pytest.raises(UserError, match="seeds must be one number or one for each of 2 boards, got 3"):
        boards.reset(seed=[1, 2, 3])
    with pytest.raises(UserError, match="reset_mask must have a flag for each of 2 boards"):
        boards.reset(options={"reset_mask": [True]})
    with pytest.raises(UserError, match="num_envs must be at least 1"):
        BoardsEnvironment("2048", 0)
    with pytest.raises(UserError, match="max_episode_steps must be at least 1"):
        BoardsEnvironment("2048", max_episode_steps=0)


def digest(game: str) -> str:
    boards = BoardsEnvironment(game, 4)
    parts = [boards.reset(seed=SEED)[0]]
    for _ in range(15):
        seen, reward, terminated, _, info = boards.step(boards.sample_legal())
        parts += [seen, reward, terminated, info["action_mask"]]
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


def test_plain_python_gives_the_same_bits() -> None:
    code = "from tests.environments.test_vector import digest; print(digest('2048'), digest('yavalath(players=3)'))"
    run = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True
    )
    assert run.stdout.split() == [digest("2048"), digest("yavalath(players=3)")], run.stderr


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda boards: pickle.loads(pickle.dumps(boards))])
def test_copies_do_the_same_apart_from_each_other(copied: Any) -> None:
    boards = BoardsEnvironment("2048", 4)
    boards.reset(seed=1)
    boards.step(boards.sample_legal())
    other = copied(boards)
    runs = [[each.step(each.sample_legal()) for _ in range(5)] for each in (boards, other)]
    assert data_equivalence(*runs, exact=True)


def test_failures_of_games_in_python_are_one_sentence() -> None:
    """What a game's methods raise inside the compiled call is raised when it returns."""
    boards = BoardsEnvironment("gymnasium(id=tests.games.corridor:corridor-v0,options=fault:raises)", 2)
    boards.reset(seed=1)
    boards.step(np.ones(2))
    boards.step(np.ones(2))
    with pytest.raises(UserError, match="the floor is wet"):
        boards.step(np.ones(2))
