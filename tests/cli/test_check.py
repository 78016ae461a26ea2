"""`turnier check`: it finds every planted fault, and says which law is broken, how and where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.planted_faults import CRASH, ENDLESS, FAULTS, PLACE, Fault, plant
from tests.core.test_outside import BOT, FIRST
from turnier.commands.app import app
from turnier.contract.process import Checking
from turnier.contract.suites import cases_of
from turnier.core.errors import UserError

GAME = "tictactoe"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def checked(*words: str) -> tuple[int, list[dict[str, str]]]:
    """Returns the exit code of the command and what it found."""
    ended = CliRunner().invoke(app, ["check", *words, "--json"], catch_exceptions=False)
    return ended.exit_code, json.loads(ended.stdout)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what)
def test_a_planted_fault_is_found(fault: Fault, tmp_path: Path) -> None:
    plant(fault, tmp_path)
    (case,) = (case for case in cases_of(PLACE, [GAME]) if case.name == fault.law)
    assert fault.says in case.check()


@pytest.mark.long
@pytest.mark.parametrize("fault", [*FAULTS, CRASH, ENDLESS], ids=lambda fault: fault.what)
def test_the_command_finds_it(fault: Fault, tmp_path: Path) -> None:
    plant(fault, tmp_path)
    code, found = checked(PLACE, "--game", GAME, "--limit", "4")
    assert code == 1 and any(fault.says in law["sentence"] for law in found)


def test_a_crash_is_a_sentence_and_the_rest_is_not_checked(tmp_path: Path) -> None:
    plant(CRASH, tmp_path)
    code, found = checked(PLACE, "--game", GAME)
    states = [law["state"] for law in found]
    assert code == 1 and states == ["kept", "kept", "broken"] + ["unchecked"] * (len(states) - 3) and len(states) > 5
    assert CRASH.says in found[2]["sentence"] and "legal ended the process" in found[3]["sentence"]


@pytest.mark.long
def test_the_table_says_what_is_broken_and_where(tmp_path: Path) -> None:
    plant(next(fault for fault in FAULTS if fault.what == "raises"), tmp_path)
    ended = CliRunner().invoke(app, ["check", PLACE, "random", "--game", GAME], env={"COLUMNS": "300"})
    assert ended.exit_code == 1 and "Traceback" not in ended.stdout
    assert "own.py, line 45: return Decision(" in ended.stdout and "as above" in ended.stdout
    assert "laws broken" in ended.stdout and "random, sampler" in ended.stdout and "all laws kept: 8" in ended.stdout


@pytest.mark.parametrize(
    ("text", "games", "says"),
    [
        ("gredy", [], "did you mean greedy"),
        ("missing.py:Bot", [], "there must be a file missing.py"),
        ("mcts(iteration=3)", [], "did you mean iterations"),
        ("alphabeta", ["2048"], "alphabeta plays games of two seats"),
        ("turnier.agents.ntuple.td:Td", [], "must be one of game, agent, evaluator, sampler"),
    ],
)
def test_what_cannot_be_checked_is_refused(text: str, games: list[str], says: str) -> None:
    with pytest.raises(UserError, match=says):
        cases_of(text, games)


@pytest.mark.parametrize(
    ("added", "says"),
    [
        ("def cannot_play(self, game): 1 / 0", r"^no exception may be raised, got ZeroDivisionError: .*own\.py, line"),
        ("raise SystemExit(3)", "its code must not end the process, got an end with code 3$"),
    ],
)
def test_what_fails_before_a_law_is_checked_is_a_sentence(
    added: str, says: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "helper.py").write_text(FIRST)
    (tmp_path / "own.py").write_text(BOT.replace("class Bot(Agent):", f"class Own(Agent):\n    {added}"))
    with pytest.raises(UserError, match=says), Checking(PLACE, [GAME], limit=120) as checking:
        checking.begin()
    assert "Fatal Python error" not in (told := capfd.readouterr().err) and "Traceback" not in told


@pytest.mark.long
def test_the_command_refuses_in_a_sentence() -> None:
    with pytest.raises(UserError, match="did you mean greedy"):
        CliRunner().invoke(app, ["check", "gredy"], catch_exceptions=False)


def test_laws_that_a_clock_cannot_keep_are_left_out() -> None:
    timed = {case.name for case in cases_of("mcts(milliseconds=5)", [GAME])}
    assert {"seed", "compiled"} & timed == set() and "legal" in timed
    assert {"seed", "compiled"} <= {case.name for case in cases_of("mcts", [GAME])}
