"""`make coverage`: which lines run in the processes that run tests, noted by the lines themselves, so it costs little.

Tracing in Python 3.11 slows down all code, also of libraries and tests, so much that some tests take twice as long.
Here our sources get a mark before each statement when they are compiled. Kernels get none, because their byte code is
what they are cached by. `-p tests.covered` loads it. Lines that run only in processes that tests start do not count.
"""

from __future__ import annotations

import ast
import builtins
import itertools
from collections import Counter
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = tuple(ROOT / name for name in ("platform", "dashboards", "studies"))
RAN: list[int] = []  # 1 for each line that has run, of one file after the other
FIRST: dict[Path, int] = {}  # file -> where its lines are in RAN
FOUND: dict[str, set[int]] = {}  # file -> lines that have run, from all processes
MACHINE_CODE = {"kernel", "intrinsic", "atomic", "overload"}
python_compile, python_code = compile, SourceFileLoader.get_code


def is_machine_code(node: ast.AST) -> bool:
    decorators = [each.func if isinstance(each, ast.Call) else each for each in getattr(node, "decorator_list", [])]
    return any(ast.unparse(each) in MACHINE_CODE for each in decorators)


def mark(node: ast.AST, first: int, nested: bool) -> None:
    """Puts `__ran__[first + line] = 1` before each statement within a node; into functions in functions if `nested`."""
    for name in ("body", "orelse", "finalbody"):
        statements = getattr(node, name, None)
        if isinstance(statements, list):
            setattr(node, name, list(marked(node, statements, first, nested)))
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        mark(part, first, nested)


def marked(parent: ast.AST, statements: list[ast.stmt], first: int, nested: bool) -> Iterator[ast.stmt]:
    """Yields the statements of a block, each after marks of its lines."""
    start = getattr(parent, "pattern", parent)
    lines = [start.lineno] if isinstance(parent, ast.ExceptHandler | ast.match_case) else []
    for statement in statements:
        inner = isinstance(parent, ast.FunctionDef) and isinstance(statement, ast.FunctionDef)
        lines += [statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", ()))]
        stays_first = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            stays_first = True  # a docstring
        if not stays_first:
            for line in lines:
                item = ast.Subscript(ast.Name("__ran__", ast.Load()), ast.Constant(first + line), ast.Store())
                yield ast.Assign([item], ast.Constant(1), lineno=line, end_lineno=line, col_offset=0, end_col_offset=0)
            lines = []
        if not is_machine_code(statement) and (nested or not inner):
            mark(statement, first, nested)
        yield statement


def is_ours(file: Path) -> bool:
    return any(file.is_relative_to(folder) for folder in SOURCES)


def compile_marked(source: Any, filename: Any, mode: str, flags: int = 0, *rest: Any, **options: Any) -> Any:
    """Does what `compile` does; code of our files has marks."""
    is_text = isinstance(source, str | bytes) and not flags & ast.PyCF_ONLY_AST  # numba compiles trees of kernels
    if is_text and mode == "exec" and is_ours(file := Path(str(filename)).resolve()):
        tree = ast.parse(source, filename)
        text = file.read_text()
        if file not in FIRST:
            FIRST[file] = len(RAN)
            RAN.extend([0] * (len(text.splitlines()) + 1))
        # What numba calls to make machine code is part of a kernel's digest, too.
        mark(tree, FIRST[file], nested="import intrinsic" not in text)
        source = ast.fix_missing_locations(tree)
    return python_compile(source, filename, mode, flags, *rest, **options)


def code_of(loader: SourceFileLoader, fullname: str) -> Any:
    """Compiles our modules anew, so that no marks are kept on disk."""
    file = loader.get_filename(fullname)
    if is_ours(Path(file).resolve()):
        return compile_marked(loader.get_data(file), file, "exec", dont_inherit=True)
    return python_code(loader, fullname)


def lines_run() -> dict[str, list[int]]:
    """Returns the lines that have run in this process, by file."""
    places = [*FIRST.items(), (ROOT, len(RAN))]
    return {
        str(file): [i - first for i in range(first, end) if RAN[i]]
        for (file, first), (_, end) in itertools.pairwise(places)
    }


def pytest_addoption(parser: pytest.Parser) -> None:
    """Begins: options are asked for before any of our modules is imported."""
    builtins.__ran__ = RAN  # type: ignore[attr-defined]
    builtins.compile = compile_marked  # type: ignore[assignment]
    SourceFileLoader.get_code = code_of  # type: ignore[method-assign]
    parser.addoption("--at-least", type=float, default=0.0, help="fail if a smaller percentage of the lines has run")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    add(getattr(node, "workeroutput", {}).get("ran", {}))


def add(ran: dict[str, list[int]]) -> None:
    for file, lines in ran.items():
        FOUND.setdefault(file, set()).update(lines)


def pytest_sessionfinish(session: pytest.Session) -> None:
    add(lines_run())
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["ran"] = lines_run()
    elif (share := report()) < (least := session.config.getoption("--at-least")):
        print(f"The tests must run at least {least:g} % of the lines, got {share:.2f} %")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def report() -> float:
    """Prints a row for each folder, writes .coverage for what `coverage report` can say, and returns the percentage."""
    import coverage  # here, so that the marks can be tested without it

    measured = coverage.Coverage()
    measured.erase()
    measured.get_data().add_lines(FOUND)
    measured.save()
    lines, ran = Counter[str](), Counter[str]()
    for file in (file for folder in SOURCES for file in sorted(folder.rglob("*.py"))):
        _, statements, _, missing, _ = measured.analysis2(str(file))
        parts = file.relative_to(ROOT).parts
        for folder in ("/".join(parts[: 1 + (parts[0] == "platform")]), "all"):
            lines[folder] += len(statements)
            ran[folder] += len(statements) - len(missing)
    print("\n\nlines that tests run, without kernels")
    for folder in sorted(lines, key="all".__eq__):
        print(f"{folder:24}{ran[folder]:7,} of {lines[folder]:7,}{100 * ran[folder] / lines[folder]:8.1f} %")
    return 100 * ran["all"] / lines["all"]
