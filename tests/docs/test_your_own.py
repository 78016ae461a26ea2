"""The tutorial of docs/your_own.md, command by command, with its edit."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.running import REPO, turnier
from turnier.commands.command_line import with_stored_versions

PAGE = REPO / "docs/your_own.md"
STEP = re.compile(r"^    (turnier [^\n]*)$|^```python\n(.*?)```$", re.MULTILINE | re.DOTALL)
SMALLER = (
    (r"--games \d+", "--games 4"),
    (r"--budget \d+", "--budget 40"),
    (r"iterations=\d+", "iterations=3"),
)
FILES = {3: "quick.py", 4: "reader.py", 5: "race.py"}  # what the blocks after the edit are written to
PLAYS = ("tournament", "compare", "tune")


@pytest.mark.parametrize("checked", [False, pytest.param(True, marks=pytest.mark.long)], ids=["plays", "checks"])
def test_the_tutorial_works(checked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything but the checks, which take longer, or everything."""
    monkeypatch.chdir(tmp_path)
    bot, code = tmp_path / "first_bot.py", []
    (data,) = re.findall(r"^```json\n(.*?)```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "weights.json").write_text(data)
    for command, block in STEP.findall(PAGE.read_text()):
        if block:
            code.append(block)
            if len(code) == 2:
                assert bot.read_text().count(code[0]) == 1
                bot.write_text(bot.read_text().replace(*code))
            elif len(code) in FILES:
                (tmp_path / FILES[len(code)]).write_text(block)
        elif checked or not command.startswith("turnier check"):
            for pattern, less in SMALLER:
                command = re.sub(pattern, less, command)
            words = with_stored_versions(shlex.split(command)[1:])
            turnier(*words, *(["--executor", "serial"] if words[0] in PLAYS else []), folder=tmp_path)
    versions = "".join(turnier("show", name, folder=tmp_path) for name in ("first_bot.py", "reader.py"))
    named = re.findall(r"(?:first_bot\.py:FirstBot|reader\.py:Reader|weights\.json)@[0-9a-f]{7}", PAGE.read_text())
    assert len(set(named)) == 4 and all(name in versions for name in named)
    assert len(code) == 6 and code[5] in (tmp_path / "test_first_bot.py").read_text()
