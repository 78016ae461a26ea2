"""The table of commands: lazy, complete, and in agreement with the commands themselves."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from turnier.arena.workers.where import Where
from turnier.commands.app import COMMANDS, app, function_of
from turnier.commands.listing import TITLES, _own
from turnier.core.errors import UserError
from turnier.games.registry import make_game
from turnier.results.store.store import Store
from turnier.runs.tournament import Tournament

KERNELS = "numba.np.arraymath"  # numba imports it for its first kernel
F2PY = "numpy.f2py.crackfortran"  # which SciPy would import
HEAVY = {"numba", "llvmlite", "numpy", "pandas", "ray", "optuna", "sqlalchemy", "starlette", "altair", "rich"}
HEAVY |= {"networkx", KERNELS, F2PY}
HEAVY |= {f"scipy.{part}" for part in ("special", "stats", "optimize", "linalg", "sparse", "sparse.csgraph")}


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


PLAYS = {"rich", "numpy", "numba", "llvmlite", KERNELS}
SHOWS = {"rich", "numpy", "sqlalchemy", "pandas", "scipy.special", "scipy.sparse"}  # of a rating list


@pytest.mark.parametrize(
    ("words", "imported"),
    [
        ("list games", {"rich"}),
        ("list agents", {"rich"}),
        ("list cmaes_lr", {"rich", "numpy"}),
        ("list", {"rich", "numpy"}),
        ("runs", {"rich", "numpy", "sqlalchemy"}),
        ("show nim", SHOWS),
        ("show last", SHOWS),
        ("play nim random greedy", PLAYS),
        ("analyse nim mcts(iterations=9)", PLAYS | SHOWS - {"scipy.sparse"}),
        ("tournament nim random greedy --games 2 --executor serial", PLAYS | SHOWS),
        (
            "tune 2048(size=2) mc(iterations=1) --parameters rollout_depth --noise fixed(games=1) --budget 64"
            " --sampler cmaes --verify 0 --executor serial",
            PLAYS | SHOWS | {"optuna", "scipy.linalg", "scipy.optimize"},
        ),
    ],
)
def test_a_command_imports_only_what_it_needs(words: str, imported: set[str], store_of_a_tournament: str) -> None:
    """What is absent here is used by other commands, or by none before its results need it."""
    call = f"from turnier.commands.app import app; app({words.split()}, standalone_mode=False)"
    assert imported >= heavy_imports(call, TURNIER_STORE=store_of_a_tournament)


def test_who_finds_all_machine_code_imports_nothing_that_makes_it(store_of_a_tournament: str) -> None:
    code = "from turnier.commands.app import app; app(['play', 'nim', 'random', 'random'], standalone_mode=False)"
    imports(code, TURNIER_STORE=store_of_a_tournament)
    of_numba, ours = (
        {KERNELS, "numba.np.arrayobj"},
        {f"turnier.core.compilation.{one}" for one in ("arrays", "lending")},
    )
    found = imports(code, TURNIER_STORE=store_of_a_tournament)
    assert "turnier.core.compilation.cache" in found and not found & (of_numba | ours)


@pytest.fixture(scope="module")
def store_of_a_tournament(tmp_path_factory: pytest.TempPathFactory) -> str:
    url = f"sqlite:///{tmp_path_factory.mktemp('started')}/runs.db"
    with Store.open(url) as store:
        for game, agents in (("nim", ["random", "greedy"]), ("2048(size=2)", ["random"])):
            Tournament(game, agents, games=2).run(store, where=Where("serial"))
    for title in TITLES:
        _own(title)  # which the user's cache then has
    return url


def test_no_module_imports_numba_before_a_kernel_is_used() -> None:
    """Of what declares games and agents, and of what reads results: only core/compilation has numba at hand."""
    modules = "import turnier; from pkgutil import walk_packages; from importlib import import_module"
    floors = "'turnier.core.compilation', 'turnier.dashboards', 'turnier.studies', 'turnier.__main__'"
    wanted = f"[one.name for one in walk_packages(turnier.__path__, 'turnier.') if not one.name.startswith(({floors}))]"
    found = imports(f"{modules}; print(*[import_module(name).__name__ for name in {wanted}])")
    assert {"turnier.games.twenty48.lanes", "turnier.agents.puct.search", "turnier.arena.play_kernel"} <= found
    assert not {"numba", "llvmlite"} & found


def test_lists_are_kept_for_the_present_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    declared = _own("games")
    kept = tmp_path / "turnier/lists/games.json"
    assert _own("games") == declared and declared["nim"].text == inspect.getdoc(type(make_game("nim")))
    kept.write_text(kept.read_text().replace("Nim", "Another"))
    assert _own("games") != declared
    monkeypatch.setattr("turnier.core.compilation.code_digest.own_code", lambda: "edited")
    assert _own("games") == declared
    kept.write_text("{")
    assert _own("games") == declared


def test_the_help_of_every_command_imports_nothing_heavy() -> None:
    calls = "; ".join(f"app(['{name}', '--help'], standalone_mode=False)" for name in COMMANDS)
    assert {"rich"} >= heavy_imports(f"from turnier.commands.app import app; {calls}")


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
