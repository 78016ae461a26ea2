"""Texts of others cannot control a terminal, and passwords are not shown."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from turnier.core.terminal.console import Console
from turnier.core.terminal.visible import say, visible, visible_line, without_passwords

REPO = Path(__file__).resolve().parents[2]
PLANTED = "a\x1b[2Jb\x07c\rd\x9be\u202ef\u2067g\x7fh\u2028i"
SHOWN = "a␛[2Jb␇c␍d\\u009be\\u202ef\\u2067g␡h\\u2028i"


def test_control_characters_become_symbols() -> None:
    assert visible(PLANTED) == SHOWN
    assert visible(usual := "Ω\t✓\n日本 \u200e") == usual
    assert visible_line("a\nb\tc\x1b") == "a␊b␉c␛"


@pytest.mark.parametrize("words", ["{}", "[bold]{}[/]"])
def test_a_console_prints_symbols_and_its_own_codes(words: str) -> None:
    file = io.StringIO()
    Console(file=file, force_terminal=True, color_system="standard", width=80, highlight=False).print(
        words.format(PLANTED)
    )
    assert SHOWN in file.getvalue()
    assert ("\x1b[1m" in file.getvalue()) == ("bold" in words)


def test_tables_stay_in_line() -> None:
    file = io.StringIO()
    table = Table()
    for text in (PLANTED, "x", Text("\x1b\x1b[2J")):
        table.add_row(text, "end")
    Console(file=file, width=80).print(table)
    lines = file.getvalue().splitlines()
    assert SHOWN in lines[3] and "␛␛[2J" in lines[5]
    assert len(lines[3]) == len(lines[4])


def test_a_line_is_printed_without_passwords(capsys: pytest.CaptureFixture[str]) -> None:
    say("\x1b postgresql://me:secret@host/db", errors=True)
    assert capsys.readouterr() == ("", "␛ postgresql://me:***@host/db\n")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("--store=postgresql+psycopg://me:se/cr:et@host:5432/db", "--store=postgresql+psycopg://me:***@host:5432/db"),
        ("'postgres://:secret@host' x@y", "'postgres://:***@host' x@y"),
        (
            "postgresql://me@host/db?password=secret&sslpassword=s",
            "postgresql://me@host/db?password=***&sslpassword=***",
        ),
    ],
)
def test_passwords_of_urls_are_hidden(text: str, shown: str) -> None:
    assert without_passwords(text) == shown


@pytest.mark.parametrize(
    "text",
    ["postgresql://me@host:5432/db", "sqlite:////a:b@c.db", "http://127.0.0.1:8501/x@y", "ws://h:1/spe_ed?k=a@b"],
)
def test_what_has_no_password_stays(text: str) -> None:
    assert without_passwords(text) == text


def test_no_other_console_is_made() -> None:
    """Rich's own would print what others' texts say; a bare `print` is left to JSON and to our own sentences."""
    sources = [path for folder in ("platform", "dashboards", "studies") for path in (REPO / folder).rglob("*.py")]
    wrong = re.compile(
        r"^ *from rich(\.console)? import .*\b(Console|print)\b|rich\.console\.Console\(\)", re.MULTILINE
    )
    assert len(sources) > 500
    assert [path for path in sources if wrong.search(path.read_text())] == []
