"""The shape of the code: import direction, annotations, file sizes, and the standard library's `platform`."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
SOURCES = sorted(p for p in [*(REPO / "platform").rglob("*.py"), *(REPO / "src/turnier").glob("*.py")])


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    code = "import sys; sys.path.insert(0, 'src'); from importlinter.cli import lint_imports_command as c; c()"
    return subprocess.run(
        [sys.executable, "-c", code, "--no-cache"], cwd=folder, capture_output=True, text=True, timeout=120
    )


@pytest.fixture
def copy_of_the_code(tmp_path: Path) -> Path:
    for name in ("platform", "dashboards", "src"):
        shutil.copytree(REPO / name, tmp_path / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPO / "pyproject.toml", tmp_path)
    return tmp_path


def test_imports_go_one_way(copy_of_the_code: Path) -> None:
    clean = lint_imports(copy_of_the_code)
    assert clean.returncode == 0, clean.stdout


@pytest.mark.parametrize(
    ("file", "statement"),
    [
        ("games/tictactoe.py", "import turnier.agents.random"),
        ("agents/random.py", "import turnier.arena.play"),
        ("statistics/sprt.py", "import turnier.agents.random"),
        ("arena/play.py", "import turnier.results.store.store"),
        ("results/frames/matches.py", "import turnier.search.study"),
        ("arena/play.py", "import ray"),
        ("agents/ensembles/pool.py", "import ray"),
        ("arena/schedules/duel.py", "import ray"),
        ("results/store/store.py", "import optuna"),
    ],
)
def test_an_import_against_the_direction_is_caught(copy_of_the_code: Path, file: str, statement: str) -> None:
    path = copy_of_the_code / "platform" / file
    path.write_text(path.read_text() + f"\n{statement}\n")
    assert "BROKEN" in lint_imports(copy_of_the_code).stdout


def test_the_standard_librarys_platform_imports_from_the_repository_root() -> None:
    code = "import platform; print(platform.__file__); assert platform.system()"
    shown = subprocess.run([sys.executable, "-c", code], cwd=REPO, capture_output=True, text=True, timeout=60)
    assert shown.returncode == 0, shown.stderr
    assert not Path(shown.stdout.strip()).is_relative_to(REPO)


def test_importing_turnier_starts_neither_ray_nor_optuna() -> None:
    code = "import sys, turnier; assert not {'ray', 'optuna', 'altair'} & set(sys.modules), 'heavy import'"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert shown.returncode == 0, shown.stderr


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(REPO)))
def test_files_stay_small_and_typed(path: Path) -> None:
    """Kernels are typed by their signature, everything else by annotations."""
    text = path.read_text()
    assert len(text.splitlines()) <= 400
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef) or any("kernel(" in ast.unparse(d) for d in node.decorator_list):
            continue
        missing = [a.arg for a in node.args.args if a.annotation is None and a.arg not in ("self", "cls")]
        assert not missing and node.returns is not None, f"{path.name}: {node.name} must be annotated"
