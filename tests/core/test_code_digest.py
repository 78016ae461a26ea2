"""Two installations have the same digest of their code exactly if the sources that decide games are the same."""

from __future__ import annotations

import os
import shutil
from importlib import metadata
from pathlib import Path

import pytest
from packaging.version import Version

import turnier
from turnier.core.compilation import code_digest
from turnier.core.compilation.code_digest import FLOORS, SHOWN_DIGITS, digest_of_code, own_code, release

OWN = Path(turnier.__file__).parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as a wheel installs it: folders, not links, in another place and with other times."""
    folder = tmp_path_factory.mktemp("site-packages") / "turnier"
    for floor in FLOORS:
        shutil.copytree(OWN / floor, folder / floor, copy_function=shutil.copyfile)
    return folder


def test_it_is_the_same_wherever_the_code_is(installed: Path) -> None:
    assert digest_of_code(installed) == digest_of_code(OWN) == own_code()
    assert len(own_code()) == SHOWN_DIGITS and int(own_code(), 16) >= 0


def test_a_release_is_a_version_with_the_code() -> None:
    """A local version of digits alone, which few digests are, would be read as a number; it is only written."""
    assert release() == f"{metadata.version('turnier')}+{own_code()}"
    assert Version(release()).public == metadata.version("turnier")


@pytest.mark.parametrize("place", ["games/tictactoe.py", "agents/mc.py", "arena/play.py", "core/rng.py"])
def test_an_edit_of_what_decides_games_changes_it(installed: Path, place: str) -> None:
    file, before = installed / place, digest_of_code(installed)
    text = file.read_text()
    file.write_text(text.replace("+", "-", 1))
    assert digest_of_code(installed) != before
    file.write_text(text)
    assert digest_of_code(installed) == before


def test_a_file_that_comes_goes_or_is_renamed_changes_it(installed: Path) -> None:
    before = digest_of_code(installed)
    new = installed / "games" / "chess" / "one.py"
    new.write_text("x = 1\n")
    one = digest_of_code(installed)
    new.rename(new.with_name("two.py"))
    two = digest_of_code(installed)
    new.with_name("two.py").unlink()
    assert len({before, one, two}) == 3 and digest_of_code(installed) == before


def test_what_is_no_source_does_not_matter(installed: Path) -> None:
    before = digest_of_code(installed)
    for place in (
        *("games/__pycache__/mine.py", "agents/.mc.py", "games/notes.txt"),
        *("commands/app.py", "results/store.py", "server/app.py"),
    ):
        (installed / place).parent.mkdir(parents=True, exist_ok=True)
        (installed / place).write_text("changed\n")
    os.utime(installed / "agents" / "mc.py", (0, 0))
    assert digest_of_code(installed) == before


def test_it_is_read_once_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    known = own_code()
    monkeypatch.setattr(code_digest, "digest_of_code", lambda folder: pytest.fail("it was read again"))
    assert own_code() == known
