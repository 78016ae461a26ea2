"""Data that code names in TURNIER_FILES: part of its version, with it wherever it goes, and inside its folder."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.core.test_outside import chosen, user  # noqa: F401  a folder to work in, and a user whom no code is known to
from turnier.agents.registry import AGENTS
from turnier.contract.opened_files import OpenedFiles
from turnier.core.errors import UserError
from turnier.core.outside import bundle as bundles
from turnier.core.outside import classes, library
from turnier.core.outside.bundle import Bundle
from turnier.core.outside.trust import trusting

BOT = '''
from dataclasses import dataclass
from pathlib import Path
import numpy as np
import book.reader
from turnier.agents.agent import Agent, Decision

TURNIER_FILES = ["skip.bin"]

@dataclass(frozen=True)
class Bot(Agent):
    """Skips as many legal actions as its data say."""

    def start(self, game, seat=0, seed=0):
        return self

    def act(self, position):
        skip = Path(__file__).with_name("skip.bin").read_bytes()[1] + book.reader.more()
        zero = np.zeros(position.game.num_actions)
        return Decision(position.legal_actions()[skip], zero, zero, 0, 0.0)
'''
READER = """
from pathlib import Path
TURNIER_FILES: tuple = ("lines/*.txt",)

def more():
    return sum(len(path.read_text()) for path in Path(__file__).parent.glob("lines/*.txt"))
"""


@pytest.fixture(autouse=True)
def folder(user: Path) -> Path:  # noqa: F811
    """Has the bot and its data: 2 actions are skipped by the file beside it, 2 more by its book."""
    (user / "book" / "lines").mkdir(parents=True)
    (user / "bot.py").write_text(BOT)
    (user / "book" / "reader.py").write_text(READER)
    (user / "skip.bin").write_bytes(b"\xff\x02\x00")
    for name in ("a.txt", "b.txt", "unused.md"):
        (user / "book" / "lines" / name).write_text("x")
    return user


def test_the_content_is_part_of_the_version_and_each_version_reads_its_own(folder: Path) -> None:
    before = AGENTS.make("bot.py:Bot").full_text()
    data = {"skip.bin": b"\xff\x02\x00", "book/lines/a.txt": b"x", "book/lines/b.txt": b"x"}
    assert classes.current("bot.py").data == data and chosen(before) == 4
    (folder / "skip.bin").write_bytes(b"\xff\x05")
    after = AGENTS.make("bot.py:Bot").full_text()
    assert before != after and [chosen(text) for text in (after, before)] == [7, 4]
    (folder / "book" / "lines" / "unused.md").write_text("edited")
    assert AGENTS.make("bot.py:Bot").full_text() == after


def test_code_without_data_keeps_the_version_that_it_had() -> None:
    plain = Bundle("bot.py", {"bot.py": "x = 1\n"})
    said = json.dumps(["bot.py", [["bot.py", "x = 1\n"]]])
    assert plain.digest == hashlib.sha256(said.encode()).hexdigest()[:12] and set(plain.to_json()) == {"place", "files"}


def test_it_travels_and_what_somebody_writes_into_the_cache_does_not_play(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, sent = AGENTS.make("bot.py:Bot").full_text(), json.dumps(classes.current("bot.py").to_json())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    monkeypatch.setattr(library, "_known", {})
    for file in ("skip.bin", "bot.py", "book/reader.py"):
        (folder / file).unlink()
    received = Bundle.from_json(json.loads(sent))
    library.keep(received)
    place = library.unpacked(received)
    (place / "skip.bin").write_bytes(b"\xff\x07")
    with trusting():
        assert chosen(text) == 4
    assert (place / "skip.bin").read_bytes() == received.data["skip.bin"]


def test_a_git_revision_has_its_own_data(folder: Path) -> None:
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "one"]):
        subprocess.run(["git", *words], check=True)
    (folder / "skip.bin").write_bytes(b"\xff\x00")
    assert [chosen(f"bot.py:Bot{version}") for version in ("@HEAD", "")] == [4, 2]
    assert AGENTS.make("bot.py:Bot@HEAD") != AGENTS.make("bot.py:Bot")


@pytest.mark.parametrize(
    ("listed", "says"),
    [
        ('["../secret.txt"]', r"must name files in or below its folder, got '../secret.txt'; write paths such as"),
        ('["/etc/hostname"]', "must name files in or below its folder, got '/etc/hostname'"),
        ('["**/*.txt"]', "must name files in or below its folder"),
        ('["none.json"]', "must name data files, got 'none.json', which matches none; correct it, or"),
        ('["bot.py"]', "must name data files, got 'bot.py', which matches none"),
        ('["link.txt"]', "data of code must be in its folder, got link.txt, a link to elsewhere; copy the file"),
        ("[name for name in ()]", r'TURNIER_FILES in bot.py must be a list of paths in quotes, such as \["weights'),
        ('"skip.bin"', "must be a list of paths in quotes"),
        ('["skip.bin", "large.bin"]', "must name at most 500 files of 50 bytes, got more; name large files by param"),
    ],
)
def test_what_is_no_data_file_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: str, says: str
) -> None:
    monkeypatch.setattr(bundles, "MAX_DATA", 50)
    (tmp_path / "secret.txt").write_text("secret")
    os.symlink(tmp_path / "secret.txt", folder / "link.txt")
    (folder / "large.bin").write_bytes(bytes(49))
    (folder / "bot.py").write_text(BOT.replace('["skip.bin"]', listed))
    with pytest.raises(UserError, match=says):
        AGENTS.make("bot.py:Bot")


@pytest.mark.parametrize("data", [{"../a": "eA=="}, {"/a": "eA=="}, {"a/../../b": "eA=="}, {"a.py": "eA=="}])
def test_stored_data_stay_inside_their_folder(data: Mapping[str, str]) -> None:
    with pytest.raises(UserError, match="do not trust this store"):
        Bundle.from_json({"place": "bot.py", "files": {"bot.py": ""}, "data": data})


def test_check_asks_for_no_other_declaration(folder: Path) -> None:
    opened = OpenedFiles()
    (folder / "bot.py").write_text(BOT + "# that no other test imports\n")
    with trusting():
        agent = AGENTS.make("bot.py:Bot")
        assert chosen("bot.py:Bot") == 4 and opened.undeclared([agent]) == []
        (folder / "bot.py").write_text(BOT + "more = Path('book/lines/unused.md').read_text()\n")
        assert opened.undeclared([AGENTS.make("bot.py:Bot")]) == ["book/lines/unused.md"]


def test_a_file_that_nobody_declared_is_named_with_what_to_write(folder: Path) -> None:
    (folder / "skip.bin").unlink()
    (folder / "bot.py").write_text(BOT.replace('["skip.bin"]', "[]"))
    with trusting(), pytest.raises(FileNotFoundError) as raised:
        chosen("bot.py:Bot")
    told = classes.described(raised.value, classes.current("bot.py"))
    assert told.endswith("; files that bot.py names in TURNIER_FILES travel with it (bot.py, line 18)")
