"""Files that classes of others read: their content is part of the version, wherever it is played and listed."""

from __future__ import annotations

import copy
import json
import os
import pickle
import re
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.core.test_outside import user  # noqa: F401  a folder to work in, and a user whom no code is known to
from turnier.agents.registry import AGENTS
from turnier.commands.app import app
from turnier.core.errors import UserError
from turnier.core.outside import files
from turnier.core.outside.files import FileName
from turnier.core.parameters import parameter, parameters_of
from turnier.games.registry import GAMES

BOT = '''
import json
from dataclasses import dataclass

import numpy as np

from turnier.agents.agent import Agent, Decision
from turnier.core.parameters import parameter


@dataclass(frozen=True)
class Bot(Agent):
    """Plays the action that a file prefers."""

    weights: str = parameter("weights.json", "preferences of actions", file=True)
    more: str = parameter("", "further ones", file=True)

    def start(self, game, seat=0, seed=0):
        with open(self.weights) as file:
            preferences = json.load(file)
        assert preferences == json.loads(self.file_path("weights").read_text())
        return Player(game, preferences)


class Player:
    def __init__(self, game, preferences):
        self.game, self.preferences = game, preferences

    def act(self, position):
        legal, zero = position.legal_actions(), np.zeros(self.game.num_actions)
        best = max(legal, key=lambda action: self.preferences[action])
        return Decision(best, zero, zero, 0, 0.0)
'''


@pytest.fixture(autouse=True)
def folder(user: Path) -> Path:  # noqa: F811
    """Has the bot in a folder of its own, with its default file."""
    (user / "bots").mkdir()
    (user / "bots" / "bot.py").write_text(BOT)
    write(user / "bots" / "weights.json", 0)
    return user


def write(path: Path, best: int) -> str:
    """Writes preferences; returns the digest of the file."""
    path.write_text(json.dumps([float(action == best) for action in range(9)]))
    return files.digest_of(str(path), "it")


def first_action(text: str) -> int:
    agent, game = AGENTS.make(text), GAMES.make("tictactoe")
    agent.prepare(game)
    return agent.start(game).act(game.start()).action


def test_the_content_is_part_of_the_version(folder: Path) -> None:
    """Both texts make the same agent again, also from another folder; edited content is another version."""
    agent = AGENTS.make("bots/bot.py:Bot")
    digest = files.digest_of("bots/weights.json", "it")
    assert re.fullmatch(rf"bot\.py:Bot@\w{{12}}\(weights=weights\.json@{digest},more=\"\"\)", agent.full_text())
    assert str(agent).endswith(f"(weights=weights.json@{digest[:7]})")
    for text in (agent.full_text(), str(agent)):
        again = AGENTS.make(text)
        assert (again, again.full_text(), str(again)) == (agent, agent.full_text(), str(agent))
        assert first_action(text) == 0
    write(folder / "bots" / "weights.json", 5)
    edited = AGENTS.make("bots/bot.py:Bot")
    assert edited != agent and edited.full_text() != agent.full_text() and first_action(edited.full_text()) == 5
    assert agent.replace(more="bots/weights.json") != agent != agent.replace(weights="bots/weights.json")


def test_a_version_whose_file_has_changed_is_shown_but_does_not_play(folder: Path) -> None:
    before = AGENTS.make("bots/bot.py:Bot").full_text()
    old, new = files.digest_of("bots/weights.json", "it"), write(folder / "bots" / "weights.json", 5)
    shown = AGENTS.make(before)
    assert shown.full_text() == before
    says = f"Bot: weights must have the digest {old}, got {new} of .*weights.json, which has changed; restore it, or"
    for play in (shown.prepare, lambda game: shown.file_path("weights")):
        with pytest.raises(UserError, match=says):
            play(GAMES.make("tictactoe"))
    os.remove(folder / "bots" / "weights.json")
    assert AGENTS.make(before).full_text() == before
    with pytest.raises(UserError, match=r"must be a file on this machine, got weights.json, which is not one"):
        AGENTS.make(before).prepare(GAMES.make("tictactoe"))
    with pytest.raises(UserError, match=r"weights must be a file, got weights.json, which is not in the current"):
        AGENTS.make("bots/bot.py:Bot")


