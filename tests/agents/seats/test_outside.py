"""Seats of agents that are not ours: what the process is told, when it runs, and what becomes of odd answers."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from turnier.agents.agent import Agent, Decision
from turnier.agents.engines.pool import end_idle_programs
from turnier.agents.registry import AGENTS, agents_within
from turnier.agents.seats import outside
from turnier.agents.seats.failure import Ending, SeatFailure
from turnier.agents.seats.forks import FORKS
from turnier.agents.seats.frames import Broken, Question, answer_of, packed_answer
from turnier.agents.seats.limited import Limited
from turnier.agents.seats.outside import OutsidePlayer
from turnier.agents.seats.standins import StandInAgent
from turnier.arena.match import MatchSpec, Termination
from turnier.arena.play import play_match
from turnier.arena.table import told_seed
from turnier.core.errors import UserError
from turnier.core.outside.trust import trusting
from turnier.core.parameters import parameters_of
from turnier.games.registry import make_game

CHEATS = Path(__file__).parents[2] / "validity" / "cheats"
GAME = make_game("tictactoe")


def bot(name: str) -> Agent:
    return AGENTS.make(f"{CHEATS / name}.py:Bot")


@pytest.fixture(autouse=True)
def no_process_stays() -> Iterator[None]:
    yield
    end_idle_programs()


def player(name: str, **limits: float) -> OutsidePlayer:
    return OutsidePlayer(bot(name), GAME, 0, 5, **limits)


def test_a_question_and_an_answer_are_read_as_they_were_written() -> None:
    state, returns = np.arange(5), np.array([0.5, -0.5])
    asked = Question(7, np.arange(4, dtype=np.uint64), np.array([3, 1]), state + 1, state, returns)
    read = Question.of(bytearray(asked.packed()))
    assert read.number == 7 and all((one == other).all() for one, other in zip(read[1:], asked[1:], strict=True))
    for values in (np.zeros(3), np.array([0.0, np.nan, 2.0])):
        number, decision = answer_of(bytearray(packed_answer(9, Decision(2, values, values, 4, 0.0))), 3)
        assert (number, decision.action, decision.nodes) == (9, 2, 4)
        assert np.array_equal(decision.values, values, equal_nan=True)


@pytest.mark.parametrize("data", [b"", b"\0" * 31, b"\0" * 33, b"\1" * 32, b"\1" * 200])
def test_other_answers_are_none(data: bytes) -> None:
    with pytest.raises(Broken):
        answer_of(bytearray(data), 9)


def test_nobody_is_told_the_seed_of_chance() -> None:
    """Agents of ours draw from the match's own streams; all others, also within ours, are told a hash of it."""
    ours, others = AGENTS.make("mcts"), bot("honest")
    ensemble = AGENTS.make("majority(members=2)").replace(agent=others)
    program = AGENTS.make('json(command="bot")')
    assert told_seed(ours, 0, 7) == 7
    told = {told_seed(agent, seat, 7) for agent in (others, ensemble, program) for seat in (0, 1)}
    assert len(told) == 2 and 7 not in told


def test_a_stand_in_has_the_parameters_of_its_class_and_the_same_text() -> None:
    agent = bot("quitter").replace(surprise=0.25)
    with trusting():
        real = AGENTS.make(agent.full_text())
    assert isinstance(agent, StandInAgent) and not isinstance(real, StandInAgent)
    assert (agent.full_text(), str(agent)) == (real.full_text(), str(real))
    one, other = (parameters_of(type(each)) for each in (agent, real))
    assert [(f.name, f.default, said) for f, said in one] == [(f.name, f.default, said) for f, said in other]
    with pytest.raises(UserError, match="surprise must be from 0 to 1, got 2"):
        agent.replace(surprise=2.0)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the state of a process from /proc")
