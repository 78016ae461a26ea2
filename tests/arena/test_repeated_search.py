"""Repeated searches of positions of real games: which positions, the same results from any executor, bad agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from tests.contract.tiny_games import Pennies
from turnier.agents.agent import Agent, Decision, Player
from turnier.arena import repeated_search
from turnier.arena.match import NO_ACTION, MatchRecord
from turnier.arena.play import play_matches, replay_positions
from turnier.arena.positions import choose_by_move, choose_positions, collector_matches, search_specs
from turnier.arena.repeated_search import (
    SearchRecord,
    SearchSpec,
    SeenPosition,
    search_position,
    search_positions,
    searched_position,
)
from turnier.arena.workers.executor import SEARCHES
from turnier.arena.workers.make import make_executor
from turnier.arena.workers.where import Where
from turnier.core.errors import UserError
from turnier.games.game import Game, Position
from turnier.games.registry import make_game


@pytest.fixture(scope="module")
def games_2048() -> list[MatchRecord]:
    return play_matches(collector_matches("2048", "random", 6, seed=3))


def test_groups_hold_different_positions_of_the_games_spread_over_them(games_2048: list[MatchRecord]) -> None:
    """By replaying: every chosen position is one of a game, in its group, and every game that has some gives some."""
    chosen = choose_positions(games_2048, 4, seed=1)
    seen = {record.spec.id: set[str]() for record in games_2048}
    sizes: dict[tuple[int, int], set[str]] = {}
    for record in games_2048:
        for position in replay_positions(record.spec, record.plies):
            if len(position.legal_actions()) > 1:
                position_id = SeenPosition.of(position).id
                seen[record.spec.id].add(position_id)
                empty = int((position.game.cell_values(position.state) == 0).sum())
                sizes.setdefault((len(position.legal_actions()), empty), set()).add(position_id)
    assert list(chosen) == sorted(sizes)
    for group, positions in chosen.items():
        picked = {position.id for position in positions}
        assert picked <= sizes[group] and len(picked) == len(positions) == min(4, len(sizes[group]))
        givers = [its & picked for its in seen.values() if its & sizes[group]]
        assert sum(map(bool, givers)) >= min(4, len(givers))
    assert max(sizes)[0] == 4 and min(len(p.legal) for group in chosen.values() for p in group) == 2


def test_chosen_positions_know_their_games(games_2048: list[MatchRecord]) -> None:
    """A game is asked again only after all others that have positions of the group."""
    seen = {r.spec.id: {SeenPosition.of(p).id for p in replay_positions(r.spec, r.plies)} for r in games_2048[:4]}
    chosen = choose_positions(games_2048[:4], 6, seed=1)
    for positions in chosen.values():
        assert all(position.id in seen[position.source] for position in positions)
        turns = [[p.source for p in positions[:i]].count(position.source) for i, position in enumerate(positions)]
        assert turns == sorted(turns)
    assert all(position.id in seen[position.source] for position in choose_by_move(games_2048[:4], (3, 9), 5, seed=1))


def test_the_choice_depends_on_games_and_seed_only(games_2048: list[MatchRecord]) -> None:
    chosen = choose_positions(games_2048, 3, seed=1)
    assert choose_positions(games_2048[::-1], 3, seed=1) == chosen
    assert choose_positions(games_2048, 3, seed=2) != chosen
    small = {group: positions[:2] for group, positions in chosen.items()}
    assert choose_positions(games_2048, 2, seed=1) == small, "more states keep those there are"


def key(record: SearchRecord) -> tuple[Any, ...]:
    return record.action, record.visits, record.values, record.nodes


@pytest.mark.parametrize("game", ["2048", "tictactoe", "yavalath", "nim"])
def test_any_game_has_searches_that_choose_legal_actions(game: str) -> None:
    matches = play_matches(collector_matches(game, "random", 2, seed=3))
    chosen = choose_positions(matches, 1, seed=1)
    specs = [spec for group in chosen.values() for spec in search_specs(group, "mc(iterations=2)", 2, seed=1)]
    assert specs
    for record in search_positions(specs):
        assert record.action in record.spec.position.legal
        assert len(record.visits) == len(record.values) == len(record.spec.position.legal)
        assert set(record.visits) == {2.0} and record.nodes == 2 * len(record.visits)
        assert key(search_position(record.spec)) == key(record)


def test_serial_threads_and_ray_search_the_same(games_2048: list[MatchRecord]) -> None:
    groups = list(choose_positions(games_2048, 2, seed=1).values())[::6]
    agents = ("mc(iterations=5)", "mctse(iterations=20,rollout_depth=5)")
    specs = [spec for agent in agents for group in groups for spec in search_specs(group, agent, 3, seed=1)]
    expected = {record.spec.id: key(record) for record in search_positions(specs)}
    assert len(set(expected.values())) > len(expected) / 2, "searches differ by their seeds"
    for name in ("serial", "threads", "ray"):
        with make_executor(Where(name, 2)) as executor:
            records = [record for batch in executor.run(SEARCHES, specs) for record in batch]
        assert len(records) == len(specs)
        assert {record.spec.id: key(record) for record in records} == expected


def test_a_stop_leaves_out_the_rest(games_2048: list[MatchRecord]) -> None:
    specs = search_specs(next(iter(choose_positions(games_2048, 1, seed=1).values())), "random", 5, seed=1)
    assert search_positions(specs, np.ones(1, np.int64)) == []
    assert len(search_positions(specs, np.zeros(1, np.int64))) == 5


def test_agents_see_what_their_seat_may_see(monkeypatch: pytest.MonkeyPatch) -> None:
    """In Pennies the second seat must not see the first one's choice: both lead to the same seen position."""
    game = Pennies()
    monkeypatch.setattr(repeated_search, "game_of", lambda text: game)
    start = game.start(1)
    one, other = (SeenPosition.of(start.play(action)) for action in start.legal_actions()[:2])
    assert one == other
    hidden = start.play(start.legal_actions()[0])
    assert one.state != tuple(hidden.state.tolist())
    record = search_position(SearchSpec(one, "random", 1))
    assert record.action in one.legal


