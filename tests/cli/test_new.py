"""`turnier new`: what it writes keeps all laws, its test passes, and the commands that it prints work."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.running import turnier
from turnier.commands.app import app
from turnier.commands.own.new import NEXT, TEMPLATES
from turnier.contract.suites import cases_of
from turnier.core.errors import UserError

WRITTEN = [(kind, option) for kind, options in TEMPLATES.items() for option in options]
QUICK, LONG = [("game", ""), ("agent", "")], pytest.mark.long
SMALLER = ((r"--games \d+", "--games 2"), (r"\d+games", "32games"), (r"iterations=\d+", "iterations=3"))


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(kind: str, option: str, folder: Path, name: str = "my_own") -> list[str]:
    """Returns the commands that `turnier new` prints."""
    printed = turnier("new", kind, name, *([option] if option else []), folder=folder)
    return [line.strip() for line in printed.splitlines() if line.startswith("  ")]


@pytest.mark.parametrize(("kind", "option"), WRITTEN)
def test_what_is_written_keeps_the_laws(kind: str, option: str, tmp_path: Path) -> None:
    write(kind, option, tmp_path)
    cases = cases_of("my_own.py:MyOwn", ["tictactoe", "2048(size=2)"])
    assert {case.kind for case in cases} == {kind}
    assert not [sentence for case in cases if (sentence := case.check())]
    assert "Template" not in (tmp_path / "my_own.py").read_text()


@pytest.mark.parametrize(
    ("kind", "option"), [each if each in QUICK else pytest.param(*each, marks=LONG) for each in WRITTEN]
)
def test_the_printed_commands_work(kind: str, option: str, tmp_path: Path) -> None:
    """But for the checks, which others test."""
    _, *commands, _ = write(kind, option, tmp_path)
    for command in commands:
        for pattern, less in SMALLER:
            command = re.sub(pattern, less, command)
        turnier(*shlex.split(command)[1:], "--executor", "serial", folder=tmp_path)


@pytest.mark.long
@pytest.mark.parametrize(("kind", "option"), WRITTEN)
def test_the_written_test_passes(kind: str, option: str, tmp_path: Path) -> None:
    check, *_, test = write(kind, option, tmp_path)
    assert CliRunner().invoke(app, shlex.split(check)[1:]).exit_code == 0
    ended = subprocess.run([sys.executable, *shlex.split(test)[1:], "-q"], cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 0 and "passed" in ended.stdout, ended.stdout + ended.stderr


def test_the_printed_words_are_of_the_class_that_was_written(tmp_path: Path) -> None:
    assert set(NEXT) == set(TEMPLATES)
    assert write("agent", "", tmp_path, "first_bot")[0] == "turnier check first_bot.py:FirstBot"
    assert "class FirstBot(Agent)" in (tmp_path / "first_bot.py").read_text()
    assert "from first_bot import FirstBot" in (tmp_path / "test_first_bot.py").read_text()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["bot", "own"], "no kind named 'bot'"),
        (["agent", "own", "--python"], "agent takes --kernel, got --python"),
        (["sampler", "own", "--kernel"], "neither --python nor --kernel"),
        (["agent", "Own"], "small letters"),
        (["agent", "a/b"], "small letters"),
        (["agent", "random"], "that Python has already"),
    ],
)
def test_what_cannot_be_written_is_refused(words: list[str], says: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=says):
        turnier("new", *words, folder=tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("file", ["own.py", "test_own.py"])
def test_nothing_is_overwritten(file: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text("mine")
    with pytest.raises(UserError, match=f"{file} exists already"):
        turnier("new", "agent", "own", folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [file] and (tmp_path / file).read_text() == "mine"
