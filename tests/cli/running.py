"""Running the command line and the scripts of studies/ in this process: a new one would take seconds to start."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import sys
from pathlib import Path
from unittest import mock

from typer.testing import CliRunner

from turnier.commands.app import app

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


def run_study_script(script: Path, *words: str, folder: Path) -> str:
    """Returns what a script prints, run in a folder as `python SCRIPT WORDS`; fails if it ends with an error."""
    printed, errors, code = io.StringIO(), io.StringIO(), 0
    modules = set(sys.modules)
    with (
        contextlib.chdir(folder),
        mock.patch.object(sys, "argv", [str(script), *words]),
        mock.patch.object(sys, "path", [str(script.parent), *sys.path]),
        mock.patch.dict(os.environ, COLUMNS="80"),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(errors),
    ):
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as end:
            code = int(end.code or 0)
    for name in set(sys.modules) - modules:  # each folder of studies may have a module of the same name
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(STUDIES)):
            del sys.modules[name]
    assert code == 0, printed.getvalue() + errors.getvalue()
    return printed.getvalue()
