"""What is kept of games of self-play, and what networks are to say of their positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from turnier.runs.self_play.games import GameSpec, Networks, Played
from turnier.runs.self_play.window import Window, targets_of

SPEC = GameSpec("tictactoe", "puct", np.zeros(3), Networks(np.zeros(1), np.zeros(0)), 0, 0)


def game(moves: int, first: int = 0, lengths: list[int] | None = None) -> Played:
    """Returns a game whose states are numbered."""
    counts = np.array(lengths or [2] * moves, np.int64)
    states = np.arange(first, first + moves)[:, None].repeat(3, 1)
    shares = np.arange(counts.sum()).astype(np.float32) + first
    return Played(SPEC, states, np.full(moves, 0.5), counts, shares, np.array([1.0, -1.0]))


def test_the_oldest_games_go_and_positions_stay_in_order() -> None:
    window = Window(2)
    for played in (game(3), game(2, 10, [0, 4]), game(1, 20)):
        window.add(played, np.ones((len(played.states), 1), np.float32))
    lessons = window.lessons()
    assert lessons.states[:, 0].tolist() == [10, 11, 20]
    assert lessons.ends.tolist() == [0, 0, 4, 6]
    assert lessons.policies.tolist() == [10, 11, 12, 13, 20, 21]


def test_targets_are_results_shared_with_what_was_found() -> None:
    played = Played(
        SPEC, np.zeros((3, 1), np.int64), np.array([0.5, -0.2, np.nan]), np.zeros(3, np.int64), np.zeros(0, np.float32),
        np.array([1.0, -1.0]),
    )  # fmt: skip
    movers = np.array([0, 1, 0])
    assert targets_of(played, movers, 1, 0.0)[:, 0].tolist() == [1, 1, 1]
    assert targets_of(played, movers, 1, 0.5)[:, 0].tolist() == pytest.approx([0.75, 0.6, 1])
    three = Played(SPEC, played.states, played.values, played.lengths, played.policies, np.array([1.0, -0.5, -0.5]))
    assert targets_of(three, movers, 3, 0.5).tolist() == [[1, -0.5, -0.5]] * 3


def filled() -> dict[str, Any]:
    window = Window(5)
    window.add(game(3), np.ones((3, 1), np.float32))
    window.add(game(2, 10, [0, 4]), np.ones((2, 1), np.float32))
    return window.arrays()


def test_what_was_written_is_restored() -> None:
    restored = Window(5)
    restored.restore(filled(), words=3, outputs=1, num_actions=9)
    for name, array in restored.arrays().items():
        assert array.dtype == filled()[name].dtype and (array == filled()[name]).all()
    empty = Window(5)
    empty.restore(Window(5).arrays(), words=3, outputs=1, num_actions=9)
    assert empty.arrays().keys() == {"moves"}


@pytest.mark.parametrize(
    "damage",
    [
        {"moves": np.array([3, 3])},
        {"moves": np.array([5, 0])},
        {"moves": np.array([3.0, 2.0])},
        {"states": np.zeros((5, 2), np.int64)},
        {"targets": np.zeros((5, 2), np.float32)},
        {"targets": np.zeros((5, 1))},
        {"ends": np.array([0, 2, 1, 6, 6, 10])},
        {"ends": np.array([1, 2, 4, 6, 6, 10])},
        {"ends": np.array([0, 0, 0, 0, 0, 10])},
        {"policies": np.zeros(9, np.float32)},
    ],
)
def test_arrays_that_fit_no_game_are_refused(damage: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="its "):
        Window(5).restore(filled() | damage, words=3, outputs=1, num_actions=9)
