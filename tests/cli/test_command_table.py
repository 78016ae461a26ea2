"""The table of commands: lazy, complete, and in agreement with the commands themselves."""

from __future__ import annotations

import gc
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from turnier.arena.workers.where import Where
from turnier.commands import command_line
from turnier.commands.app import COMMANDS, app, function_of
from turnier.core.errors import UserError
from turnier.results.store.store import Store
from turnier.runs.tournament import Tournament

HEAVY = {"numba", "numpy", "pandas", "ray", "optuna", "sqlalchemy", "scipy", "starlette", "altair", "rich"}


def imports(code: str, **environment: str) -> set[str]:
    """Returns the modules that a new process has after a piece of code."""
    code = f"import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\nprint(*sys.modules, file=sys.stderr)"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=os.environ | environment
    )
    assert ended.returncode == 0, ended.stderr
    return set(ended.stderr.splitlines()[-1].split())


def heavy_imports(code: str, **environment: str) -> set[str]:
    """Returns the heavy packages that a piece of code imports in a new process."""
    return HEAVY & imports(code, **environment)


@pytest.mark.parametrize("words", [["--help"], ["--version"], []])
def test_the_table_imports_nothing_heavy(words: list[str]) -> None:
    assert not heavy_imports(f"sys.argv = {['turnier', *words]}; from turnier.commands.app import main; main()")


def test_completion_imports_nothing_heavy() -> None:
    for typed in ("turnier t", "turnier tune --b", "turnier tournament --exec"):
        variables = {"_TURNIER_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
        code = "sys.argv = ['turnier']; from turnier.commands.app import app; app(prog_name='turnier')"
        assert {"rich"} >= heavy_imports(code, **variables)


@pytest.mark.parametrize(
    ("typed", "imported"),
    [
        ("tournament tic", set()),
        ("tournament tictactoe mc", set()),
        ("tune tictactoe mcts --sampler c", set()),
        ("tune tictactoe mcts --noise r", {"numpy"}),
        ("list mc", {"numpy"}),
        ("train 2048 n", set()),
        ("show to", {"numpy", "sqlalchemy"}),
    ],
)
def test_completing_a_value_imports_nothing_that_plays(typed: str, imported: set[str], tmp_path: Path) -> None:
    words = f"turnier {typed}"
    variables = {"_TURNIER_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    variables["TURNIER_STORE"] = f"sqlite:///{tmp_path}/runs.db"
    code = "sys.argv = ['turnier']; from turnier.commands.app import app; app(prog_name='turnier')"
    assert imported | {"rich"} >= heavy_imports(code, **variables)


def test_a_list_imports_only_what_it_names() -> None:
    code = "from turnier.commands.app import app; app(['list', 'games'], standalone_mode=False)"
    assert not {"optuna", "scipy.special", "pandas", "sqlalchemy", "turnier.agents.registry"} & imports(code)


def test_show_loads_no_kernels(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/runs.db"
    with Store.open(url) as store:
        run = Tournament("nim", ["random", "greedy"], games=2).run(store, where=Where("serial")).id
    code = f"from turnier.commands.app import app; app(['show', {run!r}, '--store', {url!r}], standalone_mode=False)"
    # numba imports arraymath for its first kernel
    assert not {"numba.np.arraymath", "scipy.stats", "scipy.optimize", "optuna", "ray"} & imports(code)


def test_only_the_first_garbage_collection_waits() -> None:
    before = gc.get_threshold()
    try:
        for chosen, then in ((command_line.IMPORTED, command_line._THRESHOLD), (100_000, 100_000)):
            command_line._collect_after_imports()
            assert gc.get_threshold()[0] == command_line.IMPORTED
            gc.set_threshold(chosen)
            gc.collect()
            assert gc.get_threshold()[0] == then
    finally:
        gc.set_threshold(*before)


def test_the_help_of_every_command_imports_nothing_heavy() -> None:
    calls = "; ".join(f"app(['{name}', '--help'], standalone_mode=False)" for name in COMMANDS)
    assert {"rich"} >= heavy_imports(f"from turnier.commands.app import app; {calls}")


def test_the_list_of_runs_imports_nothing_that_plays_or_computes(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/runs.db"
    with Store.open(url) as store:
        store.begin_run("tournament:1", "tournament", "nim", {})
    code = f"from turnier.commands.app import app; app(['runs', '--store', {url!r}], standalone_mode=False)"
    assert heavy_imports(code) == {"numpy", "sqlalchemy", "rich"}


def test_a_tournament_imports_nothing_that_only_other_formats_and_searches_need() -> None:
    late = {"scipy.stats", "scipy.optimize", "scipy.sparse", "networkx", "optuna", "ray"}
    assert not late & imports("import turnier.dashboards.kinds.tournament, turnier.runs.tournament")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_the_text_of_the_table_and_examples(name: str) -> None:
    _, summary = COMMANDS[name]
    assert inspect.getdoc(function_of(name)).splitlines()[0] == summary  # type: ignore[union-attr]
    shown = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "120"}).output
    examples = re.search(r"Examples:\n((?: +.+\n)+)", shown)
    assert examples and f"turnier {name}" in examples[1], shown


def test_an_unknown_command_is_named_in_a_sentence() -> None:
    with pytest.raises(UserError, match="no command named 'tournamnet'; did you mean tournament"):
        CliRunner().invoke(app, ["tournamnet"], catch_exceptions=False)


def test_commands_share_their_options() -> None:
    """The same option has the same help wherever it appears."""
    from turnier.commands import options

    texts: dict[str, set[str]] = {}
    for name in COMMANDS:
        function = function_of(name)
        for parameter, annotation in inspect.get_annotations(function, eval_str=True).items():
            for info in getattr(annotation, "__metadata__", ()):
                texts.setdefault(parameter, set()).add(info.help)
    for parameter in ("store", "workers", "address", "openings", "as_json"):
        assert len(texts[parameter]) == 1, texts[parameter]
    assert options.DEFAULT_URL.startswith("sqlite:///")
