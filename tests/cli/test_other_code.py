"""Commands end with a sentence where other code of Turnier has played some of a run's games."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from turnier.commands.app import app
from turnier.commands.machine.checks import check_packages
from turnier.core.compilation.code_digest import release
from turnier.results import other_code
from turnier.results.integrity import match_rows

OLD = "0.1.0+0123456"
SERIAL = ("--executor", "serial")
COMMANDS = {
    "tournament": ("tournament", "tictactoe", "random", "mc(iterations=3)", "--games", "8"),
    "compare": ("compare", "random", "mc(iterations=20)", "--game", "tictactoe", "--games", "40"),
    "certainty": ("certainty", "tictactoe", "random", "--states", "2", "--repeats", "3", "--games", "3"),
    "tune": ("tune", "2048", "mc(iterations=2)", "--params", "rollout_depth", "--budget", "12games"),
}


def ended(*words: str, folder: Path) -> Result:
    with contextlib.chdir(folder):
        found = CliRunner().invoke(app, [*words, *SERIAL], env={"COLUMNS": "200"}, catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_a_run_that_other_code_has_played_says_so_and_others_do_not(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(match_rows, "release", lambda: OLD)
        assert "whose code differs" not in ended(*COMMANDS[name], folder=tmp_path).stdout
    again = ended(*COMMANDS[name], folder=tmp_path).stdout.strip().splitlines()[-1]
    assert f"of these games were played by Turnier {OLD}, whose code differs from this one ({release()}): " in again
    assert "that were played again now had the same moves." in again
    new = (*COMMANDS[name], "--store", "sqlite:///new.db")
    for _ in range(2):
        assert "whose code differs" not in ended(*new, folder=tmp_path).stdout


def test_json_stays_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(match_rows, "release", lambda: OLD)
        ended(*COMMANDS["compare"], folder=tmp_path)
    found = ended(*COMMANDS["compare"], "--json", folder=tmp_path)
    assert json.loads(found.stdout)["games"] and f"Turnier {OLD}" in found.stderr


def test_nothing_is_looked_up_in_a_run_that_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_code, "games_by_release", lambda *given: pytest.fail("the store was asked"))
    ended(*COMMANDS["tournament"], folder=tmp_path)


def test_doctor_shows_the_code() -> None:
    assert f"turnier {release()}," in check_packages().found
