"""The best move of a position, and games that are played on from every move: against plain Python and exact values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.agents.positions import board_position
from turnier.agents.registry import make_agent
from turnier.arena.analysis import Analysis, Outlook, PlayingOn, best_move
from turnier.arena.analysis.outlook import Continuations, goal_of
from turnier.arena.match import derive_seed
from turnier.core.errors import UserError
from turnier.core.kernel import JIT
from turnier.core.rng import streams
from turnier.games.abi import CHANCE
from turnier.games.game import Position
from turnier.games.registry import make_game

FOREVER = 1000.0  # seconds
GAMES = 40 if JIT else 4
WINS = "X X . / O O . / . . ."


def last(position: Position, agent: str, **options: object) -> tuple[Analysis, Outlook]:
    asked = PlayingOn(**{"seconds": FOREVER, "games": GAMES} | options)  # type: ignore[arg-type]
    *_, found = best_move(position, agent, asked)
    assert found.outlook is not None
    return found, found.outlook


def test_a_win_is_found_and_every_game_after_it_is_won() -> None:
    position = make_game("tictactoe").position_of(WINS)
    found, outlook = last(position, "expectimax(depth=9)", player="expectimax(depth=9)", games=3)
    (agent,) = found.agents
    assert agent.best == 2 and position.game.action_name(2) == "c1"
    won = agent.legal.index(2)
    assert agent.values[won] == 1 and outlook.moves[won].results == (1.0, 1.0, 1.0)
    assert outlook.moves[won].chance[:1] == (1.0,) and outlook.moves[won].chance.low < 1
    # After any move, the best play comes to what the exact search says.
    assert [set(one.results) for one in outlook.moves] == [{value} for value in agent.values]
    assert -1 in agent.values


@pytest.mark.parametrize("agent", ["mc(iterations=3)", "greedy", "random"])
@pytest.mark.parametrize("game", ["2048(size=2)", "tictactoe", "spe_ed(width=8,height=8)"])
def test_compiled_games_are_those_of_plain_python(game: str, agent: str) -> None:
    """The same plies by the same seed: chance, the agents' random numbers, what seats may know."""
    position = make_game(game).start(5)
    made = make_agent(agent)
    if made.cannot_play(position.game):
        pytest.skip("spe_ed hides what others have chosen")
    games, stop = Continuations(position, made), np.zeros(1, np.int64)
    for seed in range(5 if JIT else 1):
        for action in position.legal_actions():
            after = position.stepped(action)
            end, expected = games.play(after, seed, stop), by_plain_python(after, agent, seed)
            assert end is not None and end.over
            assert end.state.tolist() == expected.state.tolist() and end.returns.tolist() == expected.returns.tolist()
            in_python = games._play_in_python(after, seed, stop)
            assert in_python is not None and in_python.state.tolist() == expected.state.tolist()


def by_plain_python(position: Position, agent: str, seed: int) -> Position:
    game = position.game
    chance = streams(seed, 1 + game.num_seats)[0]
    players = [make_agent(agent).start(game, seat, seed) for seat in range(game.num_seats)]
    position = Position(game, position.state.copy(), position.returns.copy(), chance)
    while not position.over:
        if position.to_move == CHANCE:
            position = position.stepped(position.draw_outcome())
        else:
            seen = game.position(position.view(position.to_move), position.returns)
            position = position.stepped(players[position.to_move].act(seen).action)
    return position


def test_chances_of_a_tile_are_shares_of_games_that_reach_it() -> None:
    """Of a board on which one move makes the tile at once, and the other one of two moves may lose it forever."""
    position = board_position(((4, 4), (2, 8)))
    _, outlook = last(position, "random", goal=16)
    assert str(outlook.goal) == "max_tile 16"
    for action, one in zip(position.legal_actions(), outlook.moves, strict=True):
        ends = [
            by_plain_python(position.stepped(action), "random", derive_seed(1, _id(position), "on", number))
            for number in range(GAMES)
        ]
        assert one.results == tuple(float(end.returns[0]) for end in ends)
        assert one.reached == sum(position.game.facts(end.state)["max_tile"] >= 16 for end in ends)
        assert one.chance.value == one.reached / GAMES == one.data(outlook.goal)["chance"]
        assert one.result.mean == pytest.approx(np.mean(one.results))


