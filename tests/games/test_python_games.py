"""Games in Python keep the laws of all games and are played bit for bit like compiled ones; failures become records."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.games import python_games
from tests.games.failing_python_games import FAULTS
from tests.games.python_games import Coins, Dice, Inches, Noughts
from turnier.agents.agent import decide
from turnier.agents.registry import make_agent
from turnier.arena.match import MatchRecord, MatchSpec, Termination, unpack_plies
from turnier.arena.play import play_match, play_matches, replay
from turnier.arena.workers.cluster.executor import RayExecutor
from turnier.arena.workers.local import ThreadExecutor
from turnier.contract.games.laws import GAME_LAWS
from turnier.contract.law import check_laws
from turnier.core.errors import UserError
from turnier.games.game import Game
from turnier.games.python import callback
from turnier.games.python.python_game import PythonGame
from turnier.games.registry import make_game

PYTHON, COMPILED, WRONG = (
    f"tests.{module}:" for module in ("games.python_games", "contract.tiny_games", "games.failing_python_games")
)
EQUAL = {  # a game in Python, and the same game compiled
    f"{PYTHON}Noughts": "tictactoe",
    f"{PYTHON}Dice": f"{COMPILED}Pig",
    f"{PYTHON}Dice(players=1,target=12)": f"{COMPILED}Pig(players=1,target=12)",
    f"{PYTHON}Inches": f"{COMPILED}Fuse",
    f"{PYTHON}Coins(rounds=2)": f"{COMPILED}Pennies(rounds=2)",
}
SMALL_AGENTS = (
    "random",
    "greedy(evaluator=rollout)",
    "mc(iterations=4)",
    "mcts(iterations=60)",
    "mcts(iterations=60,solver=true)",
    "mctse(iterations=40)",
    "expectimax(depth=2)",
    "maxn(depth=2)",
    "alphabeta(depth=3)",
    "majority(agent=mc(iterations=2),members=3)",
)


def spec_of(game: str, agents: tuple[str, ...], seed: int) -> MatchSpec:
    """Returns a match with the version of the game's code."""
    return MatchSpec(make_game(game).full_text(), agents, seed)


LONG = [pytest.param(game, marks=pytest.mark.long) for game in (Noughts(), Dice(target=8), Coins(rounds=2))]


@pytest.mark.parametrize("game", [Inches(length=2), *LONG], ids=str)
def test_python_game_keeps_the_laws(game: Game) -> None:
    check_laws(GAME_LAWS, game)


def played(game: str, agent: str, seed: int) -> tuple[Any, ...]:
    """Returns what a match decides; of alphabeta no nodes, since different plies never meet in its table."""
    seats = make_game(game).num_seats
    record = play_match(spec_of(game, (agent,) * seats, seed))
    assert record.termination == Termination.NORMAL, record.error
    return record.plies, record.scores, record.decisions, None if agent.startswith("alphabeta") else record.nodes


@pytest.mark.parametrize("agent", SMALL_AGENTS)
@pytest.mark.parametrize(("game", "compiled"), EQUAL.items(), ids=list(EQUAL))
def test_matches_equal_those_of_a_compiled_game(game: str, compiled: str, agent: str) -> None:
    if make_agent(agent).cannot_play(make_game(compiled)):
        assert make_agent(agent).cannot_play(make_game(game))
    else:
        assert played(game, agent, 3) == played(compiled, agent, 3)


def test_positions_replay_and_draw() -> None:
    record = play_match(spec_of(f"{PYTHON}Noughts", ("random", "mc(iterations=2)"), 1))
    position = replay(record.spec, record.plies)
    assert position.over and tuple(position.returns) == record.scores
    assert str(make_game(f"{PYTHON}Noughts").start().play(4)) == "...\n.X.\n..."


def test_threads_play_the_same_matches() -> None:
    """Threads share one game object, and with it what is kept of its states."""
    specs = [
        spec_of(game, ("mc(iterations=3)",) * 2, seed)
        for game in (f"{PYTHON}Noughts", f"{PYTHON}Dice(target=5)")
        for seed in range(6)
    ]
    with ThreadExecutor(3) as threads:
        together = {record.spec: record.plies for records in threads.play(specs) for record in records}
    assert together == {record.spec: record.plies for record in play_matches(specs)}


def failed(fault: str, agent: str) -> MatchRecord:
    return play_match(spec_of(f"{WRONG}Failing(fault={fault})", (agent,) * 2, 1))


