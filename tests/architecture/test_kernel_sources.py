"""House rules that a kernel's source shows, for every file of platform/; each rule is shown to find what it forbids."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PLATFORM = Path(__file__).resolve().parents[2] / "platform"
Rule = Callable[[ast.Module, Path], Iterator[str]]
FILES = [path for path in sorted(PLATFORM.rglob("*.py")) if "@kernel(" in path.read_text()]
ALLOCATORS = {"zeros", "empty", "ones", "full", "array", "arange", "zeros_like", "empty_like", "copy", "concatenate"}


def is_kernel(node: ast.AST) -> bool:
    """Whether a node is a function under @kernel(...) or @abi.kernel(...)."""
    return isinstance(node, ast.FunctionDef) and any(
        isinstance(mark, ast.Call) and (getattr(mark.func, "id", "") or getattr(mark.func, "attr", "")) == "kernel"
        for mark in node.decorator_list
    )


def kernels(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and is_kernel(node)]


def module_level(tree: ast.Module, path: Path) -> Iterator[str]:
    """A kernel is a function of its module, without functions inside: closures never hit numba's cache."""
    for function in kernels(tree):
        if function not in tree.body:
            yield f"{function.name} must stand at module level"
        if any(isinstance(node, ast.FunctionDef | ast.Lambda) for part in function.body for node in ast.walk(part)):
            yield f"{function.name} must hold no function"


def never_raises(tree: ast.Module, path: Path) -> Iterator[str]:
    """A kernel returns a status instead of raising."""
    for function in kernels(tree):
        if any(isinstance(node, ast.Raise | ast.Assert | ast.Try) for node in ast.walk(function)):
            yield f"{function.name} must not raise, assert or try"


def no_allocation_in_loops(tree: ast.Module, path: Path) -> Iterator[str]:
    """Loops of a game's kernels allocate nothing."""
    for function in kernels(tree):
        for loop in ast.walk(function):
            for node in ast.walk(loop) if isinstance(loop, ast.For | ast.While) else ():
                made = isinstance(node, ast.List | ast.Dict | ast.Set | ast.ListComp)
                called = isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ALLOCATORS
                if made or called:
                    yield f"{function.name} must not allocate in a loop, line {getattr(node, 'lineno', 0)}"


def only_declared_jit(tree: ast.Module, path: Path) -> Iterator[str]:
    """@kernel in core/kernel.py is the only way to compile."""
    jit = {"jit", "njit", "vectorize", "guvectorize", "cfunc"}
    if path != PLATFORM / "core" / "kernel.py":
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "numba":
                yield from (f"{alias.name} is for core/kernel.py only" for alias in node.names if alias.name in jit)
            if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "numba" and node.attr in jit:
                yield f"numba.{node.attr} is for core/kernel.py only"


RULES: tuple[Rule, ...] = (module_level, never_raises, only_declared_jit)


GAME_FILES = [path for path in FILES if PLATFORM / "games" in path.parents or path.name == "rng.py"]


def offences(rule: Rule, paths: list[Path]) -> list[str]:
    """Returns what breaks a rule, as lines that name the file."""
    return [
        f"{path.relative_to(PLATFORM)}: {offence}"
        for path in paths
        for offence in rule(ast.parse(path.read_text()), path)
    ]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_files_keep_the_rule(rule: Rule) -> None:
    assert offences(rule, FILES) == []


def test_games_allocate_nothing_in_loops() -> None:
    assert offences(no_allocation_in_loops, GAME_FILES) == []


def test_the_rules_see_the_kernels() -> None:
    assert {"board.py", "tictactoe.py", "rng.py", "generic.py", "abi.py"} <= {path.name for path in GAME_FILES}
    seen = {function.name for path in GAME_FILES for function in kernels(ast.parse(path.read_text()))}
    assert {"legal", "step", "playout", "xoshiro", "draw_outcome", "no_chance"} <= seen


BAD = {
    module_level: (
        "def g():\n    @kernel(X)\n    def f(s):\n        pass",
        "@kernel(X)\ndef f(s):\n    g = lambda x: x\n    return g(s)",
    ),
    never_raises: ("@kernel(X)\ndef f(s):\n    raise ValueError", "@kernel(X)\ndef f(s):\n    assert s"),
    no_allocation_in_loops: (
        "@kernel(X)\ndef f(s):\n    for i in s:\n        a = np.zeros(3)",
        "@kernel(X)\ndef f(s):\n    while True:\n        a = [1]",
    ),
    only_declared_jit: ("from numba import njit", "import numba\n@numba.njit\ndef f(s):\n    pass"),
}
GOOD = """
from turnier.games.abi import CHANCE
from turnier.games.game import Game
@kernel(OUTCOMES)
def f(s):
    out = np.zeros(3)
    for i in s:
        out[i] = CHANCE
"""


@pytest.mark.parametrize("rule", [*RULES, no_allocation_in_loops], ids=lambda rule: rule.__name__)
def test_each_rule_finds_what_it_forbids_and_nothing_else(rule: Rule) -> None:
    path = PLATFORM / "games" / "new.py"
    for source in BAD[rule]:
        assert list(rule(ast.parse(source), path)), source
    assert list(rule(ast.parse(GOOD), path)) == []
