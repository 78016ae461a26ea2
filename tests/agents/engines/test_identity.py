"""Who a program is: its command, and the content of the files that this names."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest

from tests.agents.engines.test_programs import GAME, ODD, play
from turnier.agents.agent import Agent
from turnier.agents.engines.engine import IDLE
from turnier.agents.registry import AGENTS, agent_of, label_of
from turnier.arena.match import MatchSpec
from turnier.core.errors import UserError

OLD = (
    'json(command="no such program",clock=0.0,increment=0.0,limit=60.0,margin=200,start_limit=10.0,on_failure=lose,'
    "seconds=0.0)"
)


def text(*words: object) -> str:
    """Returns what is stored of a program as it is now."""
    return made(*words).full_text()


def made(*words: object) -> Agent:
    return AGENTS.make(f'json(command="{shlex.join(map(str, words))}")')


def changed(path: Path, content: str, *words: object) -> bool:
    """Whether other content of a file makes another program of the words."""
    before = text(*words)
    path.write_text(content)
    return text(*words) != before


def test_an_edited_program_is_another_agent(tmp_path: Path) -> None:
    program, helper, data = (tmp_path / name for name in ("bot.py", "helper.py", "data.bin"))
    program.write_text("import helper\n")
    helper.write_text("x = 1\n")
    data.write_bytes(b"\0")
    words = sys.executable, "-S", program, f"--weights={data}", 7
    assert text(*words) == text(*words)
    assert changed(program, "import helper  # edited\n", *words)
    assert changed(helper, "x = 2\n", *words)  # which it imports
    assert changed(data, "net", *words)
    assert changed(program, "this is no Python\n", *words)
    assert changed(program, "this is none, either\n", *words)
    assert not changed(tmp_path / "other.py", "x = 1\n", *words)


def test_a_program_is_found_as_the_shell_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = tmp_path / "engine-of-tests"
    engine.write_text("#!/bin/sh\n")
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert changed(engine, "#!/bin/sh\n# edited\n", "engine-of-tests")
    assert changed(engine, "#!/bin/sh\n# again\n", "nice", "-n", 10, "engine-of-tests")


def test_what_runs_a_program_and_what_the_program_writes_do_not_count(tmp_path: Path) -> None:
    program, log = tmp_path / "bot.py", tmp_path / "out.txt"
    program.write_text("x = 1\n")
    python = tmp_path / "python3.99"
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    assert not changed(python, "#!/bin/sh\n# of another release\n", python, program)
    log.write_text("")
    for words in ((f"--logfile={log}",), ("-o", log), ("--output", log), (tmp_path / "x.log",)):
        assert not changed(log, f"{words}", program, *words), words
    assert changed(log, "read", sys.executable, program, "--layout", log)
    assert changed(program, "x = 2\n", sys.executable, "-O", program)


def test_modules_and_folders_that_python_runs_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main = tmp_path / "bots" / "__main__.py"
    main.parent.mkdir()
    main.write_text("x = 1\n")
    monkeypatch.chdir(tmp_path)
    assert changed(main, "x = 2\n", "python3", "-m", "bots")
    assert changed(main, "x = 3\n", "python3", "bots")


def test_files_that_options_and_settings_name_count(tmp_path: Path) -> None:
    net = tmp_path / "a.nnue"
    for agent in ('uci(command=sh,nodes=1,options="EvalFile={}")', 'gtp(command=sh,settings="level 1;load {}")'):
        net.write_text("one")
        first = AGENTS.make(agent.format(net))
        net.write_text("other")
        assert AGENTS.make(agent.format(net)) != first
    logged = 'uci(command=sh,nodes=1,options="Debug Log File={}")'
    first = AGENTS.make(logged.format(net))
    net.write_text("written by the engine")
    assert AGENTS.make(logged.format(net)) == first


def test_labels_have_seven_digits_and_name_the_same_agent() -> None:
    agent = made(sys.executable, "-S", ODD, "json", "plain")
    digest = agent.full_text().rpartition("digest=")[2].rstrip(")")
    assert len(digest) == 12 and str(agent).endswith(f",digest={digest[:7]})")
    assert AGENTS.make(str(agent)) == agent == agent_of(agent.full_text())
    assert label_of(agent.full_text()) == str(agent)
    assert agent.within(50, "ms").full_text().endswith(f"digest={digest})")
    assert agent.replace(command="sh").full_text() == made("sh").full_text()


def test_stored_programs_are_shown_and_kept_as_they_were(tmp_path: Path) -> None:
    """Texts from before programs had digests, and those of programs that are not here."""
    assert agent_of(OLD).full_text() == OLD
    assert label_of(OLD) == 'json(command="no such program")'
    new = OLD.replace(")", ",digest=0123456789ab)")
    assert agent_of(new).full_text() == new and label_of(new).endswith(",digest=0123456)")
    assert MatchSpec("tictactoe", (OLD, OLD), 1).id != MatchSpec("tictactoe", (new, new), 1).id
    with pytest.raises(UserError, match="digest must be 7 to 12 hexadecimal digits or none, got 'latest'"):
        AGENTS.make('json(command="x",digest=latest)')


def test_a_stored_program_does_not_play_with_other_files(tmp_path: Path) -> None:
    program = tmp_path / "bot.py"
    program.write_text(ODD.read_text())
    before = made(sys.executable, "-S", program, "json", "plain")
    before.prepare(GAME)
    try:
        assert play(before, before).error == ""
    finally:
        IDLE.end_idle()
    program.write_text(f"{ODD.read_text()}# edited\n")
    after = made(sys.executable, "-S", program, "json", "plain")
    was, now = (agent.full_text()[-13:-1] for agent in (before, after))
    assert was != now
    sentence = f"what json runs in .*bot.py json plain' must have the digest {was}, got {now}; leave the digest out"
    with pytest.raises(UserError, match=sentence):
        before.prepare(GAME)
    with pytest.raises(UserError, match=sentence):  # nor is another process started in the middle of a run
        before.start(GAME).follow((), ())  # type: ignore[attr-defined]
    assert AGENTS.make(f"{str(before)[:-16]},digest=none)") != before
