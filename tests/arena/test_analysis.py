"""Analyses: right values and lines, deeper with time, the same for the same seed, and stopped when asked."""

from __future__ import annotations

import dataclasses
import threading
import time

import pytest

from turnier.agents.registry import make_agent
from turnier.arena.analysis import AgentAnalysis, analyse
from turnier.arena.analysis.analysis import deepened
from turnier.arena.repeated_search import SearchRecord, SearchSpec, search_position
from turnier.core.errors import UserError
from turnier.games.registry import make_game

WON = "X X . / O O . / . . ."  # X wins at c1


def last(game: str, board: str, *agents: str, **options: float) -> tuple[AgentAnalysis, ...]:
    *_, found = analyse(make_game(game).position_of(board), agents, **options)  # type: ignore[arg-type]
    return found.agents


def test_the_winning_move_is_found_by_all() -> None:
    for found in last("tictactoe", WON, "mcts(iterations=200)", "alphabeta(depth=3)", "mc(iterations=50)", repeats=4):
        assert found.best == 2 and found.certainty == 1
        assert found.searches == 4 and found.votes[found.legal.index(2)] == 4 and found.certainty_interval.low < 0.6
        assert max(found.values) == found.values[found.legal.index(2)] > 0.8 and found.nodes > 0
        assert [ply.name for ply in found.line] == ["c1"]


def test_lines_alternate_and_have_outcomes_of_chance() -> None:
    game = make_game("2048(size=3)")
    (found,) = last("2048(size=3)", "2 . . / . 2 . / . . .", "mc(iterations=5)", repeats=2, line=3)
    assert [ply.seat for ply in found.line] == [0, -1, 0, -1, 0]
    position = game.position_of("2 . . / . 2 . / . . .")
    for ply in found.line:
        position = position.play(ply.ply, draw_chance=False)
    (found,) = last("tictactoe", "moves b2", "alphabeta(depth=9)", repeats=1, line=20)
    assert [ply.seat for ply in found.line] == [1, 0] * 4 and found.line[0].name in ("a1", "c1", "a3", "c3")


def test_the_same_seed_gives_the_same_analyses() -> None:
    one, same, other = (
        last("yavalath(size=3)", "moves", "mcts(iterations=30)", "random", repeats=3, doublings=2, seed=seed)
        for seed in (1, 1, 2)
    )
    facts = [[(a.searching, a.visits, a.values, a.votes, a.line) for a in found] for found in (one, same, other)]
    assert facts[0] == facts[1] != facts[2]
    assert one[0].searching == "mcts(iterations=120)" and one[0].level == 2 and one[1].level == 0


def test_it_grows_search_by_search() -> None:
    position = make_game("tictactoe").start()
    sizes = [[a.searches for a in found.agents] for found in analyse(position, ["random", "greedy"], repeats=2)]
    assert sizes == [[1], [1, 1], [2, 1], [2, 2]]


@pytest.mark.parametrize(
    ("agent", "level", "deeper"),
    [
        ("mcts(iterations=100)", 3, "mcts(iterations=800)"),
        ("mcts(iterations=100,milliseconds=5)", 1, "mcts(iterations=100,milliseconds=10)"),
        ("mc(iterations=10)", 1, "mc(iterations=20)"),
        ("alphabeta(depth=3)", 2, "alphabeta(depth=5)"),
        ("alphabeta(depth=255,nodes=50)", 1, "alphabeta(depth=255,nodes=100)"),
        ("maxn(depth=100)", 1, None),
        ("majority(agent=mctse(iterations=10),members=3)", 1, "majority(agent=mctse(iterations=20),members=3)"),
        ("random", 1, None),
    ],
)
def test_agents_deepen_by_their_own_budget(agent: str, level: int, deeper: str | None) -> None:
    found = deepened(make_agent(agent), level)
    assert found == (None if deeper is None else make_agent(deeper))


def test_time_and_an_event_end_it() -> None:
    position, stop = make_game("yavalath").start(), threading.Event()
    began = time.monotonic()
    *_, found = analyse(position, ["mcts(iterations=20)"], seconds=0.3, repeats=2)
    assert found.agents[0].level > 2 and found.agents[0].searches == 2 and time.monotonic() - began < 20
    endless = analyse(position, ["mcts(iterations=20)", "random"], seconds=3600, stop=stop)
    next(endless)
    stop.set()
    assert len(list(endless)) <= 1


def test_a_level_that_begins_ends_though_its_first_search_was_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first search of the second level uses up the time; what is said is still said by all searches of a level."""
    searched: list[str] = []

    def slower(spec: SearchSpec) -> SearchRecord:
        searched.append(spec.agent)
        seconds = 2000.0 if len(searched) == 4 else 1.0
        clock[0] += seconds
        return dataclasses.replace(search_position(spec), seconds=seconds)

    real = time.perf_counter
    clock = [real()]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr("turnier.arena.analysis.analysis.searched_position", slower)
    *_, found = analyse(make_game("tictactoe").start(), ["mcts(iterations=20)"], seconds=100.0, repeats=3, line=0)
    assert (found.agents[0].level, found.agents[0].searches, len(searched)) == (1, 3, 6)
    searched.clear()
    clock[0] = real()
    *_, found = analyse(make_game("tictactoe").start(), ["mc(iterations=9)"], seconds=1.5, repeats=3, line=0)
    assert (found.agents[0].level, found.agents[0].searches) == (0, 1)  # a repeat of the first level has to fit


def test_mistakes_are_sentences() -> None:
    over, start = make_game("tictactoe").position_of("XXX/OO./..."), make_game("tictactoe").start()
    for position, agents, options, sentence in (
        (over, ["random"], {}, "a position before the end"),
        (start, [], {}, "needs an agent"),
        (start, ["human"], {}, "a person plays at a board"),
        (start, ["random"], {"seconds": -1.0}, "above 0"),
        (start, ["random"], {"repeats": 0}, "at least 1 search"),
        (start, ['json(command="bot")'], {}, "cannot search a single position, got json"),
    ):
        with pytest.raises(UserError, match=sentence):
            analyse(position, agents, **options)  # type: ignore[arg-type]