@dataclass(frozen=True)
class Stubborn(Agent):
    """Always answers 7."""

    name: ClassVar[str] = "stubborn"

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        class Seven:
            def act(self, position: Position) -> Decision:
                return Decision(7, np.zeros(9), np.zeros(9), 0, 0.0)

        return Seven()


def test_an_illegal_action_is_a_failed_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated_search, "agent_of", lambda text: Stubborn())
    start = make_game("tictactoe").start()
    assert search_position(SearchSpec(SeenPosition.of(start), "stubborn", 1)).action == 7
    spec = SearchSpec(SeenPosition.of(start.play(7)), "stubborn", 1)
    record = search_position(spec)
    assert record.action == NO_ACTION and record.played == [("stubborn", True)] and set(record.visits) == {0.0}
    assert record.error.startswith("seat 1, ") and record.error.endswith("which is not legal here")
    with pytest.raises(UserError, match=r"must be able to search a position, but seat 1, .* not legal here; fix it"):
        searched_position(spec)


def test_an_agent_that_cannot_play_is_refused_before_anything_is_searched() -> None:
    start = SeenPosition.of(make_game("tictactoe").start())
    with make_executor(Where("serial")) as executor, pytest.raises(UserError, match="4x4 board of 2048 only"):
        list(executor.run(SEARCHES, [SearchSpec(start, "greedy(evaluator=heuristics2048())", 1)]))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: collector_matches("2048", "random", 0, 1), "at least 1 game, got 0"),
        (lambda: collector_matches("2048", "random", 1, -1), "0 or larger, got -1"),
        (lambda: choose_positions([], 0, 1), "at least 1 state, got 0"),
        (lambda: search_specs([], "random", 1, 1), "at least 2 searches of a state, got 1"),
    ],
)
def test_senseless_numbers_are_refused(call: Any, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        call()


def test_a_phase_counts_empty_cells_where_there_are_cells() -> None:
    assert [make_game("2048").phase(make_game("2048").start(seed).state) for seed in (1, 2)] == [14, 14]
    tictactoe = make_game("tictactoe")
    assert tictactoe.phase(tictactoe.start().play(4).play(0).state) == 7
    assert make_game("nim").phase(make_game("nim").start().state) == 0