def test_a_process_stands_still_unless_it_decides() -> None:
    def wait_until_it_stands() -> None:
        while Path(f"/proc/{seated._process.pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
            time.sleep(0.001)  # its threads stop one after the other

    seated = player("ponderer")
    wait_until_it_stands()
    seated.act(GAME.start())
    wait_until_it_stands()
    assert seated.cpu_seconds >= 0
    seated.close()


def test_processes_are_used_again_and_one_that_has_ended_is_replaced() -> None:
    first = player("honest")
    pid = first._process.pid
    first.close()
    second = player("honest")
    assert second._process.pid == pid
    second.close()
    os.kill(pid, signal.SIGKILL)
    third = player("honest")
    assert third._process.pid != pid and third.act(GAME.start()).action in range(9)
    third.close()


def test_answers_that_nobody_has_asked_for_are_noted() -> None:
    spec = MatchSpec("tictactoe", (bot("double_answerer").full_text(), "random"), 1)
    record = play_match(spec)
    assert record.termination is Termination.NORMAL
    assert re.fullmatch(r"seat 0: [1-4] unasked answers were discarded", record.error)


@pytest.mark.parametrize("name", ["hanger", "repeater"])
def test_who_exceeds_its_time_has_lost_and_its_process_is_ended(name: str) -> None:
    seated = player(name, move=0.2)
    with pytest.raises(SeatFailure, match=r"its process has not answered within 0.2 s") as raised:
        seated.act(GAME.start())
    assert raised.value.ending is Ending.TIMEOUT and not seated._process.alive
    limited = Limited(bot(name), milliseconds=50, margin=50)
    record = play_match(MatchSpec("tictactoe", (limited.full_text(), "random"), 1))
    assert (record.termination, record.failed_seat) == (Termination.TIMEOUT, 0)


def test_a_time_per_move_binds_agents_of_others_and_no_other_budget_does() -> None:
    text = bot("honest").full_text()
    (held,) = agents_within([text], "50ms")
    assert isinstance(held, Limited) and (held.milliseconds, held.agent.full_text()) == (50, text)
    with pytest.raises(UserError, match=r"a budget in nodes must bind every agent, but .* declares none; choose ms"):
        agents_within([text], "50nodes")
    with pytest.raises(UserError, match="a budget in ms must fit every agent"):
        agents_within(["perfect"], "50ms")
    assert agents_within(["random"], "50ms") == [AGENTS.make("random")]


def test_what_others_end_for_all_ends_the_command() -> None:
    """Who has ended the process that all seats come from cannot be told: nobody is blamed, and nothing counts."""
    seated = player("honest")
    FORKS.close()
    with pytest.raises(UserError, match="the process from which seats of others' agents are forked is gone"):
        seated.act(GAME.start())
    assert player("honest").act(GAME.start()).action in range(9)


def test_inside_and_outside_play_the_same() -> None:
    spec = MatchSpec("connect_four", (bot("honest").full_text(), bot("printer").full_text()), 3)
    apart = play_match(spec)
    with trusting():
        together = play_match(spec)
    assert (apart.plies, apart.scores) == (together.plies, together.scores) and outside.plays_outside(bot("honest"))


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_who_ends_its_opponents_process_ends_the_command_and_wins_nothing() -> None:
    """The opponent stood still, and cannot have ended itself: it has not lost."""
    spec = MatchSpec("tictactoe", (bot("killer_of_others").full_text(), bot("honest").full_text()), 1)
    with pytest.raises(UserError, match="a seat's process was ended by SIGKILL while it was stopped"):
        play_match(spec)


def test_who_ends_after_its_answer_has_lost() -> None:
    seated = player("honest")
    os.kill(seated._process.pid, signal.SIGTERM)
    seated._process._rest()
    os.kill(seated._process.pid, signal.SIGCONT)
    while not seated._process._line.ended():
        time.sleep(0.001)
    with pytest.raises(SeatFailure, match="its process was ended by SIGTERM") as raised:
        seated.act(GAME.start())
    assert raised.value.ending is Ending.CRASHED


def test_a_process_is_given_back_once() -> None:
    first = player("honest")
    first.close()
    first.close()
    one, other = player("honest"), player("honest")
    assert one._process is not other._process
    one.close()
    other.close()


def test_nodes_without_end_are_counted_as_many() -> None:
    none = np.zeros(9)
    _, decision = answer_of(bytearray(packed_answer(1, Decision(0, none, none, 1 << 62, 0.0))), 9)
    assert decision.nodes == 1 << 40
