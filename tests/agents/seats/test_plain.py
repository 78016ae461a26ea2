"""Agents without a base of ours: functions of a position and classes with `act`, in files and in notebooks' cells."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from turnier import Comparison, RunResults, Store, Study, Where
from turnier.agents import registry
from turnier.agents.agent import Agent, Decision, decide
from turnier.agents.registry import AGENTS, agents_within
from turnier.agents.seats.outside import plays_outside
from turnier.arena.match import MatchRecord, MatchSpec, Termination, unpack_plies
from turnier.arena.play import play_match
from turnier.arena.workers.cluster.luggage import Packing
from turnier.core.errors import UserError
from turnier.core.outside import classes
from turnier.core.outside.trust import trusting
from turnier.games.registry import GAMES

FILE = '''
import random

class Bot:
    """Draws an action, or takes one of the first."""

    def __init__(self, game, seat, seed, skip: int = 0, share=0.5):
        self.rng = random.Random(f"{seed} {seat} {game.num_actions}")
        self.skip, self.share = skip, share

    def act(self, position):
        legal = position.legal_actions()
        return self.rng.choice(legal) if self.rng.random() < self.share else legal[min(self.skip, len(legal) - 1)]

def last(position):
    return position.legal_actions()[-1]

class Needs:
    def __init__(self, depth):
        pass
    def act(self, position):
        return 0

class Idle:
    pass
'''
CELL = """
CENTRE = 4

def choose(legal):
    return CENTRE if CENTRE in legal else legal[-1]

def mine(position):
    return choose(position.legal_actions())

class Bot:
    def __init__(self, first=0):
        self.first = first
    def act(self, position):
        return position.legal_actions()[self.first]

def wrong(position):
    return 0.5

class Outer:
    def make(self):
        return lambda position: 0
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain.py").write_text(FILE)
    return tmp_path


def cell(text: str, space: dict[str, Any] | None = None) -> dict[str, Any]:
    """Runs a notebook's cell, whose source Python knows, but in no file."""
    name = f"<cell {len(linecache.cache)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"__name__": "__main__"} if space is None else space
    exec(compile(text, name, "exec"), space)
    return space


def played(*agents: Any) -> MatchRecord:
    texts = tuple(AGENTS.make(agent).full_text() for agent in agents)
    return play_match(MatchSpec("tictactoe()", texts, 7))


def plies(record: MatchRecord) -> list[int]:
    return unpack_plies(record.plies).tolist()


def test_a_class_and_a_function_in_a_file_play_in_their_own_process_as_in_ours() -> None:
    outside = played("plain.py:Bot(share=1)", "plain.py:last")
    assert plays_outside(AGENTS.make("plain.py:last")) and outside.termination is Termination.NORMAL
    with trusting():
        assert plies(played("plain.py:Bot(share=1)", "plain.py:last")) == plies(outside)
    assert plies(played("plain.py:Bot(share=0)", "plain.py:last"))[:4] == [0, 8, 1, 7]
    assert plies(played("plain.py:Bot(share=0,skip=2)", "plain.py:last"))[:2] == [2, 8]


