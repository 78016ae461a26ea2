"""The shape of the code: import direction, sizes of files and folders, annotations, links, the stdlib's `platform`."""

from __future__ import annotations

import ast
import graphlib
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
PACKAGES = [path.resolve() for path in sorted((REPO / "src/turnier").iterdir()) if path.is_symlink()]
SOURCES = sorted(path for package in [*PACKAGES, REPO / "src/turnier"] for path in package.rglob("*.py"))
MAX_LINES = 400  # per file
MAX_MODULES = 12  # per folder, not counting __init__.py


def shown(path: Path) -> str:
    return str(path.relative_to(REPO))


def run_python(code: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, timeout=120)


def lint_imports(folder: Path) -> str:
    code = "import sys; sys.path.insert(0, 'src'); sys.argv = ['lint-imports', '--no-cache'];"
    return run_python(code + " from importlinter.cli import lint_imports_command as c; c()", folder).stdout


@pytest.fixture
def copy_of_the_code(tmp_path: Path) -> Path:
    for name in ("platform", "dashboards", "studies", "src"):
        shutil.copytree(REPO / name, tmp_path / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPO / "pyproject.toml", tmp_path)
    return tmp_path


def test_imports_go_one_way(copy_of_the_code: Path) -> None:
    report = lint_imports(copy_of_the_code)
    assert "KEPT" in report and " 0 broken" in report, report


# What each contract forbids, as (contract, file, statement): one file cannot break two of them without being noticed.
FORBIDDEN = [
    ("One direction", "platform/games/tictactoe.py", "import turnier.agents.random"),
    ("One direction", "platform/agents/random.py", "import turnier.arena.play"),
    ("One direction", "platform/statistics/sprt.py", "import turnier.agents.random"),
    ("One direction", "platform/arena/play.py", "import turnier.results.store.store"),
    ("One direction", "platform/results/frames/matches.py", "import turnier.search.study"),
    ("One direction", "dashboards/sections.py", "import turnier.commands.app"),
    ("Only arena.workers.cluster imports ray", "platform/arena/play.py", "import ray"),
    ("Only arena.workers.cluster imports ray", "platform/agents/ensembles/pool.py", "import ray"),
    ("Only arena.workers.cluster imports ray", "platform/arena/schedules/duel.py", "import ray"),
    ("Only search, and scripts that export or compare searches", "platform/results/store/store.py", "import optuna"),
    ("Only dashboards import altair", "platform/search/study.py", "import altair"),
    ("Only the judge of connect four imports bitbully", "platform/agents/perfect/judge.py", "import bitbully"),
    ("Only gradients import jax", "platform/agents/deep/network.py", "import jax"),
]


def test_every_import_against_the_direction_is_caught(copy_of_the_code: Path) -> None:
    """One run of import-linter sees all of them: each offending module is named under the contract that it breaks."""
    for _, file, statement in FORBIDDEN:
        path = copy_of_the_code / file
        path.write_text(f"{path.read_text()}\n{statement}\n")
    report = lint_imports(copy_of_the_code)
    contracts = report.partition("Broken contracts")[2]
    assert contracts, report
    for contract, file, statement in FORBIDDEN:
        module = ".".join(["turnier", *Path(file.removeprefix("platform/")).with_suffix("").parts])
        section = contracts.partition(contract)[2].partition("\nOnly ")[0]
        assert f"{module} -> {statement.split()[1]}" in section, f"{contract}: {module} may {statement}\n{section}"


def test_files_stay_small() -> None:
    sizes = {shown(path): len(path.read_text().splitlines()) for path in SOURCES}
    assert {path: lines for path, lines in sizes.items() if lines > MAX_LINES} == {}


def test_folders_stay_small() -> None:
    folders = {path.parent for path in SOURCES}
    sizes = {shown(folder): len([*folder.glob("*.py")]) - (folder / "__init__.py").exists() for folder in folders}
    assert {folder: modules for folder, modules in sizes.items() if modules > MAX_MODULES} == {}


def unannotated(path: Path) -> Iterator[str]:
    """Yields the functions that lack annotations; kernels are typed by their signature."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if any("kernel(" in ast.unparse(mark) for mark in node.decorator_list):
            continue
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        missing = [a.arg for a in arguments if a.annotation is None and a.arg not in ("self", "cls")]
        if missing or node.returns is None:
            yield f"{shown(path)}:{node.lineno} {node.name}"


def test_functions_are_annotated() -> None:
    assert [function for path in SOURCES for function in unannotated(path)] == []


def imports(path: Path) -> set[str]:
    """Returns the names of the packages that a file imports, at any place."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    return {name.partition(".")[0] for name in names}


def module_of(path: Path) -> str:
    """Returns the name by which a file is imported."""
    parts = path.relative_to(REPO).with_suffix("").parts
    parts = parts[2:] if parts[:2] == ("src", "turnier") else parts[1:] if parts[0] == "platform" else parts
    return ".".join(("turnier", *parts)).removesuffix(".__init__")


MODULES = {module_of(path): path for path in SOURCES}


def imported(path: Path, module: str) -> Iterator[str]:
    """Yields what the file of a module imports anywhere, modules of ours by their full names."""
    package = [*module.split("."), *([""] if path.name == "__init__.py" else [])]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            home = ".".join(
                [*package[: -node.level], *filter(None, [node.module])] if node.level else [node.module or ""]
            )
            inside = [f"{home}.{alias.name}" for alias in node.names]
            yield from (name if name in MODULES else home for name in inside)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


