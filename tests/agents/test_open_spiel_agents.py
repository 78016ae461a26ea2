"""Bots of OpenSpiel as agents: repeatable, told what others do, and refused in a sentence where they cannot play."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from turnier.agents.agent import Agent
from turnier.agents.open_spiel.player import SpielAgent
from turnier.agents.registry import make_agent
from turnier.arena.match import MatchRecord, MatchSpec, Termination
from turnier.arena.play import play_match
from turnier.core.errors import UserError
from turnier.games.open_spiel.game import OpenSpiel
from turnier.games.registry import make_game

FOUR = "connect_four(rows=4,columns=4)"


def match(game: str, *agents: str, seed: int = 1) -> MatchRecord:
    return play_match(MatchSpec(OpenSpiel(game).full_text(), agents, seed))


@pytest.mark.parametrize("agent", ["openspiel_mcts(simulations=50)", "openspiel_bot"])
def test_a_seed_decides_a_match(agent: str) -> None:
    first, again, other = (match(FOUR, agent, "mc(iterations=2)", seed=seed).plies for seed in (1, 1, 2))
    assert first == again != other


def test_both_seats_of_a_match_draw_their_own_numbers() -> None:
    position = OpenSpiel("tic_tac_toe").start()
    agent = make_agent("openspiel_mcts(simulations=30,solve=false)")
    first, second = (agent.start(position.game, seat, 5).act(position) for seat in (0, 1))
    assert first.visits.tolist() != second.visits.tolist()


def test_the_search_reports_what_it_found() -> None:
    """X has two in a row and wins at once by the centre of the middle row: the proof is the move."""
    position = OpenSpiel("tic_tac_toe").start()
    for action in (3, 0, 5, 1):
        position = position.play(action)
    decision = make_agent("openspiel_mcts(simulations=200,solve=false)").start(position.game, 0, 1).act(position)
    assert decision.action == 4 and decision.nodes == decision.visits.sum() == 199  # the first valued the root
    assert decision.values[4] == 1.0 and np.all(np.abs(decision.values) <= 1)


def test_search_beats_chance() -> None:
    records = [match(FOUR, "openspiel_mcts(simulations=100)", "random", seed=seed) for seed in range(10)]
    assert sum(record.scores[0] for record in records) >= 5


def test_a_bot_plays_what_its_parameters_say() -> None:
    bot = 'openspiel_bot(bot="fixed_action_preference(actions=2:3:1:0)")'
    record = match(FOUR, bot, "mc(iterations=2)")
    assert record.termination == Termination.NORMAL and record.plies[1] == 2


def test_bots_play_hidden_and_simultaneous_games() -> None:
    for game in ("kuhn_poker", "leduc_poker", "goofspiel", "matching_pennies_3p"):
        seats = OpenSpiel(game).num_seats
        record = match(game, *["openspiel_bot(bot=uniform_random)"] * seats)
        assert record.termination == Termination.NORMAL, record.error


class Listening(SpielAgent):
    """Writes down what its bot is told."""

    name = "listening"

    def make_bot(self, game: OpenSpiel, seat: int, seed: int) -> Any:
        heard: list[Any] = []

        class Bot:
            def restart(self) -> None:
                heard.append("restart")

            def inform_action(self, state: Any, player: int, action: int) -> None:
                heard.append((player, action, len(state.history())))

            def step(self, state: Any) -> int:
                return int(state.legal_actions()[0])

        self.__dict__["heard"] = heard
        return Bot()


def test_a_bot_is_told_the_plies_of_others_and_of_chance_in_order() -> None:
    game, agent = OpenSpiel("pig"), Listening()
    player = agent.start(game, 1, 1)
    position = game.start()
    assert player.act(position.play(1)).action == 0  # after seat 0 has stopped
    later = position.play(1).play(0, draw_chance=False)  # seat 1 rolls
    later = later.play(3, draw_chance=False)  # and gets what is outcome 3
    player.act(later)
    assert agent.__dict__["heard"] == [(0, 1, 0), (-1, 3, 2)]
    player.act(position.play(1))  # an earlier position: another match
    assert agent.__dict__["heard"][2:] == ["restart", (0, 1, 0)]


@pytest.mark.parametrize(
    ("agent", "game", "sentence"),
    [
        ("openspiel_mcts", "tictactoe", "plays games of OpenSpiel only, got tictactoe"),
        ("openspiel_bot", "2048", "plays games of OpenSpiel only, got 2048"),
        ("openspiel_mcts", "openspiel(game=kuhn_poker)", "must know the whole state"),
        ("openspiel_mcts", "openspiel(game=2048)", "plays games whose only rewards are at the end"),
        ("openspiel_bot(bot=uniform_restricted_actions)", "openspiel", "these bots can: fixed_action_preference"),
        *((name, "openspiel(game=kuhn_poker)", "must know the whole state") for name in ("mc", "mcts", "mctse")),
        ("greedy", "openspiel(game=goofspiel)", "must know the whole state"),
        ("majority(agent=mc)", "openspiel(game=leduc_poker)", "must know the whole state"),
        ("mc(threads=2)", "openspiel", "is searched by one thread"),
    ],
)
def test_an_agent_that_cannot_play_says_why(agent: str, game: str, sentence: str) -> None:
    made: Agent = make_agent(agent)
    reason = made.cannot_play(make_game(game))
    assert sentence in str(reason)
    with pytest.raises(UserError):
        made.start(make_game(game))


@pytest.mark.parametrize("text", ["openspiel_bot(bot=unifrm_random)", 'openspiel_bot(bot="uniform_random(")'])
def test_wrong_bots_are_one_sentence(text: str) -> None:
    with pytest.raises(UserError) as caught:
        make_agent(text)
    assert "\n" not in str(caught.value)
