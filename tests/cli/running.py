"""Running the command line and the scripts of studies/ in this process: a new one would take seconds to start."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import sys
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from typer.testing import CliRunner

from turnier.commands.app import app, main

REPO = Path(__file__).resolve().parents[2]
STUDIES = REPO / "studies"
# What a process needs to be `turnier`, where a test starts one.
TURNIER = [sys.executable, "-c", "import sys; sys.argv[0] = 'turnier'; from turnier.commands.app import main; main()"]


def turnier(*words: str, folder: Path, columns: int = 200) -> str:
    """Returns what a command prints, run in a folder; fails if it ends with an error."""
    with contextlib.chdir(folder):
        ended = CliRunner().invoke(app, list(words), env={"COLUMNS": str(columns)}, catch_exceptions=False)
    assert ended.exit_code == 0, ended.output
    return ended.stdout


class Ended(NamedTuple):
    """How a script ended."""

    code: int
    printed: str
    errors: str


def end_of_script(script: Path, *words: str, folder: Path) -> Ended:
    """Runs a script in a folder, as `python SCRIPT WORDS`."""
    printed, errors, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.chdir(folder),
        mock.patch.object(sys, "argv", [str(script), *words]),
        mock.patch.dict(os.environ, COLUMNS="80"),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(errors),
    ):
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as end:
            code = int(end.code or 0)
    return Ended(code, printed.getvalue(), errors.getvalue())


def end_of_command(*words: str, folder: Path) -> Ended:
    """Runs a command in a folder as `turnier WORDS`, with all that `main` does around it."""
    printed, errors, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.chdir(folder),
        mock.patch.object(sys, "argv", ["turnier", *words]),
        mock.patch.dict(os.environ, COLUMNS="80"),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(errors),
    ):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return Ended(code, printed.getvalue(), errors.getvalue())


def run_study_script(script: Path, *words: str, folder: Path) -> str:
    """Returns what a script prints, run in a folder; fails if it ends with an error."""
    ended = end_of_script(script, *words, folder=folder)
    assert ended.code == 0, ended
    return ended.printed
