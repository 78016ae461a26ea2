"""Five games move for move against OpenSpiel: who moves, what is legal, when a game is over, and what it returns.

Source: Lanctot et al., "OpenSpiel: A Framework for Reinforcement Learning in Games", 2019; https://openspiel.readthedocs.io.
Its action numbers are ours in all five; `NAMES` compares what they mean through the names of the actions.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pyspiel
import pytest

from turnier.core.kernel import JIT
from turnier.games.game import Game, Position
from turnier.games.perft import perft
from turnier.games.registry import make_game

GAMES = 200 if JIT else 10  # random games of each pair
PAIRS = {  # ours, and the same game in OpenSpiel
    "connect_four": "connect_four",
    "connect_four(rows=4,columns=4)": "connect_four(rows=4,columns=4)",
    "connect_four(rows=7,columns=5)": "connect_four(rows=7,columns=5)",
    "hex": "hex",
    "hex(size=2)": "hex(board_size=2)",
    "hex(size=5)": "hex(board_size=5)",
    "hex(size=4,swap=true)": "hex(board_size=4,swap=True)",
    "nim": "nim(is_misere=False)",
    "nim(misere=true)": "nim",
    "nim(piles=9;2;4)": "nim(pile_sizes=9;2;4,is_misere=False)",
    "othello": "othello",
}


def nim_name(game: Game, action: int) -> str:
    number, pile = divmod(action, game.num_cells)
    return f"pile:{pile + 1}, take:{number + 1};"


# OpenSpiel's name of an action of ours.
NAMES: dict[str, Callable[[Game, int, int], str]] = {
    "connect_four": lambda game, seat, action: "xo"[seat] + str(action),
    "hex": lambda game, seat, action: game.action_name(action),
    "nim": lambda game, seat, action: nim_name(game, action),
    "othello": lambda game, seat, action: game.action_name(action),
}


def same_position(ours: Position, theirs: pyspiel.State) -> bool:
    """Whether the game continues; raises AssertionError where mover, legal actions or returns differ."""
    own = (ours.over, ours.returns.tolist(), ours.over or ours.to_move, ours.legal_actions())
    over = theirs.is_terminal()
    other = (over, theirs.returns(), over or theirs.current_player(), theirs.legal_actions())
    assert own == other, f"OpenSpiel has {other} in\n{theirs}\n{ours.game} has {own} in\n{ours}"
    return not over


@pytest.mark.parametrize(("own", "other"), PAIRS.items(), ids=list(PAIRS))
def test_random_games_agree(own: str, other: str) -> None:
    game, theirs_game = make_game(own), pyspiel.load_game(other)
    ends: set[tuple[float, ...]] = set()
    for seed in range(GAMES):
        choose = random.Random(seed)
        ours, theirs = game.start(seed), theirs_game.new_initial_state()
        while same_position(ours, theirs):
            action = choose.choice(ours.legal_actions())
            ours = ours.play(action)
            theirs.apply_action(action)
        ends.add(tuple(theirs.returns()))
    assert len(ends) > 1  # both won


@pytest.mark.parametrize("own", NAMES)
def test_action_numbers_mean_the_same(own: str) -> None:
    game = make_game(own)
    ours, theirs = game.start(), pyspiel.load_game(PAIRS[own]).new_initial_state()
    while same_position(ours, theirs):
        seat, legal = ours.to_move, ours.legal_actions()
        for action in legal:
            assert NAMES[own](game, seat, action) == theirs.action_to_string(seat, action)
        ours = ours.play(legal[-1])
        theirs.apply_action(legal[-1])


@pytest.mark.parametrize("superko", [True, False])
@pytest.mark.parametrize(("size", "komi", "games"), [(5, 0.0, GAMES), (9, 7.5, GAMES // 10)])
def test_go_agrees_until_a_position_comes_back(size: int, komi: float, games: int, superko: bool) -> None:
    """There OpenSpiel ends the game, which nobody has won; ours forbids the move or, with a simple ko, continues."""
    game = make_game(f"go(size={size},komi={komi},superko={str(superko).lower()})")
    theirs_game = pyspiel.load_game(f"go(board_size={size},komi={komi},max_game_length={3 * size**2})")
    repeated, ends = 0, set()
    for seed in range(games):
        choose = random.Random(seed)
        ours, theirs = game.start(seed), theirs_game.new_initial_state()
        while not ours.over:
            surplus = set(theirs.legal_actions()) - set(ours.legal_actions())
            assert all(theirs.child(action).is_terminal() for action in surplus)
            assert theirs.legal_actions() == sorted([*ours.legal_actions(), *surplus]) and not (surplus and not superko)
            repeated += len(surplus)
            action = choose.choice(ours.legal_actions())
            ours = ours.play(action)
            theirs.apply_action(action)
            if theirs.is_terminal() and not ours.over:
                assert not superko and theirs.returns() == [0, 0]
                repeated += 1
                break
            assert theirs.is_terminal() == ours.over and theirs.returns() == ours.returns.tolist()
        ends.add(tuple(theirs.returns()))
    assert len(ends) > 1 and (repeated or size == 9)


@pytest.mark.parametrize(("size", "depth"), [(5, 3), (9, 2)])
def test_go_has_as_many_lines(size: int, depth: int) -> None:
    def lines(state: pyspiel.State, plies: int) -> int:
        if state.is_terminal():
            return 1
        if plies == 1:
            return len(state.legal_actions())
        return sum(lines(state.child(action), plies - 1) for action in state.legal_actions())

    theirs = pyspiel.load_game(f"go(board_size={size})").new_initial_state()
    game = make_game(f"go(size={size})")
    assert perft(game, game.start().state, depth)[0] == lines(theirs, depth)


def test_othello_games_pass() -> None:
    """The games above reach the pass, whose rule is the one that programs disagree on."""
    game, passes = make_game("othello"), 0
    for seed in range(GAMES):
        choose, position = random.Random(seed), game.start()
        while not position.over:
            passes += position.legal_actions() == [64]
            position = position.play(choose.choice(position.legal_actions()))
    assert passes > GAMES // 10


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("connect_four(rows=5)", "connect_four"),
        ("hex(size=4)", "hex(num_rows=4,num_cols=5)"),
        ("nim", "nim"),
        ("nim(piles=1;3;5;6)", "nim(is_misere=False)"),
    ],
)
def test_the_comparison_notices_another_game(own: str, other: str) -> None:
    with pytest.raises(AssertionError):
        test_random_games_agree(own, other)