@pytest.mark.parametrize("agent", ["random", "mcts(iterations=50)", "mc(iterations=3)", "expectimax(depth=4)"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_failing_game_is_a_record_with_a_sentence(fault: str, agent: str) -> None:
    record = failed(fault, agent)
    assert record.termination == Termination.ERROR
    assert re.search(FAULTS[fault][1], record.error), record.error
    assert len(unpack_plies(record.plies)) >= sum(record.decisions)


def test_the_game_without_a_fault_is_played_to_its_end() -> None:
    assert failed("none", "mcts(iterations=50)").termination == Termination.NORMAL


@dataclass(frozen=True)
class Interrupted(Noughts):
    """A user presses Ctrl-C in the middle of a search."""

    def step(self, state: str, ply: int) -> Any:
        if state.count(".") == 5:
            raise KeyboardInterrupt
        return super().step(state, ply)


def test_an_interrupt_inside_compiled_code_is_raised_when_that_returns() -> None:
    game = Interrupted()
    player = make_agent("mcts(iterations=100)").start(game)
    with pytest.raises(KeyboardInterrupt):
        decide(player, game.start())
    assert game.start().legal_actions() == list(range(9))  # nothing is left of it


def test_the_game_of_the_documents_is_played(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs/your_own.md").read_text()
    code = next(block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "(PythonGame)" in block)
    (tmp_path / "race.py").write_text(code)
    spec = spec_of(f"{tmp_path}/race.py:Race(goal=5)", ("mctse(iterations=30)", "mc(iterations=3)"), 1)
    assert play_match(spec).termination == Termination.NORMAL


def test_a_game_that_declares_too_little_says_so() -> None:
    @dataclass(frozen=True)
    class Half(PythonGame):
        num_seats: ClassVar[int] = 2
        num_actions: ClassVar[int] = 2

        def begin(self) -> int:
            return 0

    with pytest.raises(UserError, match=r"declare max_legal, max_length, to_move\(\), legal\(\), step\(\), got Half"):
        Half()


def test_a_numba_that_calls_otherwise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callback, "_probe", lambda *arguments: 17)
    monkeypatch.setattr(callback, "compile_kernel", lambda kernel: None)
    with pytest.raises(UserError, match="need a numba that calls C functions as"):
        callback.require_calling_convention.__wrapped__()


PLAIN = """
import numpy as np
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_match
np.seterr(over="ignore")
for game, *agents in {matches}:
    record = play_match(spec_of(game, tuple(agents), 2))
    print(record.termination, record.plies.hex(), record.error)
"""


@pytest.mark.long
def test_plain_python_plays_and_fails_as_compiled_code_does() -> None:
    """With NUMBA_DISABLE_JIT=1 searches call the methods without any C function between."""
    matches = [
        (f"{PYTHON}Noughts", "mcts(iterations=20)", "mc(iterations=2)"),
        (f"{PYTHON}Dice(target=5)", "mctse(iterations=10)", "expectimax(depth=1)"),
        (f"{PYTHON}Coins(rounds=1)", "mcts(iterations=20)", "maxn(depth=2)"),
        (f"{WRONG}Failing(fault=legal_raises)", "mcts(iterations=20)", "random"),
        ("openspiel(game=pig)", "mc(iterations=2)", "openspiel_bot"),
    ]
    command = [sys.executable, "-c", PLAIN.format(matches=matches)]
    path = os.pathsep.join(sys.path)
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}
    plain = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()
    records = [play_match(spec_of(game, tuple(agents), 2)) for game, *agents in matches]
    assert plain == [f"{r.termination} {r.plies.hex()} {r.error}".rstrip("\n") for r in records]


@pytest.mark.long
def test_ray_workers_play_the_same_matches_and_report_the_same_failures(tmp_path: Path) -> None:
    """Workers make the games from their texts, those of a file that they have never seen as well."""
    file = Path(shutil.copy(python_games.__file__, tmp_path / "mine.py"))
    games = [f"{file}:Dice(target=5)", f"{PYTHON}Inches", f"{WRONG}Failing(fault=legal_raises)", "openspiel(game=pig)"]
    texts = [make_game(game).full_text() for game in games]
    seats = {text: ("mc(iterations=3)",) * make_game(text).num_seats for text in texts}
    specs = [MatchSpec(text, seats[text], seed) for text in texts for seed in range(3)]
    with RayExecutor(2) as ray:
        found = {r.spec: (r.termination, r.plies, r.error) for records in ray.play(specs) for r in records}
    assert found == {r.spec: (r.termination, r.plies, r.error) for r in play_matches(specs)}
    assert {r[0] for r in found.values()} == {Termination.NORMAL, Termination.ERROR}
