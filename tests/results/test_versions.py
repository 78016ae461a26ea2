"""Versions of others' code: kept beside the runs that they played in, named, rated, and never mixed by a resume."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.core.test_outside import BOT, FIRST, LAST
from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_match
from turnier.arena.workers.where import Where
from turnier.commands.app import app
from turnier.core.errors import UserError
from turnier.core.outside import classes, library
from turnier.core.outside.bundle import Bundle
from turnier.games.registry import game_of
from turnier.results.frames import Standings, matches_frame
from turnier.results.store.annotations import CODE
from turnier.results.store.store import Store
from turnier.results.versions import pinned, rated_versions, recall, stored_versions
from turnier.runs.comparison import Comparison
from turnier.runs.tournament import Tournament
from turnier.server.finished_game import of_record

OPPONENT = "random"


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    forget(monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.py").write_text(BOT)
    (tmp_path / "helper.py").write_text(FIRST)
    return tmp_path


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes this process know no code, as a new one of another user does."""
    monkeypatch.setattr(library, "_known", {})
    monkeypatch.setattr(classes, "_classes", {})


def play(store: Store, agent: str, games: int = 4) -> Tournament:
    planned = Tournament("tictactoe", [agent, OPPONENT], games=games)
    planned.run(store, where=Where("serial"), progress=False)
    return planned