# Files that are one thing: a plan and the results that reopen it, what is learned and its loop, the table of commands
# and what generates them.
ONE = {
    "turnier.runs.results": "turnier.runs.plan",
    "turnier.runs.declared.kinds": "turnier.runs.plan",
    "turnier.runs.stored.tournament": "turnier.runs.tournament",
    "turnier.runs.stored.comparison": "turnier.runs.comparison",
    "turnier.runs.stored.race": "turnier.runs.comparison",
    "turnier.runs.stored.judging": "turnier.runs.judging.judging",
    "turnier.runs.stored.profile": "turnier.runs.profile",
    "turnier.search.balance.results": "turnier.search.balance.plan",
    "turnier.agents.learning.loop": "turnier.agents.learning.plan",
    "turnier.commands.runs.planned": "turnier.commands.app",
}


def circle(files: dict[str, Path]) -> list[str]:
    """Returns modules that import each other by way of others, the first as the last again; none if there are none.

    Imports for types count, and those within functions, which nothing else sees.
    """
    graph: dict[str, set[str]] = {}
    for module, path in files.items():
        names = {ONE.get(name, name) for name in imported(path, module) if name in MODULES and name != "turnier"}
        graph.setdefault(ONE.get(module, module), set()).update(names)
    try:
        graphlib.TopologicalSorter({module: names - {module} for module, names in graph.items()}).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_imports_itself_by_way_of_others(tmp_path: Path) -> None:
    files = {module: path for module, path in MODULES.items() if module != "turnier"}
    assert circle(files) == []
    planted = tmp_path / "abi.py"
    planted.write_text("def later():\n    from turnier.games.tictactoe import TicTacToe\n")
    assert {"turnier.games.abi", "turnier.games.tictactoe"} <= set(circle(files | {"turnier.games.abi": planted}))


LAYERS = tomllib.loads((REPO / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]["layers"]
HEIGHTS = {name: -depth for depth, names in enumerate(LAYERS) for name in names.split(" | ")}


def named(path: Path) -> Iterator[str]:
    """Yields the modules of ours whose names a file imports as strings, which import-linter does not see."""
    for call in ast.walk(ast.parse(path.read_text())):
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("import_module"):
            texts = (node.value for node in ast.walk(call) if isinstance(node, ast.Constant))
            yield from (str(text).rstrip(".") for text in texts if str(text).split(".")[0] == "turnier")


def height(module: str) -> int:
    """Returns how high a module's floor lies; the package itself is above all."""
    return HEIGHTS[module.split(".")[1]] if "." in module else 1


def test_no_name_in_a_string_is_imported_from_a_floor_below() -> None:
    found = {
        f"{module} -> {name}"
        for module, path in MODULES.items()
        for name in named(path)
        if height(name) > height(module)
    }
    assert found == set()


def absolute(path: Path) -> Iterator[str]:
    """Yields the imports of a file by the name of the package, except of floors that lie elsewhere."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            first, _, floor = node.module.partition(".")
            if first == "turnier" and floor.partition(".")[0] not in ("dashboards", "studies"):
                yield f"{shown(path)}:{node.lineno} from {node.module}"
        elif isinstance(node, ast.Import):
            yield from (f"{shown(path)}:{node.lineno} {a.name}" for a in node.names if a.name.startswith("turnier"))


def test_imports_within_platform_are_relative() -> None:
    """So that tools that do not follow the links of src/turnier see the floors; templates are files of users."""
    inside = [path for path in SOURCES if path.is_relative_to(REPO / "platform") and path.parent.name != "templates"]
    assert [found for path in inside for found in absolute(path)] == []
    assert list(absolute(REPO / "studies/cmaes_rows.py")), "others import the package, as anybody does"


def test_charts_are_drawn_by_one_library() -> None:
    assert [shown(path) for path in SOURCES if "matplotlib" in imports(path)] == []
    assert "matplotlib" not in (REPO / "pyproject.toml").read_text().partition("dependencies = [")[2].partition("]")[0]


def test_parts_of_scipy_are_imported_when_they_are_first_used() -> None:
    """`import scipy` does that: it takes milliseconds, its part `special` a tenth of a second, `stats` half a one."""
    at_once = re.compile(r"^(from scipy\b|import scipy\.)", re.MULTILINE)
    platform = [path for path in SOURCES if path.is_relative_to(REPO / "platform")]
    assert platform and [shown(path) for path in platform if at_once.search(path.read_text())] == []


def test_the_package_folder_holds_links_only() -> None:
    """Code lies in platform/, dashboards/ and studies/; src/turnier makes one package of it."""
    own = {path.name for path in (REPO / "src/turnier").iterdir() if not path.is_symlink()} - {"__pycache__"}
    assert own == {"__init__.py", "__main__.py", "py.typed"}
    folders = {path for path in (REPO / "platform").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert set(PACKAGES) == folders | {REPO / "dashboards", REPO / "studies"}


def test_a_checkout_without_links_says_so_in_one_sentence(copy_of_the_code: Path) -> None:
    """Where git may not make symbolic links, it writes text files that hold the target."""
    for link in (copy_of_the_code / "src/turnier").iterdir():
        if link.is_symlink():
            target = str(link.readlink())
            link.unlink()
            link.write_text(target)
    result = run_python("import sys; sys.path.insert(0, 'src'); import turnier", copy_of_the_code)
    assert result.returncode != 0
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: ") and "symbolic links" in last and "git config core.symlinks true" in last


def test_the_standard_librarys_platform_imports_from_the_repository_root() -> None:
    result = run_python("import platform; print(platform.__file__); assert platform.system()", REPO)
    assert result.returncode == 0, result.stderr
    assert not Path(result.stdout.strip()).is_relative_to(REPO)


def test_importing_turnier_starts_neither_ray_nor_optuna() -> None:
    result = run_python(
        "import sys, turnier; assert not {'ray', 'optuna', 'matplotlib', 'pandas', 'bitbully'} & set(sys.modules)"
    )
    assert result.returncode == 0, result.stderr
