"""The agent follows the tables where they know a board, in every symmetry, and leaves all else to the other agent."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from turnier.agents.formations.lookup import action_behind
from turnier.agents.formations.sizes import six
from turnier.agents.formations.solver import Solver
from turnier.agents.registry import make_agent
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_match, play_matches
from turnier.contract.agents import AGENT_LAWS
from turnier.contract.law import check_laws
from turnier.core.errors import UserError
from turnier.games.game import Position
from turnier.games.registry import make_game

GAME = make_game("2048")
# The goal is a chain of 16, 8, 4, 4 below the 32 or beside the 256.
SMALL = six(5)
BOARD = [[1024, 512, 256, 2], [32, 64, 128, 2], [4, 8, 0, 0], [2, 0, 0, 0]]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "one.tables"
    Solver(path, (SMALL,), 2).solve(lambda done: None, lambda done: None)
    return path


def position(rows: list[list[int]]) -> Position:
    return GAME.position(GAME.position_from_tiles(rows))


def decide(agent: str, rows: list[list[int]]) -> tuple[int, list[float]]:
    decision = make_agent(agent).start(GAME, 0, 1).act(position(rows))
    return decision.action, decision.values.tolist()


def imaged(rows: list[list[int]], picture: int) -> list[list[int]]:
    cells = np.array(rows)
    cells = cells[:, ::-1] if picture & 1 else cells
    cells = cells[::-1] if picture & 2 else cells
    cells = cells.T if picture & 4 else cells
    found: list[list[int]] = cells.tolist()
    return found


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda player: pickle.loads(pickle.dumps(player))])
def test_a_copy_refers_to_the_table_by_itself(copied: Any, table: Path) -> None:
    player = make_agent(f"formations(table={table},otherwise=mcts(iterations=5))").start(GAME, 0, 1)
    other, followed = copied(player), player.act(position(BOARD))
    del player
    assert other.act(position(BOARD)).values.tolist() == followed.values.tolist()


def test_the_most_probable_action_is_followed_in_every_symmetry(table: Path) -> None:
    agent = f"formations(table={table},otherwise=random)"
    rows = [*BOARD[:2], [0, 4, 2, 0], [4, 2, 0, 2]]
    action, values = decide(agent, rows)
    assert values[action] == max(values) > 0.2 and sum(value > 0 for value in values) >= 2
    for picture in range(8):
        decided, chances = decide(agent, imaged(rows, picture))
        assert sorted(chances) == sorted(values)
        assert action_behind(decided, picture) == action or values[action_behind(decided, picture)] == values[action]


def test_probabilities_are_read_as_such_whoever_else_decides(table: Path) -> None:
    """By the other agent's scale: points of a heuristic that are divided by the largest score, or points."""
    found = []
    for other in ("random", "greedy", "greedy(evaluator=corner2048)"):
        agent = make_agent(f"formations(table={table},otherwise={other})")
        scale = agent.value_unit(GAME).scale
        assert scale == make_agent(other).value_unit(GAME).scale
        found.append(np.array(decide(str(agent), BOARD)[1]) * scale)
    assert 0.2 < found[0].max() <= 1
    assert np.allclose(found, found[0], rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ((0, 0, 512), "neighbours are equal"),
        ((1, 0, 16), "a fixed tile is too small"),
        ((3, 3, 64), "a free tile is too large"),
        ((0, 0, 0), "a fixed cell is empty"),
    ],
)
def test_the_other_agent_decides_elsewhere(table: Path, change: tuple[int, int, int], why: str) -> None:
    rows = [row.copy() for row in BOARD]
    row, column, tile = change
    rows[row][column] = tile
    for picture in range(8):
        board = imaged(rows, picture)
        assert decide(f"formations(table={table},otherwise=greedy)", board) == decide("greedy", board), why


def test_a_threshold_leaves_improbable_goals_to_the_other_agent(table: Path) -> None:
    assert decide(f"formations(table={table},six=1,otherwise=greedy)", BOARD) == decide("greedy", BOARD)


def test_it_keeps_the_laws_of_agents(table: Path) -> None:
    agent = make_agent(f"formations(table={table},otherwise=expectimax(depth=1))")
    check_laws(AGENT_LAWS, agent, GAME)


def test_compiled_matches_equal_those_move_by_move(table: Path) -> None:
    text = make_agent(f"formations(table={table},six=0.5,otherwise=expectimax(depth=2))").full_text()
    specs = [MatchSpec(GAME.full_text(), (text,), seed) for seed in range(3)]
    together = list(play_matches(specs))
    assert [record.plies for record in together] == [play_match(spec).plies for spec in specs]
    alone = [MatchSpec(GAME.full_text(), (make_agent("expectimax(depth=2)").full_text(),), seed) for seed in range(3)]
    assert [record.plies for record in together] != [play_match(spec).plies for spec in alone]


def test_without_a_table_the_other_agent_decides_everywhere() -> None:
    specs = [MatchSpec("2048(size=3)", (text,), 1) for text in ("formations(otherwise=greedy)", "greedy")]
    assert play_match(specs[0]).plies == play_match(specs[1]).plies


def test_the_digest_belongs_to_the_text(table: Path) -> None:
    agent = make_agent(f"formations(table={table})")
    digest = agent.full_text().partition("digest=")[2][:16]
    assert make_agent(f"formations(table={table},digest={digest})") == agent
    other = make_agent(f"formations(table={table},digest=0123456789abcdef)")
    with pytest.raises(UserError, match="must have the digest 0123456789abcdef, got"):
        other.start(GAME)


@pytest.mark.parametrize(
    ("agent", "game", "sentence"),
    [
        ("formations(table={})", "2048(size=3)", "4x4 board"),
        ("formations(table={},otherwise=majority)", "2048", "compiled code"),
        ("formations(table={},otherwise=expectimax(milliseconds=5))", "2048", "compiled code"),
    ],
)
def test_what_it_cannot_play_is_a_sentence(table: Path, agent: str, game: str, sentence: str) -> None:
    reason = make_agent(agent.format(table)).cannot_play(make_game(game))
    assert reason is not None and sentence in reason


def test_a_missing_table_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no file .* with formation tables"):
        make_agent(f"formations(table={tmp_path / 'none'})")
