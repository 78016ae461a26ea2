"""Notes, other names and deletions on the command line: what is asked, what is said, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from turnier.commands.app import app
from turnier.core.errors import UserError
from turnier.results.store.store import Store

STUDY = ("mc(iterations=2,rollout_depth=2)", "--params", "rollout_depth=1..8", "--budget", "40games", "--name", "depth")


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A store with a study and two tournaments that share a game."""
    url = f"sqlite:///{tmp_path}/a.db"
    assert called("tune", "2048(size=3)", *STUDY, "--executor", "serial", "--store", url).exit_code == 0
    for agents in (("random", "greedy"), ("random", "mc(iterations=2)")):
        words = ("tournament", "2048(size=3)", *agents, "--games", "3", "--executor", "serial", "--store", url)
        assert called(*words).exit_code == 0
    return url


def called(*words: str, answer: str = "") -> Result:
    return CliRunner().invoke(app, list(words), input=answer, catch_exceptions=False)


def runs(url: str) -> dict[str, str]:
    with Store.open(url, read_only=True) as store:
        return {run.id: run.name for run in store.runs()}


def test_a_note_is_kept_shown_and_removed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    last = list(runs(url))[-1]
    assert called("runs", "note", "last", "--store", url).output == f"{last}: no note\n"
    assert (
        called("runs", "note", "last", "first [try]\nof two", "--store", url).output == f"{last}: first [try] of two\n"
    )
    shown = called("runs", "--store", url).output
    assert "first [try] of two" in shown and max(map(len, shown.splitlines())) <= 80
    assert '"note": "first [try] of two"' in called("runs", "--json", "--store", url).output
    assert called("runs", "note", last, "", "--store", url).output == f"{last}: no note\n"


def test_a_run_is_renamed_after_a_question(url: str) -> None:
    last = list(runs(url))[-1]
    asked = called("runs", "rename", last, "two monkeys", "--store", url, answer="n\n")
    assert f"Rename {last} from '2048(size=3)' to 'two monkeys'?" in asked.output and asked.exit_code == 1
    assert runs(url)[last] == "2048(size=3)"
    called("runs", "rename", "last", "two monkeys", "--store", url, answer="y\n")
    assert runs(url)[last] == "two monkeys"
    called("runs", "rename", "study:depth", "rollouts", "--yes", "--store", url)
    assert runs(url)["study:rollouts"] == "rollouts" and "study:depth" not in runs(url)
    with pytest.raises(UserError, match="a run needs a name, got an empty one"):
        called("runs", "rename", "last", " ", "--yes", "--store", url)


def test_a_deletion_says_first_what_goes_and_what_stays(url: str) -> None:
    study, first, last = runs(url)
    asked = called("runs", "delete", "last", "--store", url, answer="n\n")
    goes = f"{last} (2048(size=3)) goes with 3 games; 3 games stay, since other runs have them too."
    assert asked.output.splitlines()[0] == goes and asked.exit_code == 1 and len(runs(url)) == 3
    assert called("runs", "delete", "last", "--yes", "--store", url).output.splitlines() == [goes, f"Deleted {last}."]
    assert called("runs", "delete", first[:-4], "--store", url, answer="y\n").output.startswith(
        f"{first} (2048(size=3)) goes"
    )
    told = called("runs", "delete", study, "--yes", "--store", url).output
    assert " games, " in told and " candidates." in told and not runs(url)
    with pytest.raises(UserError, match="There is no run named 'last', since none is stored"):
        called("runs", "delete", "last", "--yes", "--store", url)