def test_arguments_are_parameters_but_those_of_the_match() -> None:
    bot = AGENTS.make("plain.py:Bot(skip=3)")
    name, _, parameters = bot.full_text().partition("(")
    assert name.startswith("plain.py:Bot@") and parameters == "skip=3,share=0.5)"
    with pytest.raises(UserError, match=r"no parameter of plain\.py:Bot named 'skp'; did you mean skip\?"):
        AGENTS.make("plain.py:Bot(skp=3)")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Needs", "the argument depth of Needs must have a default, or be one of game, seat and seed"),
        ("Idle", r"plain.py:Idle must derive from turnier's class Agent or have a method act\(position\), but it does"),
        ("lst", r"there must be a class or function lst in plain.py, got none; did you mean last\?"),
    ],
)
def test_what_is_no_agent_is_a_sentence(name: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        AGENTS.make(f"plain.py:{name}")


def test_what_stands_in_a_cell_plays_here_under_a_digest_of_all_that_it_uses() -> None:
    space = cell(CELL)
    mine = AGENTS.make(space["mine"])
    assert not plays_outside(mine) and mine.full_text().startswith("__main__:mine@")
    record = played(mine, space["Bot"])
    assert plies(record) == [4, 0, 8, 1, 7, 2] and record.termination is Termination.NORMAL
    assert AGENTS.make(cell(CELL)["mine"]).full_text() == mine.full_text()  # the cell was run again
    for change in (("CENTRE = 4", "CENTRE = 0"), ("legal[-1]", "legal[0]")):
        changed = cell(CELL.replace(*change))
        assert AGENTS.make(changed["mine"]).full_text() != mine.full_text()
        assert AGENTS.make(changed["Bot"]).full_text() == AGENTS.make(space["Bot"]).full_text()
    cell("CENTRE = 2", space)
    assert AGENTS.make(space["mine"]).full_text() != mine.full_text()
    with pytest.raises(UserError, match="code that mine uses has changed since; define mine again"):
        AGENTS.make(mine)


def test_a_class_of_ours_in_a_cell_must_be_as_it_was_named() -> None:
    text = """
from turnier.agents.agent import Agent
STEP = 1
class Own(Agent):
    def start(self, game, seat=0, seed=0):
        return self
    def act(self, position):
        return position.legal_actions()[-STEP]
"""
    space = cell(text)
    assert plies(played(space["Own"](), space["Own"]))[:2] == [8, 7]
    cell("STEP = 2", space)
    with pytest.raises(UserError, match="code that Own uses has changed since; define Own again"):
        AGENTS.make(space["Own"]())


def test_a_failure_in_a_cell_names_its_line() -> None:
    record = played(cell("\ndef fails(position):\n    return 1 // 0")["fails"], "random")
    assert record.termination is Termination.CRASHED and "ZeroDivisionError" in record.error
    assert "(line 3 of its cell)" in record.error


def test_code_of_a_session_plays_nowhere_else() -> None:
    text = AGENTS.make(cell(CELL)["mine"]).full_text()
    with pytest.raises(UserError, match=r"__main__:mine@.* must be in a file for Ray"):
        Packing(None).of([text])
    with pytest.raises(UserError, match="must be at the top level of a file or of a notebook's cell"):
        AGENTS.make(cell(CELL)["Outer"]().make())


def test_another_process_shows_what_a_session_has_played_but_cannot_play_with_it(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space, quiet = cell(CELL), {"where": Where("serial"), "progress": False}
    text = AGENTS.make(space["mine"]).full_text()
    study = Study("tictactoe", space["Bot"], {"first": [0, -1]}, against=["random"], budget=40).run("own.db", **quiet)
    duel = Comparison(space["mine"], "random", game="tictactoe", games=16, first_round=4).run("own.db", **quiet)
    said, recommended = (study.verdict.sentence, duel.sentence), str(study.recommended)
    monkeypatch.setattr(classes, "_classes", {})
    monkeypatch.setattr(classes.library, "_known", {})
    registry._agent_of.cache_clear()
    assert AGENTS.make(text).full_text() == text
    with pytest.raises(UserError, match="must be in a file to play here, but it was defined in a notebook"):
        AGENTS.make(text).prepare(GAMES.make("tictactoe"))
    assert str(AGENTS.make("__main__:Bot@0123456789ab(first=3)")) == "__main__:Bot@0123456(first=3)"
    with Store.open("own.db") as store:
        again: Any = [RunResults.find(store, run.id) for run in (study, duel)]
        assert (again[0].verdict.sentence, again[1].sentence) == said
        assert str(again[0].recommended) == recommended and len(again[0].trials()) > 0
        assert len(again[1].ratings()) == 2 and all(study.id in run._repr_html_() for run in again[:1])


def test_a_script_that_plays_when_it_is_imported_is_told_so(here: Path) -> None:
    """Otherwise its bot's process would play the tournament, too."""
    lines = "Tournament('tictactoe', ['random', 'greedy']).run('own.db')"
    (here / "script.py").write_text(f"from turnier import Tournament\n\n{lines}\n{FILE}")
    with pytest.raises(UserError, match=r'below if __name__ == "__main__":, .* script\.py plays whenever'):
        AGENTS.make("script.py:last")
    assert not (here / "own.db").exists()


def test_a_list_of_agents_is_a_list() -> None:
    with pytest.raises(UserError, match="agents must be a list, got 'random'"):
        agents_within("random", "")
    with pytest.raises(UserError, match="agents are named by text, or are objects or classes of turnier's class Agent"):
        agents_within([3], "")  # type: ignore[list-item]
    with pytest.raises(UserError, match="must be of the kind agent, got tictactoe"):
        AGENTS.make(GAMES.make("tictactoe"))  # type: ignore[arg-type]


@pytest.mark.parametrize(("answer", "action"), [(3, 3), (np.int64(3), 3), (None, None), (0.5, None), ("3", None)])
def test_an_action_alone_is_a_decision(answer: Any, action: int | None) -> None:
    position = GAMES.make("tictactoe").start()
    player = AGENTS.make(_answering(answer)).start(position.game)
    if action is None:
        with pytest.raises(TypeError, match=r"act must return an action, a whole number, or a Decision, got"):
            decide(player, position)
    else:
        decision = decide(player, position)
        assert (decision.action, decision.nodes, decision.visits.tolist()) == (action, 1, [0.0] * 9)


def _answering(answer: Any) -> Callable[..., Any]:
    return cell("def answers(position):\n    return answer", {"__name__": "__main__", "answer": answer})["answers"]


def test_decisions_stay_as_they_are() -> None:
    position = GAMES.make("tictactoe").start()
    decision = Decision(1, np.ones(9), np.ones(9), 5, 0.5)
    assert decide(AGENTS.make(_answering(decision)).start(position.game), position) is decision
    assert isinstance(AGENTS.make(_answering(1)), Agent)
