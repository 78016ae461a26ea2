"""Commands that are printed to be copied: a shell must read back whatever a game, agent, file or run is called."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.architecture.test_structure import SOURCES, shown

COMMAND = re.compile(r"(turnier|python studies/\w+\.py)( [^;,`]*)?$")  # a command has begun, and not ended
SAFE = re.compile(  # what needs no quotes, or has them
    r"shlex\.(quote|join)\(.*|.*\[:\w+\]|(\w+\.)*_?(option|kind|command|SAMPLE|__version__|name)|kind\.\w+|release\(\)"
    r"|NOW\[.*|now|known|KINDS\[.*|args\[0\]|.* if several else .*"
)


def unquoted_in(source: str) -> Iterator[tuple[int, str]]:
    """Yields the line and text of each value that stands in a command as it is."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.JoinedStr):
            continue
        said = ""
        for part in node.values:
            if isinstance(part, ast.Constant):
                said += str(part.value)
                continue
            assert isinstance(part, ast.FormattedValue)
            value = ast.unparse(part.value)
            if COMMAND.search(said) and not SAFE.fullmatch(value):
                yield node.lineno, value
            said += "{}"


def test_values_in_commands_are_quoted() -> None:
    found = [f"{shown(path)}:{line}: {value}" for path in SOURCES for line, value in unquoted_in(path.read_text())]
    assert found == [], "use shlex.quote or shlex.join"


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("""f"type: turnier tournament {game} random" """, "game"),
        ("""f'turnier show --store "{url}"'""", "url"),
        ("""f"python studies/report.py all --out {folder}" """, "folder"),
        ("""f"turnier check {shlex.quote(run)}{option}; {why}" """, None),
        ("""f"{count} games, turnier show {match[:SHOWN]} shows {one}" """, "one"),
    ],
)
def test_a_value_as_it_is_is_found(source: str, value: str | None) -> None:
    assert [found for _, found in unquoted_in(source)] == ([value] if value else [])