def test_an_edited_agent_is_another_one_and_both_are_compared(
    user: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = play(store, "bot.py:Bot")
    (user / "helper.py").write_text(LAST)
    after = play(store, "bot.py:Bot")
    assert before.run_id != after.run_id
    first, second = stored_versions(store, "bot.py")
    assert (first.first_run, second.first_run) == (before.run_id, after.run_id)
    assert first.bundle.files["helper.py"] == FIRST and second.bundle.files["helper.py"] == LAST
    forget(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(user / "another"))  # somebody else, with the same store
    text = recall(store, "bot.py:Bot@PREVIOUS")
    assert text == recall(store, f"bot.py:Bot@{first.bundle.digest[:7]}") == f"bot.py:Bot@{first.bundle.digest}"
    planned = Comparison("bot.py:Bot", text, game="tictactoe", games=64)
    results = planned.run(store, where=Where("serial"), progress=False)
    assert list(results.duel.agents) == [f"bot.py:Bot@{v.bundle.digest}(skip=0)" for v in (second, first)]
    rated = rated_versions(store, [first, second])
    assert list(rated["version"]) == [first.bundle.digest, second.bundle.digest]
    assert rated["elo"].notna().all() and rated["games"].between(2, 4 + results.duel.games).all()


def test_previous_needs_an_earlier_version(user: Path, store: Store) -> None:
    play(store, "bot.py:Bot")
    with pytest.raises(UserError, match=r"must have games of an earlier version of bot\.py for @PREVIOUS, got none"):
        recall(store, "bot.py:Bot@PREVIOUS")
    assert recall(store, "mcts(iterations=3)") == "mcts(iterations=3)"
    assert recall(store, "other.py:Bot@0123456") == "other.py:Bot@0123456"


def test_a_resumed_command_plays_the_version_that_began(user: Path, store: Store) -> None:
    begun = play(store, "bot.py:Bot(skip=1)")
    (user / "helper.py").write_text(LAST)
    words = ["turnier", "tournament", "tictactoe", "folder/bot.py:Bot(skip=1)", "sqlite:///a.db"]
    for version in ("", "@PREVIOUS", "@HEAD~3"):  # read now, these would be other code
        resumed = pinned([word.replace("bot.py:Bot", f"bot.py:Bot{version}") for word in words], begun.definition)
        assert [*resumed[:3], *resumed[4:]] == [*words[:3], *words[4:]]
        assert AGENTS.make(resumed[3]).full_text() in begun.agents


@pytest.mark.parametrize("version", ["", "@PREVIOUS"])
def test_a_resumed_command_that_may_mean_several_versions_is_refused(user: Path, store: Store, version: str) -> None:
    play(store, "bot.py:Bot")
    (user / "helper.py").write_text(LAST)
    first = stored_versions(store, "bot.py")[0].bundle.digest
    begun = Tournament("tictactoe", ["bot.py:Bot", f"bot.py:Bot@{first}"], games=2)
    words = ["turnier", "tournament", "tictactoe", f"a/bot.py:Bot{version}", f"bot.py:Bot@{first[:7]}"]
    names = " or ".join(agent.partition("(")[0] for agent in begun.agents)
    with pytest.raises(UserError) as refused:
        pinned(words, begun.definition)
    assert f"but {words[3]} may be {names}; to resume the run, write" in str(refused.value)
    assert str(refused.value).endswith("type it: " + " ".join(words))
    whole = [*words[:3], *(agent.partition("(")[0] for agent in begun.agents)]
    assert pinned([*words[:3], *whole[3:]], begun.definition) == whole


def test_a_match_without_the_version_of_its_code_is_refused(user: Path) -> None:
    """Its id would stay the same after an edit."""
    full = AGENTS.make("bot.py:Bot").full_text()
    for text in ("bot.py:Bot", str(AGENTS.make(full)), f"majority(agent={full.partition('@')[0]}())"):
        with pytest.raises(
            UserError, match=r"a match must name the version of code that is not ours, got .*bot\.py:Bot"
        ):
            play_match(MatchSpec("tictactoe", (text, OPPONENT), 1))
    assert play_match(MatchSpec("tictactoe", (full, OPPONENT), 1)).decisions


WORKER = """
import pickle, sys
from turnier.arena.workers.cluster import executor
work, rows = pickle.load(sys.stdin.buffer)
executor.place = lambda: ("", "")  # there is no Ray
sys.stdout.write(repr([row[:3] for row in work(rows).records.rows]))
"""


def test_the_files_travel_to_workers_with_their_work(user: Path, tmp_path: Path) -> None:
    """What Ray pickles, done by a process that has never seen the files."""
    import functools
    import pickle

    from turnier.arena.play import play_matches
    from turnier.arena.workers.cluster.executor import PlainRows, _work_on
    from turnier.arena.workers.cluster.luggage import Packing
    from turnier.arena.workers.executor import MATCHES, do_batch

    planned = Tournament("tictactoe", ["bot.py:Bot(skip=2)", OPPONENT], games=4)
    assert planned.plan is not None
    specs = list(planned.plan)
    luggage = Packing(None).of(name for spec in specs for name in spec.names)
    work = functools.partial(_work_on, functools.partial(do_batch, MATCHES), luggage, None, 0)
    sent = pickle.dumps((work, PlainRows.of(specs)))
    (user / "bot.py").unlink()
    elsewhere = tmp_path / "worker"
    elsewhere.mkdir()
    environment = {"PYTHONPATH": ":".join(p for p in sys.path if p), "XDG_CACHE_HOME": str(elsewhere), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", WORKER], input=sent, capture_output=True, cwd=elsewhere, env=environment
    )
    played = [(r.termination, r.scores, r.decisions) for r in play_matches(specs)]
    assert done.stdout.decode() == repr(played), done.stderr.decode()


def test_code_of_a_store_never_runs_by_being_looked_at(
    user: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A game of somebody else: its replay needs code that this user has not named, which is no damage."""
    (user / "own.py").write_text(
        "from dataclasses import dataclass\nfrom turnier.games.tictactoe import TicTacToe\n"
        "@dataclass(frozen=True)\nclass Own(TicTacToe):\n    pass\n"
    )
    Tournament("own.py:Own", ["random", "greedy"], games=2).run(store, where=Where("serial"), progress=False)
    (record, *_), *_ = store.records_of_run(store.runs()[0].id)
    assert of_record(record).game.full_text() == record.spec.game
    (user / "own.py").write_text("raise SystemExit('it ran')\n")
    forget(monkeypatch)
    game_of.cache_clear()
    monkeypatch.setenv("XDG_CACHE_HOME", str(user / "another"))
    with pytest.raises(UserError, match=r"^the code of own\.py:Own@\w{12} must be known here, but this user has never"):
        of_record(record)
    assert Standings.of(matches_frame(store)).ratings["games"].tolist() == [2, 2]
    recall(store, record.spec.game)  # who names it may replay it
    assert of_record(record).game.full_text() == record.spec.game


def test_saved_code_of_a_store_stays_in_the_named_folder(user: Path, store: Store) -> None:
    planned = play(store, "bot.py:Bot")
    words = ["show", "bot.py", "--store", store.url, "--save", "saved/before"]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert (user / "saved" / "before" / "helper.py").read_text() == FIRST
    sent = Bundle("bot.py", {"bot.py": BOT, "../escaped.py": "print('outside')\n"})
    store.annotations.set(planned.run_id, CODE + sent.digest, json.dumps(sent.to_json()))
    words[1], words[-1] = f"bot.py@{sent.digest}", "saved/after"
    with pytest.raises(UserError, match=r"inside its folder, got '\.\./escaped\.py'; do not trust this store\."):
        CliRunner().invoke(app, words, catch_exceptions=False)
    assert [path.name for path in (user / "saved").iterdir()] == ["before"]
