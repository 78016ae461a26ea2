"""The notebooks of docs/, cell by cell as a notebook runs them: the last expression of a cell is shown."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import linecache
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import REPO
from turnier.core.errors import UserError


def cells(name: str) -> list[str]:
    pages = json.loads((REPO / "docs" / name).read_text())["cells"]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in pages)  # they are made by its reader
    return ["".join(cell["source"]) for cell in pages if cell["cell_type"] == "code"]


def shown(text: str, number: int, space: dict[str, Any]) -> str:
    """Runs a cell; returns what it prints, and its value as a notebook shows it."""
    name = f"<cell {number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    tree, printed, value = ast.parse(text), io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None  # type: ignore[attr-defined]
        exec(compile(tree, name, "exec"), space)
        value = eval(compile(last, name, "eval"), space) if last else None
    html = getattr(value, "_repr_html_", None)
    return printed.getvalue() + ("" if value is None else html() if html else repr(value))


def test_the_notebook_runs_offline_from_import_to_a_verdict_and_a_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {"__name__": "__main__"}
    pages = [shown(text, number, space) for number, text in enumerate(cells("notebook.ipynb"))]
    assert any("<svg" in page and "__main__:corners@" in page for page in pages)
    assert any(" over start" in page for page in pages) and any(" at tictactoe after " in page for page in pages)
    assert not any("https://cdn" in page for page in pages)
    space["store"].close()
    assert [path.name for path in tmp_path.iterdir()] == ["notebook.db"]


def test_the_notebook_for_users_of_optuna_ends_with_the_recommendation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {"__name__": "__main__"}
    pages = [shown(text, number, space) for number, text in enumerate(cells("optuna.ipynb"))]
    assert "Recommended: the proposed agent" in pages[1] and "'kind': 'plain'" not in pages[2]
    assert "<svg" in pages[3] and space["other"].ask() is None and space["third"].verdict is not None
    assert pages[-1].endswith("True") and "the luckiest: " in pages[-1]
    space["study"].store.close()


def test_a_mistake_in_a_notebook_is_one_line() -> None:
    assert UserError("name a game.")._render_traceback_() == ["UserError: name a game."]
