"""The outputs in README.md and docs/ are what their commands print today: they are played here."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.cli.running import REPO, end_of_command
from tests.docs.test_documents import writer_of

WRITER: ModuleType = writer_of("write_outputs")
VARYING = (
    (r"\d{4}-\d\d-\d\d \d\d:\d\d", "DATE"),
    (r"│ [\d.,]+ +│$", "│ TIME │"),  # milliseconds per move, on which the width of their column depends
    (r"━+┓$|━+┩$|─+┘$", ""),
)


def masked(text: str) -> str:
    for pattern, instead in VARYING:
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    return text


def play(words: list[str], folder: Path) -> str:
    """Returns what a command prints; matches are played one after the other."""
    ended = end_of_command(*words, *(["--executor", "serial"] if words[0] in WRITER.PLAYING else []), folder=folder)
    assert ended.code == 0, ended
    return ended.printed


@pytest.mark.parametrize("group", WRITER.GROUPS, ids=" ".join)
def test_a_page_shows_what_its_commands_print(
    group: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TURNIER_STORE", raising=False)
    if "docs/judges.md" in group:
        pytest.importorskip("bitbully")
    (tmp_path / "tests").symlink_to(REPO / "tests")
    for path, page in group.items():
        text = (REPO / path).read_text()
        written = WRITER.with_outputs(text, page, play, tmp_path)
        assert masked(written) == masked(text), "run: python docs/reference/write_outputs.py"
