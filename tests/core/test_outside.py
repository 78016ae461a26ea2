"""Classes of others: which files belong to them, how they are named, and that versions never mix."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from turnier.agents.registry import AGENTS
from turnier.commands.app import app
from turnier.core.errors import UserError
from turnier.core.outside import classes, library
from turnier.core.outside.bundle import Bundle, gather, on_disk
from turnier.games.registry import GAMES

BOT = '''
from dataclasses import dataclass
import numpy as np
import helper
from turnier.agents.agent import Agent, Decision
from turnier.core.parameters import parameter

@dataclass(frozen=True)
class Bot(Agent):
    """Plays one of the first legal actions."""
    skip: int = parameter(0, "legal actions to skip", low=0, high=10)

    def start(self, game, seat=0, seed=0):
        return Player(self, game)

class Player:
    def __init__(self, agent, game):
        self.agent, self.game = agent, game

    def act(self, position):
        zero = np.zeros(self.game.num_actions)
        return Decision(helper.choose(position.legal_actions(), self.agent.skip), zero, zero, 0, 0.0)
'''
FIRST = "def choose(legal, skip):\n    return legal[min(skip, len(legal) - 1)]\n"
LAST = FIRST.replace("legal[", "legal[-1-").replace("min(", "min(0 * ")


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, and a user whom no code is known to."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(library, "_known", {})
    monkeypatch.setattr(classes, "_classes", {})
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    (folder / "bot.py").write_text(BOT)
    (folder / "helper.py").write_text(FIRST)
    return folder


def chosen(text: str) -> int:
    game = GAMES.make("tictactoe")
    return AGENTS.make(text).start(game).act(game.start()).action


def test_a_class_is_known_by_its_file_and_all_that_it_imports_from_its_folder(user: Path) -> None:
    (user / "unused.py").write_text("x = 1\n")
    before = AGENTS.make("bot.py:Bot(skip=2)").full_text()
    assert sorted(classes.current("bot.py").files) == ["bot.py", "helper.py"]
    assert before.startswith("bot.py:Bot@") and before.endswith("(skip=2)")
    (user / "unused.py").write_text("x = 2\n")
    assert AGENTS.make("bot.py:Bot(skip=2)").full_text() == before
    (user / "helper.py").write_text(LAST)
    assert AGENTS.make("bot.py:Bot(skip=2)").full_text() != before


def test_versions_live_side_by_side_each_with_its_own_helper(user: Path) -> None:
    old = AGENTS.make("bot.py:Bot(skip=1)").full_text()
    (user / "helper.py").write_text(LAST)
    new = AGENTS.make("bot.py:Bot(skip=1)").full_text()
    assert (chosen(old), chosen(new), chosen(old)) == (1, 8, 1)
    assert str(AGENTS.make(old)) in old.replace("@" + old.split("@")[1][:12], "@" + old.split("@")[1][:7])


def test_names_get_the_versions_that_were_loaded_whatever_is_edited_later(user: Path) -> None:
    version = AGENTS.make("./bot.py:Bot(skip=2)").full_text().partition("@")[2][:12]
    (user / "helper.py").write_text(LAST)
    words = ["./bot.py:Bot", "majority(agent=./bot.py:Bot(skip=1),members=3)", "other.py:Bot", "random", "bot.py:B"]
    whole = [word.replace("./bot.py:Bot", f"./bot.py:Bot@{version}") for word in words[:2]]
    assert [classes.with_versions(word) for word in words] == [*whole, *words[2:]]


def test_a_short_text_and_another_folder_name_the_same_version(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = AGENTS.make("bot.py:Bot(skip=1)")
    assert AGENTS.make(str(agent)).full_text() == agent.full_text()
    monkeypatch.chdir("/")
    assert AGENTS.make(f"{user}/bot.py:Bot(skip=1)").full_text() == agent.full_text()
    assert AGENTS.make(agent.full_text()) == agent


def test_a_new_process_knows_what_its_user_has_named_but_no_other_code(user: Path, tmp_path: Path) -> None:
    text = AGENTS.make("bot.py:Bot").full_text()
    (user / "helper.py").write_text(LAST)
    code = f"from turnier import make_agent; print(make_agent({text!r}).full_text())"
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == text
    for file in (tmp_path / "cache").rglob("*.json"):
        file.write_text(file.read_text().replace("return legal", "return print() or legal"))  # damaged, or not ours
    said = subprocess.run(command, capture_output=True, text=True).stderr
    assert "must be known here, but this user has never named it" in said.splitlines()[-1]


def test_a_class_in_a_package_has_the_name_of_the_one_that_python_imports(user: Path) -> None:
    (user / "mine").mkdir()
    (user / "mine" / "__init__.py").write_text("")
    (user / "mine" / "bots.py").write_text(BOT.replace("import helper", "from . import helper"))
    (user / "mine" / "helper.py").write_text(FIRST)
    agent = AGENTS.make("mine.bots:Bot(skip=3)")
    from mine.bots import Bot  # type: ignore[import-not-found]

    assert chosen(agent.full_text()) == 3
    assert agent.full_text() == Bot(skip=3).full_text()
    assert sorted(classes.current("mine.bots").files) == ["mine/__init__.py", "mine/bots.py", "mine/helper.py"]
    shipped = Bundle.from_json(classes.current("mine.bots").to_json())
    (user / "mine" / "helper.py").write_text(LAST)
    library.learn(shipped)
    assert (chosen(agent.full_text()), chosen("mine.bots:Bot(skip=0)")) == (3, 8)


def test_an_imported_class_that_was_edited_since_does_not_play(user: Path) -> None:
    (user / "edited.py").write_text(BOT)
    import edited  # type: ignore[import-not-found]

    (user / "edited.py").write_text(BOT.replace("self.agent.skip)", "0)"))
    with pytest.raises(UserError, match=r"edited\.py has changed since this process imported it; start Python again"):
        edited.Bot().full_text()


def commit() -> None:
    """Makes the folder that this process works in a repository with all of its files."""
    git = ["git", "-c", "user.name=n", "-c", "user.email=e", "-c", "core.autocrlf=false"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)


def test_a_git_revision_is_the_file_as_it_was_then(user: Path) -> None:
    commit()
    (user / "helper.py").write_text(LAST)
    assert (chosen("bot.py:Bot@HEAD"), chosen("bot.py:Bot")) == (0, 8)
    assert "HEAD" not in AGENTS.make("bot.py:Bot@HEAD").full_text()
    with pytest.raises(UserError, match=r"a stored version .* or a git revision, got 'HEAD~5' in bot\.py:Bot@HEAD~5"):
        AGENTS.make("bot.py:Bot@HEAD~5")
    (user / "new.py").write_text(BOT)
    with pytest.raises(UserError, match=r"new\.py must be in the git revision HEAD, but it is not"):
        AGENTS.make("new.py:Bot@HEAD")


def test_the_same_code_is_the_same_version_however_its_lines_end(user: Path) -> None:
    """Editors of Windows write a byte-order mark first, and other line ends."""
    plain = AGENTS.make("bot.py:Bot").full_text()
    (user / "bot.py").write_bytes(b"\xef\xbb\xbf" + BOT.replace("\n", "\r\n").encode())
    commit()
    assert AGENTS.make("bot.py:Bot").full_text() == AGENTS.make("bot.py:Bot@HEAD").full_text() == plain


MISTAKES = {
    "bto.py:Bot": r"there must be a file bto\.py, got none; did you mean bot\.py\?",
    "bot.py:Bto": r"there must be a class or function Bto in bot\.py, got none; did you mean Bot\?",
    "bot.py:Player": r"the argument agent of Player must have a default, or be one of game, seat and seed",
    "bot.py:Bot(skp=1)": r"no parameter of bot\.py:Bot named 'skp'; did you mean skip\?",
    "bot.py:Bot(skip=99)": r"Bot: skip must be from 0 to 10, got 99",
    "nosuch:Bot": r"the module nosuch must have a file, but none was found; install it, or name FILE\.py:CLASS",
    "syntax.py:Bot": r"syntax\.py must be Python, got: .*, line 2; fix it",
    "fails.py:Bot": r"fails\.py must be importable, got ZeroDivisionError: division by zero \(fails\.py, line 2\); fix",
    "plain.py:Bot": r"plain\.py:Bot must be a dataclass to have the parameter skip; write @dataclass\(frozen=True\)",
    "lacks.py:Bot": r"lacks\.py:Bot must have the methods that every agent has, but it lacks: start; write them",
    "my.bot.py:Bot": r"a file of code must have no dot except that of \.py, got my\.bot\.py; rename it",
    "twice.py:Bot": r"twice\.py must have no package of its name beside it, got twice/__init__\.py, .*; rename one",
    "bot.py:": r"a class of your own is named as FILE\.py:CLASS",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_is_one_sentence(user: Path, text: str) -> None:
    (user / "syntax.py").write_text("x = 1\ndef Bot(:\n")
    (user / "fails.py").write_text("x = 1\ny = x / 0\n")
    (user / "plain.py").write_text(BOT.replace("@dataclass(frozen=True)", ""))
    (user / "lacks.py").write_text("from turnier.agents.agent import Agent\nclass Bot(Agent):\n    pass\n")
    (user / "twice").mkdir()
    for file in ("my.bot.py", "twice.py", "twice/__init__.py"):
        (user / file).write_text(BOT)
    with pytest.raises(UserError, match=MISTAKES[text]) as raised:
        AGENTS.make(text)
    assert "\n" not in str(raised.value)


def test_what_is_imported_is_followed_through_packages_and_not_beyond_the_root(tmp_path: Path) -> None:
    files = {
        "a/__init__.py": "from . import b\n",
        "a/b.py": "import a.c.d\nimport os, other\n",
        "a/c/__init__.py": "",
        "a/c/d.py": "from .. import e\nfrom ...a import f\n",
        "a/e.py": "",
        "a/f.py": "def late():\n    from a import g\n",
        "a/g.py": "",
        "a/unused.py": "",
        "other.py": "",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    found = gather("a.b", on_disk(tmp_path))
    assert set(found.files) == files.keys() - {"a/unused.py", "other.py"}


@pytest.mark.parametrize("path", ["/tmp/bot.py", "../bot.py", "a/../../bot.py", "..\\bot.py", "a//bot.py", ".bashrc"])
def test_stored_code_stays_inside_its_folder(path: str) -> None:
    bundle = Bundle("bot.py", {"bot.py": BOT, path: "print('outside')\n"})
    with pytest.raises(UserError, match=r"must be \.py files inside its folder, got .*; do not trust this store\."):
        Bundle.from_json(bundle.to_json())
    library.keep(bundle)
    library._known.clear()
    assert library.find(bundle.digest) is None  # as a damaged file


def test_installed_packages_offer_names_and_a_broken_one_hides_no_other(
    user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered = user / "site" / "bots-1.0.dist-info"
    offered.mkdir(parents=True)
    (offered / "METADATA").write_text("Name: bots\nVersion: 1.0\n")
    (offered / "entry_points.txt").write_text(
        "[turnier.agents]\nmy_bot = bot:Bot\nbroken = nosuch:Bot\nmcts = bot:Bot\n"
    )
    monkeypatch.syspath_prepend(str(user / "site"))
    assert AGENTS.installed() == {"my_bot": "bot:Bot", "broken": "nosuch:Bot"}  # no name of ours is taken
    assert AGENTS.make("my_bot(skip=2)").full_text() == AGENTS.make("bot.py:Bot(skip=2)").full_text()
    with pytest.raises(UserError, match=r"There is no agent named 'my_bto'; did you mean my_bot\?"):
        AGENTS.make("my_bto")
    shown = CliRunner().invoke(app, ["list", "agents"], env={"COLUMNS": "80"}).output
    assert "my_bot" in shown and "the module nosuch must have a file" in " ".join(shown.split()) and "mctse" in shown
    assert "legal actions to skip" in CliRunner().invoke(app, ["list", "bot.py:Bot"]).output