def _id(position: Position) -> str:
    from turnier.arena.repeated_search import SeenPosition

    return SeenPosition.of(position).id


def test_the_next_large_tile() -> None:
    for tiles, least in ((((2, 4), (8, 2)), 1024), (((1024, 4), (8, 2)), 2048), (((32768, 4), (8, 2)), 65536)):
        assert goal_of(board_position(tiles)).least == least  # type: ignore[union-attr]
    assert goal_of(board_position(((8, 4), (0, 2))), 16).least == 16  # type: ignore[union-attr]
    assert str(goal_of(make_game("tictactoe").start())) == "win"
    with pytest.raises(UserError, match="max_tile to reach must be above 8"):
        goal_of(board_position(((8, 4), (0, 2))), 8)
    with pytest.raises(UserError, match="has no milestone"):
        goal_of(make_game("tictactoe").start(), 16)


def test_a_draw_is_not_a_win() -> None:
    position = make_game("tictactoe").position_of("X O X / X O O / O X .")
    _, outlook = last(position, "random", games=2)
    assert outlook.moves[0].results == (0.0, 0.0) and outlook.moves[0].reached == 0


def test_no_game_ends_in_no_time_and_nothing_is_claimed() -> None:
    position = make_game("2048").start(1)
    _, outlook = last(position, "mc(iterations=2)", seconds=1e-9, player="mc(iterations=100)")
    assert outlook.games == 0
    for one in outlook.moves:
        data = one.data(outlook.goal)
        assert data["games"] == 0 and data["chance"] is data["result"] is data["chance_low"] is None
    *_, none = best_move(position, "mc(iterations=2)")
    assert none.outlook is None


def test_rounds_end_with_the_seconds() -> None:
    _, outlook = last(make_game("tictactoe").start(), "random", seconds=0.2, games=10**6)
    assert 0 < outlook.games < 10**6
    assert math.isfinite(outlook.moves[0].result.half_width)


def test_who_plays_on() -> None:
    for agent, quick in (
        (
            "expectimax(depth=3,downgrade=32768,evaluator=ntuple(network=4x6))",
            "expectimax(depth=1,evaluator=ntuple(network=4x6),downgrade=32768)",
        ),
        ("expectimax(depth=3,evaluator=rows2048)", "expectimax(evaluator=rows2048())"),
        ("expectimax(depth=1,evaluator=rows2048)", "expectimax(depth=1,evaluator=rows2048())"),
        ("mcts(iterations=1000)", "mcts(iterations=50)"),
        ("mcts(milliseconds=1000)", "mcts(iterations=50)"),
        ("mcts(iterations=20)", "mcts(iterations=20)"),
        ("random", "random"),
    ):
        assert str(make_agent(agent).quick()) == quick


def test_agents_that_need_no_file() -> None:
    for game in ("2048", "tictactoe", "2048(size=3)", "chess"):
        assert make_agent(make_game(game).default_agent).cannot_play(make_game(game)) is None
    assert make_game("2048").default_agent == "expectimax(depth=3,evaluator=rows2048)"


def test_mistakes_are_sentences() -> None:
    position = make_game("tictactoe").start()
    over = make_game("tictactoe").position_of("X X X / O O . / . . .")
    for arguments, options, sentence in (
        ((over, "random"), {}, "a position before the end"),
        ((position, "random"), {"seconds": 0}, "seconds of games must be above 0"),
        ((position, "random"), {"games": 0}, "must be 1 or more"),
        ((position, "human"), {}, "a person plays at a board"),
        ((position, "random"), {"player": "human"}, "a person plays at a board"),
        ((position, "expectimax(evaluator=rows2048)"), {}, "rows2048"),
    ):
        with pytest.raises(UserError, match=sentence):
            best_move(*arguments, PlayingOn(**options))  # type: ignore[arg-type]
