"""Coverage by marks in the sources: the lines that Python's own tracing sees, and kernels as they are."""

from __future__ import annotations

import ast
import sys
from types import FrameType
from typing import Any

from tests.covered import mark

SOURCE = '''"""A docstring."""
from __future__ import annotations
import contextlib
class Pair:
    """Another."""
    left: int = 1
    @property
    def sum(self):
        """A third."""
        def inner():
            return self.left
        return inner() + 1
def walk(n):
    for i in range(n):
        if i == 0:
            continue
        elif i == 1:
            with contextlib.suppress(KeyError):
                raise KeyError
        else:
            match i:
                case 2:
                    i += 1
                case _:
                    i += 2
    try:
        raise ValueError
    except ValueError:
        i = 0
    finally:
        n = 0
    while False:
        n = 1
    return i
def never():
    return 1
walk(4), Pair().sum
'''


def traced(source: str) -> set[int]:
    """Returns the lines that Python's tracing sees."""
    seen = set[int]()

    def note(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename == "sample":
            seen.update([frame.f_lineno] * (event == "line"))
            return note
        return None

    before = sys.gettrace()
    sys.settrace(note)
    try:
        exec(compile(source, "sample", "exec"), {"__name__": "sample"})
    finally:
        sys.settrace(before)
    return seen


def test_marks_are_the_lines_that_tracing_sees() -> None:
    ran, tree = [0] * 100, ast.parse(SOURCE)
    mark(tree, 0, nested=True)
    names: dict[str, Any] = {"__name__": "sample", "__ran__": ran}
    exec(compile(ast.fix_missing_locations(tree), "sample", "exec"), names)
    docstrings = {number for number, line in enumerate(SOURCE.splitlines(), 1) if '"""' in line}
    assert {line for line, marked in enumerate(ran) if marked} - docstrings == traced(SOURCE) - docstrings
    assert names["__doc__"] and names["Pair"].sum.__doc__


def test_kernels_and_what_makes_their_machine_code_stay_as_they_are() -> None:
    source = """
@kernel(STEP)
def fast(state):
    return 1
def maker():
    def generate():
        return 2
    return generate
"""
    tree = ast.parse(source)
    mark(tree, 0, nested=False)
    marked = ast.unparse(tree)
    assert "__ran__[4]" not in marked and "__ran__[7]" not in marked and marked.count("__ran__") == 5
