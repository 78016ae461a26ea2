"""Every command that a document names can be typed today: its words, options and values are known."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.cli.running import REPO
from turnier.commands.app import app
from turnier.core.errors import UserError

DOCUMENTS = [*REPO.glob("*.md"), *(REPO / "docs").rglob("*.md"), *(REPO / "benchmarks").glob("*.md")]
ALONE = re.compile(r"^ {4,}(?:[^\n`]*\s)?turnier (?=[a-z])", re.MULTILINE)  # also after a variable, or in a function
INLINE = re.compile(r"`turnier ([a-z][^`]*)`")
NOT_IN_SENTENCES = re.compile(r"^```.*?^```$|^ {4,}[^\n]*$", re.MULTILINE | re.DOTALL)
PLACEHOLDER = re.compile(r"[A-Z]|PORT|\$\w")  # a number, or what a shell puts there
LINES = 4  # of a command, at most
UNFINISHED = (
    "Missing argument",
    "Missing option",
    "requires an argument",
)  # what sentences may leave out: `turnier show --out`


def words_at(text: str) -> list[str]:
    """Returns the words of the command that begins here, with the lines to which quotes or backslashes extend it."""
    lines = text.splitlines()
    for count in range(1, LINES + 1):
        command = "\n".join(lines[:count])
        if not command.endswith("\\"):
            try:
                return shlex.split(command.replace("\\\n", " ").removesuffix("; }"), comments=True)
            except ValueError:  # a quote is open
                continue
    raise AssertionError(f"a command must end within {LINES} lines: {lines[0]}")


def commands_of(text: str) -> tuple[list[list[str]], list[list[str]]]:
    """Returns the words of a document's commands: of those on lines of their own, and of those in sentences."""
    alone = [words_at(text[found.end() :]) for found in ALONE.finditer(text)]
    return alone, [shlex.split(found[1]) for found in INLINE.finditer(NOT_IN_SENTENCES.sub("", text))]


def mistake_in(words: list[str]) -> str:
    """Returns what is said of a command before it runs, or nothing."""
    command: Any = typer.main.get_command(app)
    words = [PLACEHOLDER.sub("1", word) if PLACEHOLDER.fullmatch(word) else word for word in words]
    context = command.make_context("turnier", words)
    try:
        while rest := [*context._protected_args, *context.args]:
            name, command, rest = context.command.resolve_command(context, rest)
            context = command.make_context(name, rest, parent=context)
            if not hasattr(command, "resolve_command"):
                break
    except UserError as error:
        return str(error)
    except typer.BadParameter.__mro__[2] as error:  # the parent of all mistakes in options
        return error.format_message()
    return ""


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPO)))
def test_the_commands_of_a_document_can_be_typed(document: Path) -> None:
    alone, inline = commands_of(document.read_text())
    mistakes = {shlex.join(words): mistake_in(words) for words in [*alone, *inline]}
    told = {command: mistake for command, mistake in mistakes.items() if mistake}
    for words in inline:
        if any(text in mistakes[shlex.join(words)] for text in UNFINISHED):
            told.pop(shlex.join(words), None)
    assert told == {}


def test_mistakes_are_found() -> None:
    text = """
    A=1 turnier tournament nim \\
      random "mc(a,
      b)" --budget 5  # games

Or `turnier serve`, and `turnier new`."""
    alone, inline = commands_of(text)
    assert alone == [["tournament", "nim", "random", "mc(a,\n      b)", "--budget", "5"]]
    assert "--budget" in mistake_in(alone[0])
    assert "is now turnier spe_ed serve" in mistake_in(inline[0]) and UNFINISHED[0] in mistake_in(inline[1])
    assert "'spe_ed jion'" in mistake_in(["spe_ed", "jion"])
    assert "is not a valid int" in mistake_in(["tournament", "--games", "abc"])
