"""Matches with people: what is played, taken back, resigned, stored and continued."""

from __future__ import annotations

import pytest

from turnier.agents.registry import make_agent
from turnier.arena.analysis.reanalysis import Reanalysis
from turnier.arena.hosted_match import HostedMatch, plies_of
from turnier.arena.match import MatchSpec, Termination
from turnier.arena.match_json import disagreement, from_json, to_json
from turnier.arena.play import check_spec, play_match
from turnier.arena.table import seated
from turnier.core.errors import UserError
from turnier.games.registry import make_game


def hosted(game: str, *agents: str, seed: int = 5) -> HostedMatch:
    return HostedMatch(make_game(game), [make_agent(agent) for agent in agents], seed)


def play_first(match: HostedMatch, plies: int = 10_000) -> None:
    """Plays to the end, people the first legal action."""
    while not match.over and plies:
        if match.human_to_move:
            match.play(match.position.legal_actions()[0])
        else:
            match.ask()
        plies -= 1


@pytest.mark.parametrize(
    ("game", "agents"),
    [
        ("2048(size=2)", ("human",)),
        ("tictactoe", ("human(name=Ann)", "mcts(iterations=20)")),
        ("yavalath(size=3,players=3)", ("mcts(iterations=20)", "human(name=Ann)", "human(name=Bo)")),
        ("spe_ed(width=8,height=8,players=3)", ("human", "random", "mc(iterations=3)")),
    ],
)
def test_what_people_play_is_a_match_like_all_others(game: str, agents: tuple[str, ...]) -> None:
    match = hosted(game, *agents)
    play_first(match)
    record = match.record()
    assert record.termination is Termination.NORMAL and disagreement(record) is None
    assert from_json(to_json(record)) == record and record.spec.agents == tuple(a.full_text() for a in match.agents)
    assert sum(record.decisions) == len([m for m in Reanalysis(record).moments if m.seat >= 0])


def test_agents_decide_as_they_do_without_people() -> None:
    """The person plays the moves of an agent; a match of that agent has the same."""
    spec = MatchSpec("tictactoe", tuple(make_agent(f"mcts(iterations={n})").full_text() for n in (20, 30)), 9)
    wanted = plies_of(play_match(spec))
    match = hosted("tictactoe", "human", "mcts(iterations=30)", seed=9)
    for number, ply in enumerate(wanted):
        if match.human_to_move:
            if number == 2:  # takes back, and plays the same again: nothing changes
                match.play(next(a for a in match.position.legal_actions() if a != ply))
                match.ask()
                assert match.undo() and match.plies == wanted[:2]
            match.play(ply)
        else:
            decision = match.ask()
            assert decision is not None and decision.action == ply
    assert match.over and match.plies == wanted


def test_undo_goes_back_to_the_persons_own_move_and_chance_stays() -> None:
    match = hosted("2048(size=2)", "human")
    assert not match.undo()
    start = match.position.state.tolist()
    action = match.position.legal_actions()[0]
    match.play(action)
    after = match.position.state.tolist()
    assert match.undo() and match.position.state.tolist() == start
    match.play(action)
    assert match.position.state.tolist() == after


def test_a_match_that_was_left_goes_on_as_if_it_had_not_been() -> None:
    whole, left = (hosted("2048(size=2)", "human") for _ in range(2))
    play_first(whole)
    play_first(left, 3)
    record = left.record()
    assert record.termination is Termination.UNFINISHED and not record.termination.has_result
    again = hosted("2048(size=2)", "human")
    again.resume(plies_of(record))
    assert again.plies == left.plies
    play_first(again)
    assert again.plies == whole.plies


def test_who_resigns_has_lost() -> None:
    match = hosted("tictactoe", "human", "random")
    match.resign()
    assert match.over and not match.human_to_move and match.record().scores == (-1.0, 1.0)
    with pytest.raises(UserError, match="not a person's turn"):
        match.play(0)


def test_mistakes_are_sentences() -> None:
    with pytest.raises(UserError, match="has 2 seats, got 1 agents"):
        hosted("tictactoe", "human")
    with pytest.raises(UserError, match="games that hide nothing"):
        hosted("openspiel(game=kuhn_poker)", "human", "random")
    with pytest.raises(UserError, match="must start before the game is over"):
        hosted('chess(fen="4k3/8/8/8/8/8/8/4K3 w - - 0 1")', "human", "random")
    match = hosted("tictactoe", "human", "random")
    match.play(0)
    match.ask()
    with pytest.raises(UserError, match="must be legal, got a1"):
        match.play(0)
    with pytest.raises(UserError, match="human: name must be 1 to 40 letters"):
        make_agent('human(name="a<b")')


def test_an_agent_that_raises_has_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    match = hosted("tictactoe", "random", "human")

    def broken(position: object) -> None:
        raise ZeroDivisionError("by 0")

    match.table.players[0] = seated(match.agents[0], match.game, 0, match.spec.seed)
    monkeypatch.setattr(match.table.players[0], "act", broken)
    assert match.ask() is None
    record = match.record()
    assert (record.termination, record.failed_seat) == (Termination.CRASHED, 0)
    assert record.error == "seat 0, random: ZeroDivisionError: by 0"


def test_nobody_else_may_ask_a_person() -> None:
    human = make_agent("human(name=Ann)")
    assert str(human) == "human(name=Ann)" and str(make_agent("human")) == "human" != human.full_text()
    with pytest.raises(UserError, match="type: turnier play tictactoe human AGENT"):
        check_spec(MatchSpec("tictactoe", (human.full_text(), "random"), 1))
    match = hosted("tictactoe", "human(name=Ann)", "random")
    play_first(match)
    reanalysis = Reanalysis(match.record())
    with pytest.raises(UserError, match="programs and people are not asked"):
        reanalysis.think(0)
    assert reanalysis.think(1).from_start
