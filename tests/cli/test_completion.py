"""Values that the shell completes: what a note answers is what the application would have answered."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.test_command_table import heavy_imports, imports
from turnier.commands import known_values
from turnier.commands.app import app


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(folder))
        known_values.keep_note()
        yield folder


def note() -> dict[str, dict[str, dict[str, object]]]:
    found: dict[str, dict[str, dict[str, object]]] = json.loads(known_values.note_path().read_text())
    return found


def lines() -> list[str]:
    """Every argument and option of every command that takes names, with one letter typed and without."""
    found = []
    for command, taken in note()["commands"].items():
        places: list[str] = taken["places"]  # type: ignore[assignment]
        options: dict[str, str | None] = taken["options"]  # type: ignore[assignment]
        before = f"turnier {command} "
        for what in places:
            if what in note()["names"]:
                found += [before, f"{before}r", f"{before}--seed 3 "] if "--seed" in options else [before]
            before += "one "
        if taken["more"] and places[-1] in note()["names"]:
            found.append(before)
        flag = next((option for option, what in options.items() if what is None), "")
        named = [option for option, what in options.items() if what in note()["names"]]
        found += [f"turnier {command} one {flag} {option} " for option in named]
    return found


def asked(shell: str, line: str) -> dict[str, str]:
    if shell == "bash":
        return {known_values.ASKED: "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    return {
        known_values.ASKED: f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_note_answers_as_the_application_does(
    shell: str, cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = lines()
    assert {line.split()[1] for line in tried} >= {"play", "tournament", "tune", "train", "list", "compare"}
    for line in tried:
        for name, value in asked(shell, line).items():
            monkeypatch.setenv(name, value)
        known = known_values.answered()
        answer = capsys.readouterr().out
        with pytest.raises(SystemExit):
            app(prog_name="turnier")
        told = capsys.readouterr().out
        assert (known, answer) == ((True, told) if told.strip() not in ("", "_files") else (False, "")), line
        assert known or line.endswith(" r")  # no game begins with r


@pytest.mark.parametrize(
    "line", ["turnier t", "turnier runs note ", "turnier show ", "turnier tournament --", "turnier tournament 'a", "x"]
)
def test_the_application_answers_what_the_note_does_not_know(
    line: str, cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in asked("bash", line).items():
        monkeypatch.setenv(name, value)
    assert not known_values.answered() and not capsys.readouterr().out


def test_a_note_of_other_sources_is_written_again(cache: Path) -> None:
    variables = asked("bash", "turnier tournament tic")
    call = "sys.argv = ['turnier']; from turnier.__main__ import main; main()"
    kept = known_values.note_path().read_text()
    modules = imports(call, **variables)
    assert not {"typer", "rich", "numpy", "turnier.games.registry"} & modules
    content = json.loads(kept)
    content["sources"][known_values.__file__] -= 1
    content["names"]["game"] = ["tictac"]
    known_values.note_path().write_text(json.dumps(content))
    assert "typer" in imports(call, **variables)
    assert json.loads(known_values.note_path().read_text())["names"] == json.loads(kept)["names"]
    assert not heavy_imports(call, **variables)
    assert os.listdir(known_values.note_path().parent) == [known_values.note_path().name]