def test_a_file_is_found_from_the_current_folder_first_and_again_from_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder / "weights.json", 3)
    write(folder / "own.json", 7)
    here, own = (AGENTS.make(f"bots/bot.py:Bot{words}").full_text() for words in ("", "(weights=own.json)"))
    assert first_action(here) == 3 and first_action(own) == 7
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert first_action(here) == 3 and first_action(own) == 7  # as workers that were started in another folder
    for text in ("../bots/bot.py:Bot(weights=own.json)", "../bots/bot.py:Bot(weights=own.json@1234567)"):
        with pytest.raises(UserError, match=r"own.json, which is not (in the current|a file)"):
            AGENTS.make(text)


def test_alike_code_in_two_folders_reads_its_own_file_each(folder: Path) -> None:
    (folder / "others").mkdir()
    (folder / "others" / "bot.py").write_text(BOT)
    write(folder / "others" / "weights.json", 6)
    texts = [AGENTS.make(f"{where}/bot.py:Bot").full_text() for where in ("bots", "others", "bots")]
    assert [first_action(text) for text in texts] == [0, 6, 0] and texts[0] == texts[2] != texts[1]


def test_files_within_are_checked_too(folder: Path) -> None:
    text = AGENTS.make("majority(agent=bots/bot.py:Bot)").full_text()
    AGENTS.make(text).prepare(GAMES.make("tictactoe"))
    write(folder / "bots" / "weights.json", 5)
    with pytest.raises(UserError, match="Bot: weights must have the digest"):
        AGENTS.make(text).prepare(GAMES.make("tictactoe"))


def test_a_name_is_a_path_and_travels(folder: Path) -> None:
    name = AGENTS.make("bots/bot.py:Bot").weights  # type: ignore[attr-defined]
    assert isinstance(name, FileName) and Path(name) == folder / "bots" / "weights.json"
    for other in (pickle.loads(pickle.dumps(name)), copy.deepcopy(name), name.text):
        assert other == name and (other != name) is False and hash(other) == hash(name)
    assert name != "weights.json" and name != str(name)
    with pytest.raises(UserError, match="Bot: more must name a file, got ''; write more=PATH"):
        AGENTS.make("bots/bot.py:Bot").file_path("more")


def test_a_file_that_did_not_change_is_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But one that has just changed is read again: within a tick of the clock its time would be the same."""
    path = folder / "bots" / "weights.json"
    digest = write(path, 5)
    assert write(path, 4) != digest
    os.utime(path, ns=(time.time_ns(), time.time_ns() - 10**10))
    digest = files.digest_of(str(path), "it")
    monkeypatch.setattr(files.hashlib, "file_digest", None)
    assert files.digest_of(str(path), "it") == digest


def test_edited_content_is_played_anew(folder: Path) -> None:
    words = ["tournament", "tictactoe", "bots/bot.py:Bot", "random", "--games", "4", "--executor", "serial"]
    words += ["--store", "sqlite:///s.db"]
    for best, says in ((0, ""), (0, "4 games were stored already"), (5, "")):
        write(folder / "bots" / "weights.json", best)
        ended = CliRunner().invoke(app, words, catch_exceptions=False)
        assert ended.exit_code == 0 and says in ended.output and ("stored already" in ended.output) == bool(says)
    listed = CliRunner().invoke(app, ["show", "--store", "sqlite:///s.db"], catch_exceptions=False)
    assert listed.exit_code == 0


def test_the_declaration_must_be_a_path() -> None:
    from dataclasses import dataclass

    from turnier.agents.random import Random

    @dataclass(frozen=True)
    class Wrong(Random):
        """Wrong."""

        weights: int = parameter(3, "a number", low=0, high=9, file=True)

    with pytest.raises(UserError, match="the default of the parameter weights of Wrong must be a path"):
        parameters_of(Wrong)


def test_check_names_files_that_are_not_declared(folder: Path) -> None:
    def told(text: str) -> str:
        ended = CliRunner().invoke(app, ["check", text, "--game", "tictactoe"], catch_exceptions=False)
        assert ended.exit_code == 0, ended.output
        return ended.stdout

    says = 'It read weights.json, which is not part of its version: declare it by NAME: str = parameter("weights.json",'
    assert "It read" not in told("bots/bot.py:Bot")
    undeclared = BOT.replace(", file=True)\n    more", ")\n    more").replace("open(self.weights)", "open(FILE)")
    undeclared = undeclared.replace('self.file_path("weights").read_text()', "open(FILE).read()")
    undeclared = undeclared.replace("import json\n", f"import json\nFILE = {str(folder / 'bots/weights.json')!r}\n", 1)
    (folder / "bots" / "bot.py").write_text(undeclared)
    assert says in told("bots/bot.py:Bot")
